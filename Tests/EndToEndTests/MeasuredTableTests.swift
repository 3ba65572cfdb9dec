import Foundation
import Testing

/// Programs in `Benchmarks` that measure and put tables into documents: shortened, they run and write.
@Suite(.waitsForPrograms) struct MeasuredTableTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// A program with its flags, the name of its block, how many rows its tables have, and how it may end: figures may miss what they are
    /// held against.
    struct Maker: Sendable, CustomTestStringConvertible {
        let words: String
        let block: String
        let rows: Int
        var statuses: [Int32] = [0]
        var testDescription: String { words }
    }

    private static let makers = [
        Maker(words: "whole.py --rounds 1 --pushes 5k", block: "the whole", rows: 2 + 5),
        Maker(words: "devices.py --rounds 1 --pushes 1k --filled 2k", block: "cost of devices", rows: 6 + 3),
        Maker(
            words: "memory.py --rate 500 --early 2 --late 4 --few 1k --many 2k", block: "memory over time", rows: 4,
            statuses: [0, 1]),
        Maker(words: "start_skew.py --runs 1", block: "start skew", rows: 24),
        Maker(
            words: "plan_validation.py --only r1 --calibrations CALIBRATIONS", block: "validation", rows: 1,
            statuses: [0, 1]),
    ]

    @Test(
        "A table is measured, shortened, and stands where it belongs, with the command, commit and machine",
        arguments: makers)
    func written(_ maker: Maker) throws {
        let folder = try OutputFolder.made()
        let document = folder.path + "/page.md"
        try "before\n\n<!-- \(maker.block) -->\nold\n<!-- end of \(maker.block) -->\nafter\n".write(
            toFile: document, atomically: true, encoding: .utf8)
        let calibrations = folder.path + "/calibrations"
        try FileManager.default.createDirectory(atPath: calibrations, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: Self.root + "/Tests/documents/costs.json", toPath: calibrations + "/usual.json")
        var words = maker.words.replacing("CALIBRATIONS", with: calibrations).split(separator: " ").map(String.init)
        words[0] = Self.root + "/Benchmarks/" + words[0]
        let finished = try Programs.run(
            "/usr/bin/env",
            ["TESTED_PROGRAMS=\(Programs.folder.path)", "PYTHONDONTWRITEBYTECODE=1", "python3"] + words
                + ["--write", document])
        #expect(maker.statuses.contains(finished.status), "\(finished)")
        let lines = try String(contentsOfFile: document, encoding: .utf8).split(separator: "\n").map(String.init)
        // Of each table, header and rule are no rows.
        let tables = lines.count { $0.hasPrefix("| --- |") || $0.hasPrefix("| ---: |") }
        #expect(lines.count { $0.hasPrefix("|") } - 2 * tables == maker.rows, "\(lines)")
        #expect(
            lines.first == "before" && lines.last == "after" && !lines.contains("old")
                && lines.contains {
                    $0.wholeMatch(of: /Made by `Benchmarks\/.+`: commit .+, \d{4}-\d\d-\d\d, .+ cores, Linux .+/) != nil
                },
            "\(lines)")
    }

    @Test("Every measured table of the documents says what made it, of which commit and on which machine")
    func named() throws {
        let folder = Self.root + "/docs"
        var tables = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".md") {
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            for end in text.matches(of: /<!-- end of (.+?) -->/) {
                let begin = try #require(text.range(of: "<!-- \(end.1) -->"), "\(name): \(end.0)")
                let block = text[begin.upperBound..<end.range.lowerBound]
                let maker = /\nMade by `[^\n]+: commit [^\n]+, \d{4}-\d\d-\d\d, [^\n]+ cores/
                #expect(block.firstMatch(of: maker) != nil, "\(name): \(end.1)")
                tables += 1
            }
            for mark in text.matches(of: /<!-- measured by: .+ -->\n```(?s:.+?)\n```\n\n(.*)/) {
                let maker = /Made by `.+: commit .+, \d{4}-\d\d-\d\d, .+ cores.*/
                #expect(mark.1.wholeMatch(of: maker) != nil, "\(name): \(mark.0.prefix(200)) … \(mark.1)")
                tables += 1
            }
        }
        #expect(tables > 15)
    }
}
