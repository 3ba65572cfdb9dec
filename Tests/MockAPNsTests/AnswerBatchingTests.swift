import Glibc
import HTTP2
import Networking
import Testing

@testable import MockAPNs

/// Gives what it was made with, and notes each write.
private final class NotedStream: ByteStream {
    private var ends: [Int32] = [-1, -1]
    private var input: [UInt8]
    /// How many bytes a write takes at most, and after how many writes none is taken.
    var room = Int.max
    var writes: [[UInt8]] = []

    init(_ input: [UInt8]) {
        self.input = input
        super.init()
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    }

    deinit { for end in ends { close(end) } }

    override var descriptor: Int32 { ends[0] }
    override var hasBufferedInput: Bool { !input.isEmpty }

    override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        guard !input.isEmpty else { return .wouldBlock }
        let count = min(capacity, input.count)
        buffer.update(from: input, count: count)
        input.removeFirst(count)
        return .bytes(count)
    }

    override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
        guard writes.count < room else { return .wouldBlock }
        writes.append(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return .bytes(count)
    }
}

@Suite struct AnswerBatchingTests {
    private func writes(batches: Bool, room: Int = .max) throws -> (stream: NotedStream, mock: HandDrivenMock) {
        var configuration = MockConfiguration()
        configuration.batchesAnswers = batches
        let mock = try HandDrivenMock(configuration)
        let requests = stride(from: Int32(1), through: 39, by: 2).flatMap { FrameClient.push($0) }
        let settings = FrameClient.frame(Frame.settings, flags: 0, stream: 0, [])
        let stream = NotedStream(Frame.preface + settings + requests)
        stream.room = room
        mock.adopt(stream)
        return (stream, mock)
    }

    /// Types of the frames of some bytes, all whole.
    private func types(_ bytes: [UInt8]) throws -> [UInt8] {
        var (types, offset): ([UInt8], Int) = ([], 0)
        while offset < bytes.count {
            let length = try #require(
                bytes[offset...].withUnsafeBufferPointer { Frame.wholeLength($0.baseAddress!, $0.count) })
            types.append(bytes[offset + 3])
            offset += length
        }
        return types
    }

    @Test(
        "Twenty pushes of one read are answered with one write; without batching each frame has one, and the frames are the same"
    )
    func frames() throws {
        let together = try writes(batches: true).stream.writes
        let single = try writes(batches: false).stream.writes
        #expect(together.count <= 3, "\(together.count) writes")
        let kinds = try single.map { try types($0) }
        #expect(kinds.allSatisfy { $0.count == 1 }, "\(kinds)")
        #expect(kinds.filter { $0 == [Frame.headers] }.count == 20, "\(kinds)")
        #expect(try types(Array(together.joined())) == kinds.flatMap { $0 })
        #expect(together.joined().count == single.joined().count)
    }

    @Test("What a full socket does not take is kept in order")
    func fullSocket() throws {
        let (stream, mock) = try writes(batches: false, room: 5)
        #expect(stream.writes.count == 5)
        stream.room = .max
        mock.turn()
        let all = try types(Array(stream.writes.joined()))
        #expect(all.filter { $0 == Frame.headers }.count == 20, "\(all)")
    }

    @Test("Answers whose ends had no room while the socket was full are ended when it takes more")
    func heldBackEnds() throws {
        var configuration = MockConfiguration()
        configuration.maxConcurrentStreams = 20_000
        configuration.allStreamsAtOnce = true
        let mock = try HandDrivenMock(configuration)
        let count = 8000
        let requests = (0..<Int32(count)).flatMap { FrameClient.push(2 * $0 + 1, device: "no token") }
        let settings = FrameClient.frame(Frame.settings, flags: 0, stream: 0, [])
        let window = FrameClient.frame(Frame.windowUpdate, flags: 0, stream: 0, FrameClient.number(1 << 30))
        let stream = NotedStream(Frame.preface + settings + window + requests)
        stream.room = 1
        mock.adopt(stream)
        for _ in 0..<4 { mock.turn() }
        #expect(stream.writes.count == 1)
        stream.room = .max
        for _ in 0..<20 { mock.turn() }
        var (headers, ends) = (0, 0)
        let bytes = Array(stream.writes.joined())
        var offset = 0
        while offset < bytes.count {
            let length = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
            if bytes[offset + 3] == Frame.headers { headers += 1 }
            if bytes[offset + 3] == Frame.data, bytes[offset + 4] & 1 == 1 { ends += 1 }
            offset += 9 + length
        }
        #expect(headers == count && ends == count, "\(headers) answers, \(ends) ended")
    }
}
