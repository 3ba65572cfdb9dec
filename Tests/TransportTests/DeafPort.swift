import Foundation
import Networking

/// A port of 127.0.0.1 that is taken, so that nobody comes to listen on it, and refuses connections.
final class DeafPort {
    let address: SocketAddress
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard result == 0 else {
            let text = String(cString: strerror(errno))
            close(descriptor)
            throw NetworkError(.io, "cannot take a port: \(text)")
        }
        self.descriptor = descriptor
        address = try SocketAddress(host: "127.0.0.1", port: UInt16(bigEndian: name.sin_port))
    }

    deinit { close(descriptor) }
}
