import Networking

/// Finds the addresses of host names. Called on a thread that may wait.
protocol NameResolver: Sendable {
    /// At least one address.
    ///
    /// - Throws: why there is none.
    func addresses(of host: String, port: UInt16) throws(NetworkError) -> [SocketAddress]
}

/// The system's (getaddrinfo).
struct SystemResolver: NameResolver {
    func addresses(of host: String, port: UInt16) throws(NetworkError) -> [SocketAddress] {
        try SocketAddress.all(host: host, port: port)
    }
}
