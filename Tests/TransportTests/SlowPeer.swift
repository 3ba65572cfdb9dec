import Foundation
import Networking
import Signing

/// A server under TLS that is turned by hand, on the thread of its client. It takes from its sockets as many bytes as it is
/// told, so that a client with a small send buffer gets rid of what it has to say in pieces of any size.
final class SlowPeer {
    let address: SocketAddress
    let clientContext: TLSContext
    /// In the order they were accepted.
    private(set) var connections: [SlowConnection] = []
    private let listener: Listener
    private let serverContext: TLSContext

    init(_ version: TLSVersion) throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issueServer()
        var server = TLSOptions()
        server.identity = TLSIdentity(
            certificate: issued.certificate, key: issued.key, certificateOrigin: "c", keyOrigin: "k")
        serverContext = try TLSContext(.server, server)
        var client = TLSOptions()
        client.trustedCertificates = authority.certificatePEM()
        (client.minimumVersion, client.maximumVersion) = (version, version)
        clientContext = try TLSContext(.client, client)
        listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        address = listener.address
        // Accepted sockets inherit both: the kernel between the two ends holds less than a TLS record.
        Self.set(listener.descriptor, SOL_SOCKET, SO_RCVBUF, 4_096)
        Self.set(listener.descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, 1_000)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    func accept() throws {
        while case .descriptor(let descriptor) = listener.accept() {
            connections.append(try SlowConnection(descriptor, serverContext))
            // The first is the slow one.
            Self.set(listener.descriptor, SOL_SOCKET, SO_RCVBUF, 1 << 20)
        }
    }
}
