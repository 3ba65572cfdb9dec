import Glibc

/// Two TCP sockets on the loopback interface, connected to each other.
final class SocketPair {
    private let writer: Int32
    private let reader: Int32

    /// nil when the system has none; `errno` says why.
    init?() {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { return nil }
        defer { close(listener) }
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard client >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let server = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard bind(listener, address, length) == 0, listen(listener, 1) == 0,
                    getsockname(listener, address, &length) == 0, connect(client, address, length) == 0
                else { return -1 }
                return accept(listener, nil, nil)
            }
        }
        guard server >= 0 else {
            close(client)
            return nil
        }
        var one: Int32 = 1
        setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        writer = client
        reader = server
    }

    deinit {
        close(writer)
        close(reader)
    }

    /// Writes `count` bytes into one end and reads them from the other, over what was written; `count` is less than what the
    /// kernel holds for a socket.
    func pass(_ bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        var left = write(writer, bytes, count)
        while left > 0 {
            let taken = read(reader, bytes + (count - left), left)
            guard taken > 0 else { return }
            left -= taken
        }
    }
}
