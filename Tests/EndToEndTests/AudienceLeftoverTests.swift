import Foundation
import TestSupport
import Testing

/// What killed commands, changed files and damaged indexes leave, and what the next command makes of it.
@Suite("Registrations survive what happens to their files", .waitsForPrograms) struct AudienceLeftoverTests {
    private let folder: OutputFolder
    private let path: String

    init() throws {
        folder = try OutputFolder.made()
        path = try AudienceTests.made(folder, rows: 40_000)
    }

    private func count(_ expression: String = "*") throws -> String {
        try AudienceTests.answer(["count", expression, "--registrations", path])
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private var indexNumber: UInt64 {
        get throws {
            try #require(
                try FileManager.default.attributesOfItem(atPath: path + ".index")[.systemFileNumber] as? UInt64)
        }
    }

    /// Kills a command at random moments of the time that it takes.
    private func kill(_ arguments: [String], seconds: Double, times: Int, _ after: (UInt64) throws -> Void) throws {
        let seed = UInt64.random(in: 1...999_999_999)
        var random = SeededRandom(seed)
        for _ in 0..<times {
            let running = try Programs.start("pushload", ["audience"] + arguments)
            usleep(UInt32(Double.random(in: 0...seconds, using: &random) * 1e6))
            Foundation.kill(running.process.processIdentifier, SIGKILL)
            _ = try running.wait()
            try after(seed)
        }
    }

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = Date()
        try body()
        return Date().timeIntervalSince(start)
    }

    @Test("A command killed while it indexes leaves nothing that the next one stumbles over")
    func killedIndexing() throws {
        var expected = ""
        let time = try seconds { expected = try count("follows_RedSox") }
        try kill(["check", path], seconds: time, times: 8) { (seed: UInt64) throws in
            #expect(try count("follows_RedSox") == expected, "seed \(seed)")
            #expect(try names == ["r.csv", "r.csv.index"], "seed \(seed)")
        }
    }

    @Test("Killed while feedback is applied, nothing is lost: it can be applied again, and who left stays away")
    func killedApplying() throws {
        let tokens = try AudienceTests.answer(["list", "*", "--registrations", path]).split(separator: "\n")
        let left = Set(stride(from: 0, to: tokens.count, by: 3).map { tokens[$0] })
        let journal = left.map {
            "{\"token\":\"\($0)\",\"reason\":\"Unregistered\",\"timestamp\":1700000000000,\"seen\":2}\n"
        }
        .joined()
        let original = try String(contentsOfFile: path, encoding: .utf8)
        let stay = tokens.filter { !left.contains($0) }
        func restore() throws {
            for name in try names where name != "r.csv" {
                try FileManager.default.removeItem(atPath: folder.path + "/" + name)
            }
            try original.write(toFile: path, atomically: true, encoding: .utf8)
            try journal.write(toFile: path + ".feedback", atomically: true, encoding: .utf8)
        }
        func isRight(_ seed: UInt64) throws {
            let list = try AudienceTests.answer(["list", "*", "--registrations", path]).split(separator: "\n")
            #expect(list == stay, "seed \(seed)")
        }
        try restore()
        let time = try seconds { _ = try AudienceTests.answer(["feedback", path, "--apply"]) }
        try restore()
        try kill(["feedback", path, "--apply"], seconds: time, times: 6) { (seed: UInt64) throws in
            try isRight(seed)
            _ = try AudienceTests.answer(["feedback", path, "--apply"])
            try isRight(seed)
            let rest = try names.filter { !$0.hasPrefix("r.csv.feedback.applied-") }
            #expect(rest == ["r.csv", "r.csv.index"], "seed \(seed)")
            try restore()
        }
    }

    @Test("A file that has changed is indexed anew")
    func changed() throws {
        let before = try #require(Int(try count().dropLast()))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        // As many fields as the header line has.
        let fields = try String(contentsOfFile: path, encoding: .utf8).prefix { $0 != "\n" }.split(separator: ",")
        let row = fields.map { $0 == "token" ? "aa01" : $0 == "tags" ? "brand-new" : "" }.joined(separator: ",")
        try file.write(contentsOf: Data("\(row)\n".utf8))
        try file.close()
        #expect(try count() == "\(before + 1)\n")
        #expect(try count("brand-new") == "1\n")
    }

    @Test(
        "An index that is cut, or damaged where it is relied on, is made anew", arguments: ["cut", "header", "bitmaps"])
    func damaged(how: String) throws {
        let expected = try count("follows_RedSox || lang_en")
        let number = try indexNumber
        #expect(try count("follows_RedSox || lang_en") == expected)
        #expect(try indexNumber == number)
        let index = try FileHandle(forUpdating: URL(fileURLWithPath: path + ".index"))
        let size = try index.seekToEnd()
        switch how {
        case "cut": try index.truncate(atOffset: size - UInt64.random(in: 1..<size))
        case "header":
            try index.seek(toOffset: UInt64.random(in: 0..<512))
            let byte = try #require(try index.read(upToCount: 1)?.first)
            try index.seek(toOffset: try index.offset() - 1)
            try index.write(contentsOf: Data([byte ^ 1]))
        default:
            // They are its end.
            try index.seek(toOffset: size - 3000)
            try index.write(contentsOf: Data(repeating: 0xA5, count: 500))
        }
        try index.close()
        #expect(try count("follows_RedSox || lang_en") == expected, "\(how)")
        #expect(try indexNumber != number, "\(how)")
    }

    @Test("Where the index cannot be kept, a line says so, and the answer is right")
    func unwritable() throws {
        let expected = try count()
        try FileManager.default.removeItem(atPath: path + ".index")
        // A folder in its place cannot be replaced by a file, whoever asks.
        try FileManager.default.createDirectory(atPath: path + ".index/x", withIntermediateDirectories: true)
        let finished = try AudienceTests.ask(["count", "*", "--registrations", path])
        #expect(finished.status == 0 && finished.output == expected, "\(finished)")
        #expect(finished.error.contains("cannot write the index \(path).index: "), "\(finished)")
        #expect(finished.error.split(separator: "\n").count == 1, "\(finished)")
    }
}
