import Glibc

/// What a mock wrote down of the requests that came to it: when, of which kind and size, for which device, over which connection. No
/// token, no payload, no text of a header but the topic. `RecordingWriter` writes it, block by block, so that what a killed mock leaves
/// can be read.
///
/// Layout, little-endian: `PUSHREC1`, then blocks: what it is (1 byte), the thread it is of (1 byte), 0 (2 bytes), the length of its
/// contents (4 bytes, at most 65,520), the contents, and a `FileCheck` over all of the file before it (8 bytes).
///
/// | block | contents |
/// | --- | --- |
/// | 1 | first of all: names of push types, joined by commas, a line feed, names of reasons likewise |
/// | 2 | a topic, before any push that names it; topics are counted from 1 in their order |
/// | 3 | pushes of one thread, 40 bytes each, in their order |
/// | 4 | the recording is complete: pushes in the file, and pushes left out because the limit was reached (8 bytes each) |
///
/// | bytes of a push | what |
/// | --- | --- |
/// | 0…7 | when it began to come, ns since the recording began |
/// | 8…15 | hash of the device token (SipHash-2-4 under a key drawn for the recording and not kept); 0: there was none |
/// | 16…23 | hash of `apns-collapse-id`; 0: there was none |
/// | 24…27 | its connection, by a number within the thread |
/// | 28…31 | size of the payload, bytes; 65535: that or more |
/// | 32…33 | its topic; 0: none, or one beyond the first 1,024 |
/// | 34…35 | status of the answer; 0: never answered |
/// | 36 | its push type's place among the names (alert where the header was missing); 255: not one of them |
/// | 37 | its priority (10 where the header was missing); 0: not 10, 5 or 1 |
/// | 38 | bits 0…3 `apns-expiration`: 0 missing, 1 zero, 2 a time; bit 4 `apns-push-type` was given, bit 5 `apns-priority` |
/// | 39 | the reason's place among the names; 255: none |
package enum RecordingFile {
    static let magic = "PUSHREC1"
    /// Bytes of a block's contents.
    static let longestBlock = 65_520
    package static let mostTopics = 1024
    static let longestTopic = 255

    enum Block: UInt8 {
        case names = 1
        case topic = 2
        case pushes = 3
        case end = 4
    }

    /// Without its check.
    static func block(_ kind: Block, _ contents: [UInt8], thread: UInt8 = 0) -> [UInt8] {
        var bytes = [kind.rawValue, thread, 0, 0]
        withUnsafeBytes(of: UInt32(contents.count).littleEndian) { bytes.append(contentsOf: $0) }
        return bytes + contents
    }

    /// Reads a recording, the pushes of all threads by time. Memory goes with what the file has, whatever it says.
    ///
    /// - Returns: also what a mock left that was killed, or whose disk was full; it is not `isComplete`.
    /// - Throws: one line when the file is missing, foreign, damaged, has no push, or ends within a block.
    package static func read(_ path: String) throws(BinaryFileFailure) -> Recording {
        let source = try Source(path)
        var recording = Recording()
        var threads: [(push: RecordedPush, thread: UInt8)] = []
        var end: RecordingWriter.Totals?
        var isFirst = true
        while let (kind, thread, contents) = try source.block() {
            guard end == nil, isFirst == (kind == .names) else { throw source.damaged }
            isFirst = false
            switch kind {
            case .names: try names(contents, &recording, source)
            case .topic:
                guard recording.topics.count <= mostTopics, (1...longestTopic).contains(contents.count) else {
                    throw source.damaged
                }
                recording.topics.append(String(decoding: contents, as: UTF8.self))
            case .pushes:
                guard contents.count % RecordedPush.length == 0 else { throw source.damaged }
                for place in stride(from: 0, to: contents.count, by: RecordedPush.length) {
                    let push = contents[place..<(place + RecordedPush.length)].withUnsafeBytes { RecordedPush($0) }
                    guard let push, recording.knows(push) else { throw source.damaged }
                    threads.append((push, thread))
                }
            case .end:
                guard contents.count == 16 else { throw source.damaged }
                let numbers = contents.withUnsafeBytes { bytes in
                    [0, 8].map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
                }
                guard numbers[0] == UInt64(threads.count) else { throw source.damaged }
                end = .init(pushes: numbers[0], leftOut: numbers[1])
            }
        }
        guard !threads.isEmpty else {
            throw BinaryFileFailure("\(path): the recording has no push; expected one to which a provider sent some")
        }
        recording.take(threads)
        recording.isComplete = end != nil
        recording.leftOut = end?.leftOut ?? 0
        recording.check = source.check
        return recording
    }

    private static func names(
        _ contents: [UInt8], _ recording: inout Recording, _ source: Source
    ) throws(BinaryFileFailure) {
        let lines = String(decoding: contents, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 2 else { throw source.damaged }
        recording.types = lines[0].split(separator: ",").map(String.init)
        recording.reasons = lines[1].split(separator: ",").map(String.init)
        guard recording.types.count <= 255, recording.reasons.count <= 255 else { throw source.damaged }
    }

    /// A file's blocks, one after the other.
    private final class Source {
        private let path: String
        private let file: UnsafeMutablePointer<FILE>
        private var running = FileCheck()

        init(_ path: String) throws(BinaryFileFailure) {
            self.path = path
            file = try BinaryFileReader.open("recording", path)
            var letters = [UInt8](repeating: 0, count: RecordingFile.magic.utf8.count)
            guard fread(&letters, 1, letters.count, file) == letters.count,
                letters.elementsEqual(RecordingFile.magic.utf8)
            else {
                throw BinaryFileFailure("\(path): not a recording; expected what mock-apns --record writes")
            }
            for letter in letters { running.take(letter) }
        }

        deinit { fclose(file) }

        /// Of all that was read.
        var check: UInt64 { running.value }
        var damaged: BinaryFileFailure { BinaryFileFailure("\(path): the recording is damaged") }
        private var truncated: BinaryFileFailure {
            BinaryFileFailure("\(path): the recording is truncated: it ends within a block")
        }

        /// nil: there is no other.
        func block() throws(BinaryFileFailure) -> (Block, thread: UInt8, contents: [UInt8])? {
            var head = [UInt8](repeating: 0, count: 8)
            let count = fread(&head, 1, head.count, file)
            if count == 0 { return nil }
            guard count == head.count else { throw truncated }
            let length = head.withUnsafeBytes {
                UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            }
            guard let kind = Block(rawValue: head[0]), head[2] == 0, head[3] == 0, length <= RecordingFile.longestBlock
            else { throw damaged }
            var rest = [UInt8](repeating: 0, count: Int(length) + 8)
            guard fread(&rest, 1, rest.count, file) == rest.count else { throw truncated }
            for byte in head { running.take(byte) }
            for byte in rest[..<Int(length)] { running.take(byte) }
            let expected = running.value
            let found = rest.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: Int(length), as: UInt64.self))
            }
            guard found == expected else { throw damaged }
            for byte in rest[Int(length)...] { running.take(byte) }
            rest.removeLast(8)
            return (kind, head[1], rest)
        }
    }
}

/// What a recording says.
package struct Recording: Sendable {
    /// Names by place.
    package var types: [String] = []
    package var reasons: [String] = []
    /// 0: no topic.
    package var topics: [String] = [""]
    /// By time.
    package var pushes: [RecordedPush] = []
    /// How many connections they came over.
    package var connections = 0
    /// Its mock ended it.
    package var isComplete = false
    /// Pushes that came when the limit was reached.
    package var leftOut: UInt64 = 0
    /// Of the whole file: tells recordings apart.
    package var check: UInt64 = 0

    package init() {}

    fileprivate func knows(_ push: RecordedPush) -> Bool {
        (push.type == RecordedPush.none || Int(push.type) < types.count)
            && (push.reason == RecordedPush.none || Int(push.reason) < reasons.count) && Int(push.topic) < topics.count
    }

    /// Those of several threads, put in order and their connections told apart.
    fileprivate mutating func take(_ found: [(push: RecordedPush, thread: UInt8)]) {
        var found = found
        let isOrdered = zip(found, found.dropFirst()).allSatisfy { $0.push.time <= $1.push.time }
        if !isOrdered {
            // Of one moment in the order of the file.
            found = found.enumerated().sorted { ($0.element.push.time, $0.offset) < ($1.element.push.time, $1.offset) }
                .map(\.element)
        }
        var numbers: [UInt64: UInt32] = [:]
        pushes.reserveCapacity(found.count)
        for (push, thread) in found {
            var push = push
            let key = UInt64(thread) << 32 | UInt64(push.connection)
            let number = numbers[key] ?? UInt32(numbers.count)
            numbers[key] = number
            push.connection = number
            pushes.append(push)
        }
        connections = numbers.count
    }
}
