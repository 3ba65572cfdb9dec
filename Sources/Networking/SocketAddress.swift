import Glibc

/// One resolved IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable, CustomStringConvertible {
    var storage: sockaddr_storage
    var length: socklen_t

    /// Resolves `host` (a name or a numeric address) for a TCP connection to `port`; the first address wins.
    ///
    /// - Throws: `NetworkError` of kind `.address` naming the host when it has no address.
    public init(host: String, port: UInt16) throws(NetworkError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var results: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &results)
        defer { if let results { freeaddrinfo(results) } }
        guard status == 0, let first = results?.pointee, let address = first.ai_addr else {
            throw NetworkError(.address, "no address for host \"\(host)\": \(String(cString: gai_strerror(status)))")
        }
        var storage = sockaddr_storage()
        memcpy(&storage, address, Int(first.ai_addrlen))
        self.storage = storage
        self.length = first.ai_addrlen
    }

    init(storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// The port, host byte order.
    public var port: UInt16 {
        withUnsafeBytes(of: storage) { raw in
            // sin_port and sin6_port both lie two bytes in, in network byte order.
            UInt16(raw[2]) << 8 | UInt16(raw[3])
        }
    }

    /// The address without the port: 4 bytes, or 16; an IPv4 address in an IPv6 one is itself.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: storage) { raw in
            guard family == AF_INET6 else { return Array(raw[4..<8]) }
            let address = Array(raw[8..<24])
            let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
            return address.starts(with: mapped) ? Array(address[12...]) : address
        }
    }

    /// `127.0.0.1:2197` or `[::1]:2197`.
    public var description: String {
        var copy = storage
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withUnsafePointer(to: &copy) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getnameinfo($0, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard status == 0 else { return "?" }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return family == AF_INET6 ? "[\(text)]:\(port)" : "\(text):\(port)"
    }

    package func withSockAddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
