import Glibc

/// TCP tunings of one side of a connection.
public struct SocketOptions: Sendable, Equatable {
    /// TCP_NODELAY: send small segments at once (Nagle's algorithm off). On by default.
    var noDelay: Bool
    /// SO_SNDBUF in bytes; nil leaves the kernel's own tuning.
    public var sendBuffer: Int?
    /// SO_RCVBUF in bytes; nil leaves the kernel's own tuning.
    public var receiveBuffer: Int?
    /// TCP_NOTSENT_LOWAT in bytes: what the kernel takes though it cannot send it yet; nil: what its buffers hold.
    public var mostUnsent: Int?

    /// For a server: peers that do not read hold 64 KiB of the kernel's memory each, which all connections of a host share. Without it
    /// 10,000 of them slow the others down to a fiftieth.
    public static let accepted: SocketOptions = {
        var options = SocketOptions()
        options.mostUnsent = 65_536
        return options
    }()

    public init(noDelay: Bool = true, sendBuffer: Int? = nil, receiveBuffer: Int? = nil) {
        self.noDelay = noDelay
        self.sendBuffer = sendBuffer
        self.receiveBuffer = receiveBuffer
    }

    func apply(to descriptor: Int32) {
        setInt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, noDelay ? 1 : 0)
        if let sendBuffer { setInt(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: sendBuffer)) }
        if let mostUnsent { setInt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Int32(clamping: mostUnsent)) }
        if let receiveBuffer { setInt(descriptor, SOL_SOCKET, SO_RCVBUF, Int32(clamping: receiveBuffer)) }
    }
}

func setInt(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
}

/// The pending error of a socket (SO_ERROR), 0 when there is none.
func pendingError(of descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
    return code
}
