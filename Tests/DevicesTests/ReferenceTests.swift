import Foundation
import Testing

@testable import Devices

@Suite("Devices beside a reference")
struct ReferenceTests {
    /// Histories of a run of the tests.
    private static let count: UInt64 = 1000

    @Test("A thousand random histories have the same screens, counts, requests and times in a naive model in Python")
    func histories() throws {
        let seed = UInt64.random(in: 0...1_000_000)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Python/play_history.py").path
        let file = NSTemporaryDirectory() + "histories-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: file) }
        var histories: [HistoryMaker.JSON] = []
        var input = Data()
        for number in 0..<Self.count {
            var maker = HistoryMaker(seed: seed << 20 | number)
            histories.append(try maker.history())
            input += try JSONSerialization.data(withJSONObject: histories[Int(number)], options: .sortedKeys)
            input.append(0x0A)
        }
        try input.write(to: URL(fileURLWithPath: file))
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", script]
        python.standardInput = FileHandle(forReadingAtPath: file)
        let pipe = Pipe()
        python.standardOutput = pipe
        try python.run()
        let lines = pipe.fileHandleForReading.readDataToEndOfFile().split(separator: 0x0A)
        python.waitUntilExit()
        try #require(lines.count == histories.count, "seed \(seed)")
        var seen: Set<String> = []
        for (number, line) in lines.enumerated() {
            let checks = try HistoryPlayer(histories[number]).play(histories[number])
            let ours = try JSONSerialization.data(
                withJSONObject: checks, options: [.sortedKeys, .withoutEscapingSlashes])
            if ours != line, let difference = try difference(ours, line) {
                Issue.record("seed \(seed), history \(number), \(difference)")
                return
            }
            let last = try #require(checks.last as? [String: Any])
            for part in ["outcomes", "events"] {
                seen.formUnion((last[part] as? [[Any]] ?? []).compactMap { $0.first as? String })
            }
        }
        // Everything that can become of a push has been met; of what is under way only what lasts, a full notification centre
        // takes longer, and so does one crowded with requests.
        let rare: Set = ["crowded_out", "extending", "fetching", "pending", "throttled", "stored"]
        let all = DeviceOutcome.allCases.map(\.name) + DeviceEvent.allCases.map(\.name)
        #expect(Set(all).subtracting(rare).isSubset(of: seen), "seed \(seed): \(Set(all).subtracting(seen).sorted())")
    }

    /// Where two lists of checks differ in what they say; nil: only in how it is written.
    private func difference(_ ours: Data, _ theirs: Data) throws -> String? {
        let ours = try JSONSerialization.jsonObject(with: ours) as! [NSDictionary]
        let theirs = try JSONSerialization.jsonObject(with: theirs) as! [NSDictionary]
        for (check, (ours, theirs)) in zip(ours, theirs).enumerated() where ours != theirs {
            let parts = ours.allKeys.filter { ours[$0] as? NSObject != theirs[$0] as? NSObject }
            let shown = parts.map { "\($0): here \(ours[$0] ?? "-")\nPython: \(theirs[$0] ?? "-")" }
            return "check \(check): \(shown.joined(separator: "\n"))"
        }
        return ours.count == theirs.count ? nil : "\(ours.count) checks, in Python \(theirs.count)"
    }
}
