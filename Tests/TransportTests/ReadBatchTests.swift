import HTTP2
import Networking
import Testing

@testable import Transport

/// A server that answers each push by itself, in virtual time: the first 1 ms after it came, the others one after the other.
private final class OneByOne: EventLoop {
    final class Stream: ByteStream {
        unowned let loop: OneByOne
        var written: [UInt8] = []
        /// When answers arrive, and on which streams, in order.
        var answers: [(time: UInt64, stream: UInt32)] = []
        var greeting = FrameBytes.settings
        private var sent: UInt64 = 0

        init(_ loop: OneByOne) { self.loop = loop }

        override var descriptor: Int32 { 7 }
        override var sendTime: UInt64 { sent }
        var isReadable: Bool { !greeting.isEmpty || answers.first.map { $0.time <= loop.time } == true }

        override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
            guard isReadable else { return .wouldBlock }
            var bytes = greeting
            greeting = []
            while let answer = answers.first, answer.time <= loop.time {
                answers.removeFirst()
                bytes += FrameBytes.answer(answer.stream)
                loop.waited.append(loop.time - answer.time)
            }
            loop.reads += 1
            buffer.update(from: bytes, count: bytes.count)
            return .bytes(bytes.count)
        }

        override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
            sent = loop.time
            written += UnsafeBufferPointer(start: bytes, count: count)
            if written.starts(with: Frame.preface) { written.removeFirst(Frame.preface.count) }
            while let length = written.withUnsafeBufferPointer({
                $0.isEmpty ? nil : Frame.wholeLength($0.baseAddress!, $0.count)
            }) {
                let isLast = written[4] & Frame.endStream != 0 && written[3] == Frame.data
                let stream = written[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
                written.removeFirst(length)
                if isLast {
                    loop.lastAnswer = max(loop.lastAnswer + loop.interval, loop.time + 1_000_000)
                    answers.append((loop.lastAnswer, stream))
                }
            }
            return .bytes(count)
        }
    }

    enum FrameBytes {
        static let settings = frame(Frame.settings, 0, 0, [])
        static func answer(_ stream: UInt32) -> [UInt8] {
            frame(Frame.headers, Frame.endHeaders | Frame.endStream, Int32(stream), [0x88])
        }
        private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8]) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 9)
            Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
            return bytes + payload
        }
    }

    var time: UInt64 = 1_000_000_000
    let interval: UInt64
    var lastAnswer: UInt64 = 0
    /// Reads that brought something, and how long each answer waited for its own.
    var reads = 0
    var waited: [UInt64] = []
    private var stream: Stream?
    private var token: UInt64 = 0

    init(interval: UInt64) {
        self.interval = interval
        super.init(wakeUp: WakeUp())
    }

    override var now: UInt64 { time }

    override func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        let made = Stream(self)
        stream = made
        return made
    }

    override func add(_ descriptor: Int32, token: UInt64, interest: Readiness) { self.token = token }
    override func rest(_ time: UInt64) { self.time += time }

    override func wait(timeout: UInt64?) -> Int {
        guard let stream else { return 0 }
        if !stream.isReadable {
            let end = time + (timeout ?? 1_000_000_000)
            time = min(end, stream.answers.first?.time ?? end)
        }
        return stream.isReadable ? 1 : 0
    }

    override func event(at index: Int) -> ReadyEvent { ReadyEvent(token: token, readiness: .readable) }
}

/// Small pushes, as fast as they go.
private final class SmallPushes: PushDriver {
    let count: UInt64
    private var taken: UInt64 = 0
    private(set) var accepted: UInt64 = 0
    private(set) var ended: UInt64 = 0

    init(_ count: UInt64) { self.count = count }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        guard taken < count else { return .finished }
        ticket = PushTicket(sequence: taken, due: now)
        taken += 1
        return .push
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        (request.tokenLength, request.payloadLength) = (1, 2)
        request.token[0] = 0x61
        request.payload.update(repeating: 0x62, count: 2)
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64, body: UnsafeBufferPointer<UInt8>
    ) {
        ended += 1
        if case .accepted = outcome { accepted += 1 }
    }
}

@Suite struct ReadBatchTests {
    private func run(_ driver: PushDriver, _ loop: OneByOne, readBatch: UInt64, streams: Int) throws {
        var options = TransportOptions()
        options.streams = streams
        options.readBatch = readBatch
        let client = try PushClient(driver, over: loop, options: options)
        client.begin()
        var turns = 0
        while client.turn(waits: true), turns < 1_000_000 { turns += 1 }
        client.end()
        #expect(turns < 1_000_000)
    }

    @Test(
        "Answers that come one by one are read together, none later than the batch is long; without it, each as it comes"
    )
    func gathered() throws {
        for (batch, reads) in [(0, 1_900...2_100), (50_000, 300...420), (1_000_000, 10...60)]
            as [(UInt64, ClosedRange<Int>)]
        {
            let loop = OneByOne(interval: 10_000)
            let driver = SmallPushes(2_000)
            try run(driver, loop, readBatch: batch, streams: 500)
            #expect(driver.ended == 2_000 && driver.accepted == 2_000)
            #expect(reads.contains(loop.reads), "\(batch) ns: \(loop.reads) reads")
            #expect(loop.waited.allSatisfy { $0 <= batch }, "\(batch) ns: \(loop.waited.max() ?? 0) ns")
        }
    }

    @Test("Answers that come now and then wait for no others")
    func alone() throws {
        let loop = OneByOne(interval: 200_000)
        let driver = SmallPushes(500)
        try run(driver, loop, readBatch: 50_000, streams: 100)
        #expect(driver.accepted == 500 && loop.waited.allSatisfy { $0 == 0 })
    }
}
