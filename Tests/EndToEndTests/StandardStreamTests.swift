import Foundation
import Results
import Testing

/// Every command with a standard output that is full, closed, or read by nobody.
@Suite(.waitsForPrograms) struct StandardStreamTests {
    enum Output: String, CaseIterable { case full = ">/dev/full", closed = ">&-", cut = "| true" }

    /// Commands that print on standard output and end by themselves; FOLDER holds a run of each of two names.
    private static let commands: [[String]] = [
        ["pushload", "--help"], ["pushload", "--version"], ["pushload", "run", "--help"],
        ["pushload", "run", "-n", "20", "--output", "FOLDER/more"],
        ["pushload", "run", "-n", "20", "--output", "FOLDER/more", "--json"],
        ["pushload", "scenario", "check", "FOLDER/s.yaml"], ["pushload", "scenario", "init", "FOLDER/init-NEW.yaml"],
        ["pushload", "scenario", "list"],
        ["pushload", "scenario", "show", "smoke"],
        ["pushload", "scenario", "schedule", "--rate", "100", "-D", "1s"], ["pushload", "sweep", "--list"],
        ["pushload", "sweep", "--vary", "streams=1,2", "-n", "20", "--list"],
        ["pushload", "sweep", "--vary", "streams=1,2", "-n", "20", "--output", "FOLDER/sweep-NEW"],
        ["pushload", "search", "--goal", "accepted > 1", "--probe", "50ms", "--from", "400", "--most", "400"],
        [
            "pushload", "merge", "FOLDER/one/result.json", "FOLDER/two/result.json", "--output",
            "FOLDER/merged-NEW.json",
        ],
        ["pushload", "compare", "FOLDER/one", "FOLDER/two"],
        ["pushload", "ab", "-n", "20", "--self", "--rounds", "2"], ["pushload", "history", "FOLDER/one"],
        ["pushload", "report", "FOLDER/one"],
        ["pushload", "plan", "--devices", "1M", "--within", "60s", "--rtt", "0", "--from", "FOLDER/costs.json"],
        ["pushload", "token", "--credentials", "FOLDER/keys"], ["pushload", "device-token", "5"],
        ["mock-apns", "--help"], ["mock-apns", "--version"], ["mock-apns", "--port", "0", "--plaintext"],
    ]

    private func run(_ command: [String], _ output: Output) throws -> Finished {
        // The program's own status, whatever reads its output.
        let line =
            output == .cut
            ? "{ \"$@\"; echo \"status $?\" >&2; } | true" : "\"$@\" \(output.rawValue); echo \"status $?\" >&2"
        return try Programs.run("/bin/sh", ["-c", line, "sh", Programs.path(command[0])] + command.dropFirst())
    }

    @Test("What cannot be printed costs one line and status 74; a reader who has left costs nothing")
    func unwritable() throws {
        let folder = OutputFolder()
        let made = try Programs.run("pushload", ["run", "-n", "20", "--quiet", "--output", folder.path])
        #expect(made.status == 0, "\(made)")
        let place = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        try FileManager.default.moveItem(atPath: "\(folder.path)/\(place)", toPath: "\(folder.path)/one")
        // Another run of the same second.
        try FileManager.default.createDirectory(atPath: "\(folder.path)/two", withIntermediateDirectories: false)
        let result = try ResultFile.read("\(folder.path)/one/result.json")
        let text = try String(contentsOfFile: "\(folder.path)/one/result.json", encoding: .utf8)
        try text.replacingOccurrences(of: result.run.id, with: String(result.run.id.reversed()))
            .write(toFile: "\(folder.path)/two/result.json", atomically: true, encoding: .utf8)
        try "pushes: 20\n".write(toFile: folder.path + "/s.yaml", atomically: true, encoding: .utf8)
        let costs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("documents/costs.json").path
        try FileManager.default.copyItem(atPath: costs, toPath: folder.path + "/costs.json")
        let keys = try Mock([], plaintext: true)
        for command in Self.commands {
            for output in Output.allCases {
                let words = command.map {
                    $0.replacingOccurrences(of: "FOLDER/keys", with: keys.folder)
                        .replacingOccurrences(of: "FOLDER", with: folder.path)
                        .replacingOccurrences(of: "NEW", with: "\(UUID())")
                }
                let finished = try run(words, output)
                let lines = finished.error.split(separator: "\n").map(String.init)
                let said = lines.filter { $0.contains("standard output cannot be written") }
                let text = "\(command) \(output.rawValue): \(finished)"
                if output == .cut {
                    #expect(said.isEmpty && !lines.contains { $0.contains("rash") }, "\(text)")
                    let status = lines.last.flatMap { Int($0.dropFirst(7)) } ?? -1
                    #expect([0, 1, 64, 99].contains(status), "\(text)")
                } else {
                    #expect(said.count == 1 && said[0].hasPrefix(command[0] + ": "), "\(text)")
                    #expect(lines.last == "status 74", "\(text)")
                    let why = output == .full ? "No space left on device" : "Bad file descriptor"
                    #expect(said.first?.hasSuffix(why) ?? false, "\(text)")
                }
            }
        }
    }
}
