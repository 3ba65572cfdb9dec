import CEpoll
import Glibc

/// A listening TCP socket. Several on one port (SO_REUSEPORT) let every thread accept for itself.
public final class Listener {
    public let descriptor: Int32
    public let address: SocketAddress

    /// Listens on `host:port`; port 0 lets the kernel choose.
    ///
    /// - Throws: `NetworkError` naming the address when it cannot be bound.
    public init(host: String, port: UInt16, shared: Bool, backlog: Int32 = 4096) throws(NetworkError) {
        let wanted = try SocketAddress(host: host, port: port)
        let descriptor = socket(
            wanted.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw NetworkError(.io, "socket: \(systemErrorText(errno))") }
        setInt(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if shared { setInt(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
        let bound = wanted.withSockAddr { bind(descriptor, $0, $1) }
        guard bound == 0, listen(descriptor, backlog) == 0 else {
            let text = systemErrorText(errno)
            close(descriptor)
            throw NetworkError(.io, "cannot listen on \(wanted): \(text)")
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        self.descriptor = descriptor
        self.address = SocketAddress(storage: storage, length: length)
    }

    /// As many listeners on one port: the kernel spreads who connects over them by a hash of the addresses. None of them is there when
    /// another process listens there, even one of the same user.
    ///
    /// - Parameter port: 0 lets the kernel choose, for all of them.
    /// - Throws: `NetworkError` naming the address when it cannot be bound.
    public static func group(host: String, port: UInt16, count: Int) throws(NetworkError) -> [Listener] {
        // The first one listens by itself, which the kernel refuses where anybody else does; only then are others let in.
        let first = try Listener(host: host, port: port, shared: false)
        guard count > 1 else { return [first] }
        setInt(first.descriptor, SOL_SOCKET, SO_REUSEPORT, 1)
        var listeners = [first]
        for _ in 1..<count { listeners.append(try Listener(host: host, port: first.address.port, shared: true)) }
        return listeners
    }

    deinit { close(descriptor) }

    /// What `accept` found.
    public enum Accepted {
        case descriptor(Int32)
        /// Nobody waits.
        case none
        /// The process or system has no descriptor left; try again when a connection has closed.
        case exhausted
    }

    public func accept() -> Accepted {
        while true {
            let accepted = accept4(descriptor, nil, nil, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
            if accepted >= 0 { return .descriptor(accepted) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .none
            }
        }
    }
}
