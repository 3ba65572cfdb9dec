import Foundation
import Testing

@testable import Measurement

@Suite struct RecordingTests {
    /// A file that is removed at the end.
    private final class Scratch {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID())").path
        var bytes: [UInt8] {
            get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }
        }
        func write(_ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
        /// Files whose names begin with its own.
        var beside: [String] {
            let folder = (path as NSString).deletingLastPathComponent
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.map { folder + "/" + $0 }.filter { $0.hasPrefix(path) && $0 != path }
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func push(_ time: UInt64, connection: UInt32 = 16, topic: UInt16 = 1) -> RecordedPush {
        var push = RecordedPush()
        (push.time, push.connection, push.topic) = (time, connection, topic)
        (push.device, push.collapseID, push.size) = (time &* 7 + 1, time % 2, UInt32(time % 5000))
        (push.status, push.type, push.priority, push.reason) = (200, 1, 5, RecordedPush.none)
        (push.givesType, push.givesPriority, push.expiration) = (true, time % 2 == 0, .time)
        return push
    }

    private static func topic(_ text: String, _ writer: RecordingWriter) -> UInt16 {
        Array(text.utf8).withUnsafeBytes { writer.topic($0) }
    }

    private static func writer(_ scratch: Scratch, limit: UInt64 = 1000) -> RecordingWriter {
        RecordingWriter(scratch.path, types: ["alert", "background"], reasons: ["BadDeviceToken"], limit: limit)
    }

    /// One of two threads, whose blocks come after each other.
    private static func written(_ scratch: Scratch, ends: Bool = true) throws -> [UInt8] {
        let writer = writer(scratch)
        try writer.begin()
        #expect(topic("com.example.a", writer) == 1 && topic("com.example.b", writer) == 2)
        #expect(topic("com.example.a", writer) == 1)
        let blocks = [RecordingBlock(writer, thread: 0), RecordingBlock(writer, thread: 3)]
        for time in stride(from: UInt64(2), to: 40, by: 2) { blocks[0].add(push(time)) }
        for time in stride(from: UInt64(1), to: 40, by: 2) { blocks[1].add(push(time, topic: 2)) }
        for block in blocks { block.flush() }
        if ends { #expect(try writer.end() == .init(pushes: 39, leftOut: 0)) }
        return try scratch.bytes
    }

    private func problem(_ bytes: some Sequence<UInt8>) throws -> String? {
        let scratch = Scratch()
        try scratch.write(bytes)
        do { _ = try RecordingFile.read(scratch.path) } catch {
            return error.description.replacing(scratch.path, with: "FILE")
        }
        return nil
    }

    @Test("Pushes of several threads are read by time as they were written, their connections told apart")
    func roundTrip() throws {
        let scratch = Scratch()
        _ = try Self.written(scratch)
        let recording = try RecordingFile.read(scratch.path)
        #expect(recording.types == ["alert", "background"] && recording.reasons == ["BadDeviceToken"])
        #expect(recording.topics == ["", "com.example.a", "com.example.b"])
        #expect(recording.isComplete && recording.leftOut == 0 && recording.connections == 2)
        let expected = (UInt64(1)..<40).map { time in
            Self.push(time, connection: time % 2 == 0 ? 1 : 0, topic: time % 2 == 0 ? 1 : 2)
        }
        #expect(recording.pushes == expected)
    }

    @Test("A recording whose mock was killed is read to its last whole block, and says that it is not complete")
    func killed() throws {
        let scratch = Scratch()
        _ = try Self.written(scratch, ends: false)
        let recording = try RecordingFile.read(scratch.path)
        #expect(!recording.isComplete && recording.pushes.count == 39)
    }

    @Test("A recording that is there stays until there is a push for another, and nothing else is written over")
    func replaced() throws {
        let scratch = Scratch()
        let first = try Self.written(scratch)
        #expect(RecordingWriter.mayReplace(scratch.path))
        let writer = Self.writer(scratch)
        try writer.begin()
        _ = Self.topic("com.example.a", writer)
        #expect(try scratch.bytes == first)
        let block = RecordingBlock(writer, thread: 0)
        block.add(Self.push(1))
        block.flush()
        #expect(try RecordingFile.read(scratch.path).pushes.count == 1)
        #expect(try writer.end().pushes == 1)
        #expect(scratch.beside.isEmpty)
        try scratch.write("-----BEGIN PRIVATE KEY-----".utf8)
        #expect(!RecordingWriter.mayReplace(scratch.path))
        try scratch.write([UInt8]())
        #expect(RecordingWriter.mayReplace(scratch.path) && !RecordingWriter.mayReplace("/dev/null"))
    }

    @Test("A recording that is there stays when no push came, and nothing is left beside it")
    func kept() throws {
        let scratch = Scratch()
        let first = try Self.written(scratch)
        let writer = Self.writer(scratch)
        try writer.begin()
        #expect(try writer.end() == .init(keepsOld: true))
        #expect(try scratch.bytes == first && scratch.beside.isEmpty)
        let new = Scratch()
        #expect(try Self.writer(new).end() == .init())
        #expect(try problem(new.bytes)?.contains("has no push") == true)
    }

    @Test(
        "Files beside a recording are nobody's to remove, and what takes the place of the one it writes is not renamed")
    func beside() throws {
        let scratch = Scratch()
        let first = try Self.written(scratch)
        let other = scratch.path + ".new"
        defer { try? FileManager.default.removeItem(atPath: other) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: other))
        let writer = Self.writer(scratch)
        _ = Self.topic("com.example.a", writer)
        let made = try #require(scratch.beside.first { $0.hasSuffix(".writing") })
        try FileManager.default.removeItem(atPath: made)
        try FileManager.default.createSymbolicLink(atPath: made, withDestinationPath: other)
        defer { try? FileManager.default.removeItem(atPath: made) }
        let block = RecordingBlock(writer, thread: 0)
        block.add(Self.push(1))
        block.flush()
        #expect(throws: BinaryFileFailure.self) { try writer.end() }
        #expect(try scratch.bytes == first && scratch.beside.sorted() == [made, other].sorted())
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
    }

    @Test("A file is recorded to by one, the first: the second is told so, before and after the file is replaced")
    func two() throws {
        let scratch = Scratch()
        let expected = "cannot write the recording \(scratch.path): another mock is writing it"
        func refusal() -> String? {
            do { try Self.writer(scratch).begin() } catch { return error.description }
            return nil
        }
        for _ in 0..<2 {
            let writer = Self.writer(scratch)
            try writer.begin()
            #expect(refusal() == expected)
            let block = RecordingBlock(writer, thread: 0)
            block.add(Self.push(1, topic: 0))
            block.flush()
            #expect(refusal() == expected)
            #expect(try writer.end().pushes == 1)
            #expect(try RecordingFile.read(scratch.path).isComplete)
        }
    }

    @Test("Beyond its limit nothing is recorded, and that is counted")
    func limit() throws {
        let scratch = Scratch()
        let writer = Self.writer(scratch, limit: 3)
        try writer.begin()
        let block = RecordingBlock(writer, thread: 0)
        for time in UInt64(1)...5 { block.add(Self.push(time, topic: 0)) }
        block.flush()
        #expect(try writer.end() == .init(pushes: 3, leftOut: 2))
        let recording = try RecordingFile.read(scratch.path)
        #expect(recording.pushes.count == 3 && recording.leftOut == 2 && recording.isComplete)
    }

    @Test("More than a block's pushes are all there, and topics beyond the bound have none")
    func many() throws {
        let scratch = Scratch()
        let writer = Self.writer(scratch, limit: 10_000)
        try writer.begin()
        for number in 1...RecordingFile.mostTopics { #expect(Self.topic("t\(number)", writer) == UInt16(number)) }
        #expect(Self.topic("one-too-many", writer) == 0)
        #expect(Self.topic(String(repeating: "t", count: 256), writer) == 0 && Self.topic("", writer) == 0)
        let block = RecordingBlock(writer, thread: 0)
        for time in UInt64(1)...5000 { block.add(Self.push(time)) }
        block.flush()
        #expect(try writer.end().pushes == 5000)
        let recording = try RecordingFile.read(scratch.path)
        #expect(recording.pushes.map(\.time) == Array(1...5000) && recording.topics.count == 1025)
    }

    @Test("A file cut anywhere is refused in one line, or is what was written before")
    func truncated() throws {
        let bytes = try Self.written(Scratch())
        for length in bytes.indices {
            let problem = try problem(bytes[..<length])
            let expected: Set<String?> = [
                "FILE: not a recording; expected what mock-apns --record writes",
                "FILE: the recording is truncated: it ends within a block",
                "FILE: the recording has no push; expected one to which a provider sent some",
            ]
            #expect(problem == nil || expected.contains(problem), "\(length): \(problem ?? "")")
        }
        // Whole only between blocks: after the pushes of one thread, and of both.
        #expect(try bytes.indices.filter { try problem(bytes[..<$0]) == nil }.count == 2)
    }

    @Test("A file with any byte changed is refused in one line")
    func damaged() throws {
        let bytes = try Self.written(Scratch())
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x41
            let problem = try #require(try problem(changed), "byte \(place)")
            #expect(!problem.contains("\n") && problem.hasPrefix("FILE: "))
        }
        #expect(try problem(bytes + [0]) == "FILE: the recording is truncated: it ends within a block")
        #expect(try problem(bytes + bytes[8...]) == "FILE: the recording is damaged")
    }

    @Test("Other files, zeros and lengths that no file has are refused in one line")
    func foreign() throws {
        for bytes in [[], [UInt8](repeating: 0, count: 4096), Array("PUSHTIM3".utf8), Array("{\"a\":1}\n".utf8)] {
            #expect(try problem(bytes) == "FILE: not a recording; expected what mock-apns --record writes")
        }
        let magic = Array("PUSHREC1".utf8)
        #expect(try problem(magic) == "FILE: the recording has no push; expected one to which a provider sent some")
        #expect(try problem(magic + [3, 0, 0, 0, 255, 255, 255, 255] + [1]) == "FILE: the recording is damaged")
        #expect(try problem(magic + [9, 0, 0, 0, 1, 0, 0, 0] + [1]) == "FILE: the recording is damaged")
        #expect(
            try problem(magic + [3, 0, 0, 0, 240, 255, 0, 0] + [1])
                == "FILE: the recording is truncated: it ends within a block")
    }

    /// A file of blocks whose checks are right.
    private func file(_ blocks: [[UInt8]]) -> [UInt8] {
        var (bytes, check) = (Array(RecordingFile.magic.utf8), FileCheck())
        for byte in bytes { check.take(byte) }
        for block in blocks {
            for byte in block { check.take(byte) }
            let sum = withUnsafeBytes(of: check.value.littleEndian) { Array($0) }
            for byte in sum { check.take(byte) }
            bytes += block + sum
        }
        return bytes
    }

    @Test("Contents that no mock writes are refused, though their checks are right")
    func senseless() throws {
        let names = RecordingFile.block(.names, Array("alert\nBad".utf8))
        func pushes(_ change: (inout RecordedPush) -> Void) -> [UInt8] {
            var push = Self.push(1, topic: 0)
            push.type = 0
            change(&push)
            var bytes = [UInt8](repeating: 0, count: RecordedPush.length)
            bytes.withUnsafeMutableBytes { push.write(to: $0.baseAddress!) }
            return RecordingFile.block(.pushes, bytes)
        }
        func end(_ count: UInt8) -> [UInt8] {
            RecordingFile.block(.end, [count] + [UInt8](repeating: 0, count: 15))
        }
        let right = pushes { _ in }
        #expect(try problem(file([names, right, end(1)])) == nil)
        #expect(try problem(file([names, right])) == nil)
        for blocks in [
            [right, end(1)], [names, names, right], [names, right, end(2)], [names, end(0), right],
            [names, pushes { $0.type = 1 }], [names, pushes { $0.topic = 1 }], [names, pushes { $0.reason = 1 }],
            [names, pushes { $0.priority = 7 }], [names, pushes { $0.size = 65_536 }],
            [names, pushes { $0.time = .max }],
            [names, RecordingFile.block(.pushes, [1, 2, 3])], [names, RecordingFile.block(.end, [1])],
            [RecordingFile.block(.names, Array("alert".utf8)), right], [names, RecordingFile.block(.topic, []), right],
        ] {
            #expect(try problem(file(blocks)) == "FILE: the recording is damaged", "\(blocks)")
        }
    }

    @Test(
        "What is no regular file is never written to nor waited for, and a missing folder is told in one line",
        .timeLimit(.minutes(1)))
    func noFile() throws {
        let pipe = Scratch()
        #expect(mkfifo(pipe.path, 0o600) == 0 && !RecordingWriter.mayReplace(pipe.path))
        for path in [pipe.path, "/dev/full"] {
            let writer = RecordingWriter(path, types: ["alert"], reasons: [], limit: 10)
            do {
                try writer.begin()
                Issue.record("no regular file")
            } catch { #expect(error.description == "cannot write the recording \(path): it is no regular file") }
            #expect(throws: BinaryFileFailure.self) { try writer.end() }
        }
        let missing = RecordingWriter("/nowhere/x", types: ["alert"], reasons: [], limit: 10)
        do {
            try missing.begin()
            Issue.record("a folder that is not there")
        } catch {
            #expect(error.description == "cannot write the recording /nowhere/x: No such file or directory")
        }
        #expect(missing.takeFailure() == nil, "it was told")
        let later = RecordingWriter("/nowhere/x", types: ["alert"], reasons: [], limit: 10)
        #expect(later.takeFailure() == nil && Self.topic("com.example.a", later) == 1)
        #expect(later.takeFailure()?.description == "cannot write the recording /nowhere/x: No such file or directory")
        #expect(later.takeFailure() == nil)
    }

    @Test("Hashes are SipHash-2-4's, and of tokens the same whatever their case")
    func hash() {
        // The vectors of the reference implementation: key 00…0F, texts of 0, 1, 2, … bytes.
        let expected: [Int: UInt64] = [
            0: 0x726f_db47_dd0e_0e31, 1: 0x74f8_39c5_93dc_67fd, 8: 0x93f5_f579_9a93_2462, 15: 0xa129_ca61_49be_45e5,
        ]
        let hash = KeyedHash(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
        for (length, value) in expected {
            #expect((0..<UInt8(length)).map { $0 }.withUnsafeBytes { hash.hash($0) } == value, "\(length)")
        }
        func token(_ text: String, _ hash: KeyedHash) -> UInt64 {
            Array(text.utf8).withUnsafeBytes { hash.hash($0, setting: 0x20) }
        }
        #expect(
            token("00aBcDeF", hash) == token("00AbCdEf", hash) && token("00abcdee", hash) != token("00abcdef", hash))
        #expect(token("00aBcDeF", .random()) != token("00AbCdEf", .random()))
    }
}
