@testable import HTTP2

/// The server's HTTP/2 of a `SlowConnection`: notes the pushes that came whole, and answers 200 when it is told to.
final class CollectingSession: NGHTTP2Server {
    /// By number, how often each push came whole.
    private(set) var received: [UInt64: Int] = [:]
    /// Numbers in the order in which their requests began.
    private(set) var order: [UInt64] = []
    /// Pushes whose payload was not the one their number stands for.
    private(set) var damaged: [UInt64] = []
    private var unanswered: [Int32] = []
    private var numbers: [Int32: UInt64] = [:]
    private var bodies: [Int32: [UInt8]] = [:]
    private var lastHandled = Int32.max
    private let answer = HeaderBlock(capacity: 1)

    init() {
        answer.add(":status", "200")
        var settings = SessionSettings()
        settings.maxConcurrentStreams = 1_000
        settings.connectionWindow = 16 << 20
        super.init(settings: settings)
    }

    var receivedSet: Set<UInt64> { Set(received.keys) }

    /// Answers the oldest requests, at most so many.
    func answer(_ count: Int) {
        for stream in unanswered.prefix(count) { submitResponse(answer, stream: stream, hasBody: false) }
        unanswered.removeFirst(min(count, unanswered.count))
    }

    /// Says GOAWAY: what has begun is handled, nothing else.
    func goAway() {
        lastHandled = lastStream
        submitGoAway(code: .noError)
    }

    /// Pushes that GOAWAY promised to handle.
    var promised: Set<UInt64> { Set(numbers.filter { $0.key <= lastHandled }.values) }

    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        guard nameLength == 5, name[1] == 0x70 else { return true }
        let path = String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
        let number = UInt64(path.split(separator: "/").last ?? "") ?? .max
        numbers[stream] = number
        order.append(number)
        return true
    }

    override func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {
        bodies[stream, default: []] += UnsafeBufferPointer(start: bytes, count: count)
    }

    override func didEndData(stream: Int32) {
        if stream > lastHandled { return }
        let number = numbers[stream] ?? .max
        received[number, default: 0] += 1
        if bodies.removeValue(forKey: stream)?[...] != NumberedDriver.payload(number) { damaged.append(number) }
        unanswered.append(stream)
    }
}
