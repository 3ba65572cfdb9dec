import Networking

/// One end of a link, as an engine or the mock holds it.
final class VirtualStream: ByteStream {
    let link: Link
    private let side: Link.Side
    private let world: World
    private let loop: VirtualLoop
    private let hidesInput: Bool
    private var number: Int32 = -1
    private var began: UInt64 = 0
    private var problem: NetworkError?
    private var isConnecting: Bool
    /// Read from the network, but not by the owner: as records inside TLS.
    private var hidden = 0
    /// Four TLS records.
    private static let mostHidden = 65_624
    /// What a write that was refused began with, and how much it was.
    private var refused: (bytes: [UInt8], count: Int)?

    init(_ link: Link, _ side: Link.Side, loop: VirtualLoop, world: World, hidesInput: Bool) {
        self.link = link
        self.side = side
        self.loop = loop
        self.world = world
        self.hidesInput = hidesInput
        isConnecting = side == .client
        super.init()
        number = loop.takeDescriptor(for: self)
    }

    deinit {
        link.close(side)
        loop.giveBack(number)
    }

    override var descriptor: Int32 { number }
    override var interest: Readiness { isConnecting ? [.readable, .writable] : .readable }
    override var hasBufferedInput: Bool { hidden > 0 }
    override var sendTime: UInt64 { began }
    override var failure: NetworkError? { problem }

    var readiness: Readiness { link.readiness(side, hidden: hidden) }

    override func advance() -> ConnectResult {
        if link.isConnected {
            isConnecting = false
            return .done
        }
        guard link.isConnectOver else { return .inProgress }
        problem = NetworkError(.refused, "connection refused")
        world.note(.refusedConnections)
        return .failed
    }

    override func read(into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        let result = link.read(side, into: buffer, capacity: capacity)
        switch result {
        case .bytes(let count):
            if hidesInput {
                hidden = min(link.unread(side), Self.mostHidden)
                if hidden > 0 { world.note(.tlsBuffers) }
            }
            if side == .client { link.books.didRead(buffer, count) }
        case .failed:
            problem = NetworkError(.reset, "connection reset by the peer")
            hidden = 0
            if side == .client { link.books.didFail(reading: true) }
        case .endOfStream:
            hidden = 0
            if side == .client { link.books.didEnd() }
        case .wouldBlock: hidden = 0
        }
        return result
    }

    override func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> IOResult {
        began = world.clock.read()
        if let refused {
            let isSame = UnsafeBufferPointer(start: bytes, count: min(count, refused.bytes.count))
                .elementsEqual(refused.bytes)
            world.check(
                isSame && count >= refused.count, "a write that was refused came again with other bytes, or fewer")
        }
        refused = nil
        let result = link.write(side, bytes, count)
        switch result {
        case .bytes(let taken): if side == .client { link.books.didWrite(bytes, taken, began: began) }
        case .wouldBlock:
            refused = (Array(UnsafeBufferPointer(start: bytes, count: min(count, 32))), count)
            if side == .client { link.books.isBlocked = true }
        default:
            problem = NetworkError(.reset, "connection reset by the peer")
            if side == .client { link.books.didFail(reading: false) }
        }
        return result
    }

    /// Its owner does not wait for it any more.
    func wasLetGo() { if side == .client { link.books.didClose() } }

    override func reset() { link.resetOnClose(side) }
    override func finish() { link.finish(side) }
}
