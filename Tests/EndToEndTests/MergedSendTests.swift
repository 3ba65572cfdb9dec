import Foundation
import Results
import Testing

/// Results of runs to registrations, merged as a user merges them.
@Suite(.serialized, .waitsForPrograms) struct MergedSendTests {
    private static let rows = (1...200).map { number in
        let hex = String(number, radix: 16)
        return "\(String(repeating: "0", count: 64 - hex.count) + hex),x\n"
    }

    private func registrations(_ folder: OutputFolder, _ name: String, _ rows: [String] = rows) throws -> String {
        let path = "\(folder.path)/\(name)/r.csv"
        try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        try ("token,tags\n" + rows.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A run's result as a file, as if it had begun at this second.
    private func part(
        _ folder: OutputFolder, _ name: String, second: Int = 10, _ arguments: [String]
    ) throws -> String {
        var result = try Programs.load(arguments).result
        result.run.startedAt = "2026-01-02T03:04:\(second)Z"
        result.run.durationSeconds = 30
        let path = "\(folder.path)/\(name).json"
        try ResultFile.write(result, to: path)
        return path
    }

    private func merge(_ folder: OutputFolder, _ files: [String]) throws -> (result: ResultDocument, merged: Finished) {
        let path = folder.path + "/merged.json"
        let merged = try Programs.run("pushload", ["merge", "--output", path] + files)
        return (try ResultFile.read(path), merged)
    }

    @Test("A threshold on a send is held to all its pushes, those of a part without any other send among them")
    func threshold() throws {
        let folder = try OutputFolder.made()
        let path = try registrations(folder, "one")
        let limit = ["--threshold", "max{send=a} < 2s"]
        let (a, b) = (["--send", "{name: a, audience: x}"], ["--send", "{name: b, audience: x}"])
        // No answer of the first part comes before 3 s have gone.
        let slow = try part(
            folder, "slow", ["--registrations", path, "-m", "200", "--mock-flags", "--latency 3s"] + a + limit)
        let both = try part(folder, "both", ["--registrations", path] + a + b + limit)
        let (result, merged) = try merge(folder, [slow, both])
        let send = try #require(result.sends?.first { $0.name == "a" })
        let kept = try #require(result.breakdown["send"]?["a"])
        #expect(send.accepted == 400 && kept.accepted == 400 && kept.total.count == 400, "\(kept)")
        #expect(kept.total.max >= 3_000_000_000 && merged.status == 99, "\(merged)")
    }

    @Test("Copies of a registrations file are the same devices, different files under one name are not")
    func devices() throws {
        let folder = try OutputFolder.made()
        let (one, copy) = (try registrations(folder, "one"), try registrations(folder, "copy"))
        let other = try registrations(folder, "other", Self.rows.map { "aa" + $0.dropFirst(2) })
        func run(_ path: String, _ name: String, second: Int = 10) throws -> String {
            try part(folder, name, second: second, ["--registrations", path, "--audience", "x"])
        }
        let first = try run(one, "first")
        let same = try merge(folder, [first, try run(copy, "second", second: 14)]).result
        #expect(same.sends?.map(\.devices) == [200] && same.sends?.map(\.pushes) == [400])
        #expect(
            same.notes.contains(
                "the parts began up to 4 s apart; fan-out times count from each part's own start"), "\(same.notes)")
        let apart = try merge(folder, [first, try run(other, "third")]).result
        #expect(apart.sends?.map(\.devices) == [400] && apart.sends?.map(\.pushes) == [400])
        // The same file, rewritten in its place.
        _ = try registrations(folder, "one", Self.rows.map { "ac" + $0.dropFirst(2) })
        #expect(try merge(folder, [first, try run(one, "fourth")]).result.sends?.map(\.devices) == [400])
    }
}
