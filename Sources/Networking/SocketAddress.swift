import Glibc

/// One resolved IPv4 or IPv6 address with a port.
public struct SocketAddress: Sendable, CustomStringConvertible {
    var storage: sockaddr_storage
    var length: socklen_t

    /// Resolves `host` (a name or a numeric address) for a TCP connection to `port`; the first address wins.
    ///
    /// - Throws: `NetworkError` of kind `.address` naming the host when it has no address.
    public init(host: String, port: UInt16) throws(NetworkError) { self = try Self.all(host: host, port: port)[0] }

    /// All addresses of a host, at least one, in the resolver's order.
    ///
    /// - Throws: `NetworkError` of kind `.address` naming the host when it has none.
    package static func all(host: String, port: UInt16) throws(NetworkError) -> [SocketAddress] {
        try all(host: host, port: port, flags: 0)
    }

    /// The address that `host` is; nil when it is a name.
    package static func numeric(host: String, port: UInt16) -> SocketAddress? {
        try? all(host: host, port: port, flags: AI_NUMERICHOST)[0]
    }

    private static func all(host: String, port: UInt16, flags: Int32) throws(NetworkError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var results: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &results)
        defer { if let results { freeaddrinfo(results) } }
        var found: [SocketAddress] = []
        var next = status == 0 ? results : nil
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                var storage = sockaddr_storage()
                memcpy(&storage, address, Int(entry.ai_addrlen))
                found.append(SocketAddress(storage: storage, length: entry.ai_addrlen))
            }
            next = entry.ai_next
        }
        guard !found.isEmpty else {
            throw NetworkError(.address, "no address for host \"\(host)\": \(String(cString: gai_strerror(status)))")
        }
        return found
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

    /// 127.0.0.0/8 and ::1: only this machine can reach it.
    package var isLoopback: Bool {
        let address = bytes
        return address.count == 4
            ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address[15] == 1
    }

    /// 127.0.0.0/8, ::1, and the address that stands for any of the machine's.
    package var isThisMachine: Bool {
        let address = bytes
        return address.count == 4
            ? address[0] == 127 || address == [0, 0, 0, 0]
            : address.dropLast().allSatisfy { $0 == 0 } && address[15] <= 1
    }

    /// In the networks registered to Apple: 17.0.0.0/8 and 2620:149::/36 (ARIN), 2403:300::/32 (APNIC), 2a01:b740::/32 (RIPE). In
    /// each of them APNs answers ("If your Apple devices aren't getting push notifications", support.apple.com).
    package var isApple: Bool {
        let address = bytes
        if address.count == 4 { return address[0] == 17 }
        switch Array(address.prefix(4)) {
        case [0x26, 0x20, 0x01, 0x49]: return address[4] < 0x10
        case [0x24, 0x03, 0x03, 0x00], [0x2a, 0x01, 0xb7, 0x40]: return true
        default: return false
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

    /// An address of the system's: nil when it is neither IPv4 nor IPv6.
    package init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = socklen_t(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        default: return nil
        }
        storage = sockaddr_storage()
        memcpy(&storage, address, Int(length))
    }

    package func withSockAddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
