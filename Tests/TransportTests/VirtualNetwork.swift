import HTTP2
import Networking

@testable import Transport

/// Time that passes only in waits, and where a test says so; connections to a peer that never answers a push.
final class VirtualLoop: EventLoop {
    var time: UInt64 = 1_000_000_000
    /// How long a write takes, ns.
    var writeCost: UInt64 = 0
    /// Nobody listens any more.
    var isRefusing = false
    var refusal = NetworkError.Kind.refused
    /// Peers of new connections say nothing, before `greet`.
    var isSilent = false
    /// Where nobody listens.
    var refusing: Set<String> = []
    /// Where connections were to be made, refused ones among them.
    private(set) var asked: [String] = []
    private(set) var streams: [VirtualStream] = []
    private var tokens: [Int32: UInt64] = [:]
    private var ready: [ReadyEvent] = []

    init() { super.init(wakeUp: WakeUp()) }

    override var now: UInt64 { time }

    override func connect(
        to address: SocketAddress, serverName: String, tls: TLSContext?, options: SocketOptions, gathering: BufferPool?
    ) throws(NetworkError) -> ByteStream {
        asked.append(address.description)
        if isRefusing || refusing.contains(address.description) { throw NetworkError(refusal, "refused") }
        let stream = VirtualStream(self, descriptor: Int32(streams.count), isSilent: isSilent)
        streams.append(stream)
        return stream
    }

    override func add(_ descriptor: Int32, token: UInt64, interest: Readiness) { tokens[descriptor] = token }

    override func wait(timeout: UInt64?) -> Int {
        ready = streams.compactMap { stream in
            stream.input.isEmpty && !stream.isHungUp
                ? nil : tokens[stream.descriptor].map { ReadyEvent(token: $0, readiness: .readable) }
        }
        if ready.isEmpty { time += timeout ?? 0 }
        ready = Array(ready.prefix(Self.mostEvents))
        return ready.count
    }

    override func rest(_ time: UInt64) { self.time += time }

    override func event(at index: Int) -> ReadyEvent { ready[index] }
}

/// A connection's bytes: what is written is only counted; the peer says its SETTINGS, and lets as much be sent as there can be.
final class VirtualStream: ByteStream {
    struct Write: Equatable {
        let time: UInt64
        let count: Int
    }

    private unowned let loop: VirtualLoop
    private let number: Int32
    private(set) var writes: [Write] = []
    var input: [UInt8]
    /// The peer has ended the connection, which is not read yet.
    var isHungUp = false
    /// How many bytes more the kernel takes, and how many the peer has.
    var (room, taken) = (Int.max, UInt64(0))
    private var given: UInt64 = 0
    private var sent: UInt64 = 0

    init(_ loop: VirtualLoop, descriptor: Int32, isSilent: Bool = false) {
        self.loop = loop
        number = descriptor
        input = []
        super.init()
        if !isSilent { greet() }
    }

    private(set) var hasGreeted = false

    /// The peer says its SETTINGS.
    func greet() {
        hasGreeted = true
        input = [UInt8](repeating: 0, count: 9 + 9 + 4)
        Frame.writeHeader(length: 0, type: Frame.settings, flags: 0, stream: 0, into: &input)
        var update = [UInt8](repeating: 0, count: 13)
        Frame.writeHeader(length: 4, type: Frame.windowUpdate, flags: 0, stream: 0, into: &update)
        update.replaceSubrange(9..., with: [0x70, 0, 0, 0])
        input.replaceSubrange(9..., with: update)
    }

    override var descriptor: Int32 { number }
    override var sendTime: UInt64 { sent }
    override var progress: (given: UInt64, taken: UInt64) { (given, taken) }

    override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        if isHungUp {
            isHungUp = false
            return .endOfStream
        }
        if input.isEmpty { return .wouldBlock }
        let count = input.count
        buffer.update(from: input, count: count)
        input = []
        return .bytes(count)
    }

    override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
        let count = min(count, room)
        if count == 0 { return .wouldBlock }
        if room != .max { room -= count }
        given += UInt64(count)
        sent = loop.time
        writes.append(Write(time: sent, count: count))
        loop.time += loop.writeCost
        return .bytes(count)
    }
}

extension PushClient {
    /// Over a loop of the tests', without TLS.
    ///
    /// - Parameter targets: nil: one.
    convenience init(
        _ driver: PushDriver, over loop: EventLoop, control: RunControl = RunControl(),
        options: TransportOptions = TransportOptions(), targets: [Target]? = nil, payloadCapacity: Int = 512
    ) throws {
        let address = try SocketAddress(host: "127.0.0.1", port: 1)
        try self.init(
            targets: targets ?? [Target(address: address, host: "a", authority: "a", tls: nil)], options: options,
            driver: driver, control: control, headerSets: [[("apns-topic", "t")]], tokenCapacity: 64,
            payloadCapacity: payloadCapacity, loop: loop)
    }
}
