import HTTP2
import Networking

/// The client's side of answers alone, as the mock gives them: their frames parsed, their streams looked up, told and freed. For
/// benchmarks only.
///
/// Streams are taken in batches, without requests on them, and the answers of a batch lie one after the other, as one read brings
/// them.
public final class FrameParse {
    private final class Counter: ClientOwner {
        unowned(unsafe) let session: WireSession
        @exclusivity(unchecked) var sum: UInt64 = 0

        init(_ session: WireSession) { self.session = session }

        override func didEnd(_ index: Int, _ ending: StreamEnding) {
            guard case .answered(let status) = ending else { preconditionFailure("an answer is one") }
            sum &+= UInt64(status) &+ UInt64(session.streams.body(index).count)
        }
    }

    private static let batch = 64
    private let session: WireSession
    private let counter: Counter
    private let answers: UnsafeMutableBufferPointer<UInt8>
    /// Where the stream ids of each answer's frames lie.
    private var places: [[Int]] = []

    public init() {
        session = WireSession(
            RequestHead(authority: "a", isSecure: false, headerSets: [[]]), settings: SessionSettings(),
            streams: Self.batch, sendBuffers: BufferPool(capacity: 131_072))
        counter = Counter(session)
        var all: [UInt8] = []
        for number in 0..<Self.batch {
            var streams: [Int] = []
            for frame in Self.answer(isAccepted: number % 16 != 5) {
                streams.append(all.count + 5)
                all += frame
            }
            places.append(streams)
        }
        answers = .allocate(capacity: all.count)
        _ = answers.update(from: all)
        session.report(to: counter)
        let settings = Self.frame(Frame.settings, flags: 0, [])
        precondition(session.receive(settings, count: settings.count, now: 0) == nil)
    }

    deinit { answers.deallocate() }

    /// One of sixteen is rejected, with a body.
    private static func answer(isAccepted: Bool) -> [[UInt8]] {
        func text(_ value: String) -> [UInt8] { [UInt8(value.utf8.count)] + Array(value.utf8) }
        let identifier = [0x00] + text("apns-id") + text("01234567-89ab-4def-8123-456789abcdef")
        if isAccepted { return [frame(Frame.headers, flags: Frame.endHeaders | Frame.endStream, [0x88] + identifier)] }
        let body = "{\"reason\":\"BadDeviceToken\"}"
        return [
            frame(
                Frame.headers, flags: Frame.endHeaders,
                [0x8C] + identifier + [0x00] + text("content-type") + text("application/json")),
            frame(Frame.data, flags: Frame.endStream, Array(body.utf8)),
        ]
    }

    private static func frame(_ type: UInt8, flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Frame.headerLength)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: 0, into: &header)
        return header + payload
    }

    /// Reads the answers of `count` pushes, rounded up to batches, at most 1,000,000,000 in all; returns a number that
    /// depends on them.
    public func run(_ count: UInt64) -> UInt64 {
        let bytes = answers.baseAddress!
        var done: UInt64 = 0
        while done < count {
            places.withUnsafeBufferPointer { places in
                for frames in places {
                    let stream = UInt32(bitPattern: session.streams.entries[session.open()].id)
                    for place in frames { Frame.write32(stream, into: bytes + place) }
                }
            }
            let violation = session.receive(bytes, count: answers.count, now: 0)
            precondition(violation == nil && session.streams.used == 0, "the answers are right")
            done += UInt64(Self.batch)
        }
        return counter.sum
    }
}
