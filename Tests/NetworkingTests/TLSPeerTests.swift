import COpenSSL
import Foundation
import Glibc
import Signing
import TestSupport
import Testing

@testable import Networking

/// `SocketStream` beside an OpenSSL that does what peers may do after the handshake of TLS 1.3.
@Suite struct TLSPeerTests {
    /// OpenSSL itself on a descriptor.
    private final class OpenSSLPeer {
        let session: OpaquePointer
        let descriptor: Int32
        private let context: OpaquePointer

        /// - Parameter adjust: what the session is to be different in.
        init(_ tls: TLSContext, _ descriptor: Int32, isServer: Bool, adjust: (OpaquePointer) -> Void) throws {
            context = tls.context
            SSL_CTX_up_ref(context)
            self.descriptor = descriptor
            session = try #require(SSL_new(context))
            adjust(session)
            SSL_set_fd(session, descriptor)
            isServer ? SSL_set_accept_state(session) : SSL_set_connect_state(session)
        }

        deinit {
            SSL_free(session)
            SSL_CTX_free(context)
            close(descriptor)
        }

        /// Bytes that are there now.
        func read() -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = SSL_read(session, &buffer, Int32(buffer.count))
            return Array(buffer.prefix(Int(max(0, count))))
        }

        /// A record a call.
        func write(_ bytes: [UInt8]) {
            for start in stride(from: 0, to: bytes.count, by: 16_384) {
                let part = Array(bytes[start..<min(bytes.count, start + 16_384)])
                #expect(SSL_write(session, part, Int32(part.count)) == part.count)
            }
        }
    }

    enum Role: CaseIterable { case client, server }

    /// A stream in a role, and OpenSSL in the other, after the handshake.
    private func pair(
        _ role: Role, suites: String? = nil, pool: BufferPool? = nil, adjust: (OpaquePointer) -> Void = { _ in }
    ) throws -> (stream: SocketStream, peer: OpenSSLPeer) {
        let authority = try CertificateAuthority()
        let issued = try authority.issueServer()
        var server = TLSOptions()
        server.identity = TLSIdentity(
            certificate: issued.certificate, key: issued.key, certificateOrigin: "c", keyOrigin: "k")
        var client = TLSOptions()
        client.trustedCertificates = authority.certificatePEM()
        client.ciphersuites = suites
        server.ciphersuites = suites
        let contexts = (client: try TLSContext(.client, client), server: try TLSContext(.server, server))
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        let stream: SocketStream
        let peer: OpenSSLPeer
        func accepted() throws -> Int32 {
            for _ in 0..<5000 {
                if case .descriptor(let descriptor) = listener.accept() { return descriptor }
                usleep(1000)
            }
            throw NetworkError(.connect, "nobody came")
        }
        if role == .client {
            stream = try SocketStream(
                connectingTo: listener.address, serverName: "127.0.0.1", tls: contexts.client, options: SocketOptions(),
                gathering: pool)
            peer = try OpenSSLPeer(contexts.server, try accepted(), isServer: true, adjust: adjust)
        } else {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listener.address.withSockAddr { connect(descriptor, $0, $1) } == 0)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            peer = try OpenSSLPeer(contexts.client, descriptor, isServer: false, adjust: adjust)
            stream = try SocketStream(
                accepted: try accepted(), tls: contexts.server, options: SocketOptions(), gathering: pool)
        }
        var (own, other) = (ConnectResult.inProgress, Int32(0))
        for _ in 0..<5000 where own == .inProgress || other != 1 {
            if own == .inProgress { own = stream.advance() }
            if other != 1 { other = SSL_do_handshake(peer.session) }
            usleep(200)
        }
        try #require(own == .done && other == 1, "\(stream.failure as Any)")
        return (stream, peer)
    }

    /// What `read` gives, until there are so many bytes or its patience ends.
    private func wait(for count: Int, _ read: () -> [UInt8]) -> [UInt8] {
        var got: [UInt8] = []
        for _ in 0..<5000 where got.count < count {
            let bytes = read()
            got += bytes
            if bytes.isEmpty { usleep(500) }
        }
        return got
    }

    private func read(_ stream: SocketStream) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        guard case .bytes(let count) = stream.read(into: &buffer, capacity: buffer.count) else { return [] }
        return Array(buffer.prefix(count))
    }

    /// What comes where there are no bytes.
    private func nextResult(_ stream: SocketStream) -> IOResult {
        var byte: UInt8 = 0
        var result = IOResult.wouldBlock
        for _ in 0..<5000 where result == .wouldBlock {
            result = stream.read(into: &byte, capacity: 1)
            usleep(200)
        }
        return result
    }

    private func write(_ bytes: [UInt8], _ stream: SocketStream) {
        #expect(stream.write(bytes, count: bytes.count) == .bytes(bytes.count))
    }

    @Test(
        "Every suite works both ways, in both roles",
        arguments: ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"],
        Role.allCases)
    func suites(_ suite: String, _ role: Role) throws {
        let pool = BufferPool(capacity: 131_072)
        let (stream, peer) = try pair(role, suites: suite, pool: pool)
        #expect(stream.tlsDescription == "TLSv1.3 \(suite)")
        let bytes = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        write(bytes, stream)
        #expect(wait(for: bytes.count, peer.read).elementsEqual(bytes) as Bool)
        peer.write(Array(bytes.prefix(40_000)))
        #expect(wait(for: 40_000) { read(stream) }.elementsEqual(bytes.prefix(40_000)) as Bool)
        #expect(pool.lent == 0)
        stream.finish()
        for _ in 0..<5000 where SSL_get_shutdown(peer.session) == 0 {
            _ = peer.read()
            usleep(200)
        }
        #expect(SSL_get_shutdown(peer.session) == SSL_RECEIVED_SHUTDOWN)
        SSL_shutdown(peer.session)
        #expect(nextResult(stream) == .endOfStream)
    }

    @Test("A suite that is not known here stays with OpenSSL", arguments: Role.allCases)
    func otherSuite(_ role: Role) throws {
        let suite = "TLS_AES_128_CCM_SHA256"
        let (stream, peer) = try pair(role, suites: suite) { _ = SSL_set_ciphersuites($0, suite) }
        #expect(stream.tlsDescription == "TLSv1.3 \(suite)")
        write([1, 2, 3], stream)
        #expect(wait(for: 3, peer.read) == [1, 2, 3])
        peer.write([4, 5])
        #expect(wait(for: 2) { read(stream) } == [4, 5])
    }

    @Test("A client that wants short records gets no longer ones")
    func shortRecords() throws {
        let (stream, peer) = try pair(.server) { SSL_set_tlsext_max_fragment_length($0, 1) }
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        var sent = 0
        var got: [UInt8] = []
        for _ in 0..<5000 where got.count < bytes.count {
            if sent < bytes.count,
                case .bytes(let count) = stream.write(Array(bytes[sent...]), count: bytes.count - sent)
            {
                sent += count
            }
            got += peer.read()
        }
        #expect(got == bytes)
        peer.write([1, 2])
        #expect(wait(for: 2) { read(stream) } == [1, 2])
    }

    @Test("A peer's KeyUpdate is followed, and answered where it asks for that", arguments: Role.allCases)
    func keyUpdate(_ role: Role) throws {
        let (stream, peer) = try pair(role)
        for (round, kind) in [SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED, SSL_KEY_UPDATE_REQUESTED]
            .enumerated()
        {
            peer.write([UInt8(round)])
            #expect(SSL_key_update(peer.session, kind) == 1)
            peer.write([UInt8(round), 7])
            #expect(wait(for: 3) { read(stream) } == [UInt8(round), UInt8(round), 7])
            // The first of these has the answer before it.
            for byte in 0..<3 {
                write([UInt8(byte)], stream)
                #expect(wait(for: 1, peer.read) == [UInt8(byte)])
            }
        }
    }

    @Test("Padded records are read without their padding", arguments: Role.allCases)
    func padding(_ role: Role) throws {
        let (stream, peer) = try pair(role) { SSL_set_block_padding($0, 4096) }
        peer.write([1, 0, 0])
        #expect(wait(for: 3) { read(stream) } == [1, 0, 0])
    }

    @Test("A server's tickets are passed over")
    func tickets() throws {
        let (stream, peer) = try pair(.client) { SSL_set_num_tickets($0, 50) }
        peer.write([1, 2])
        #expect(wait(for: 2) { read(stream) } == [1, 2])
        write([3], stream)
        #expect(wait(for: 1, peer.read) == [3])
    }

    @Test("Who sends what was not sealed is told so by an alert", arguments: Role.allCases)
    func altered(_ role: Role) throws {
        let (stream, peer) = try pair(role)
        let record: [UInt8] = [0x17, 3, 3, 0, 64] + [UInt8](repeating: 7, count: 64)
        #expect(send(peer.descriptor, record, record.count, 0) == record.count)
        #expect(nextResult(stream) == .failed)
        #expect(stream.failure?.description == "TLS: decryption failed or bad record mac")
        ERR_clear_error()
        for _ in 0..<5000 where ERR_peek_error() == 0 {
            _ = peer.read()
            usleep(200)
        }
        #expect(ERR_GET_REASON(ERR_peek_error()) == SSL_R_SSLV3_ALERT_BAD_RECORD_MAC)
        ERR_clear_error()
    }

    @Test("A peer's fatal alert is an error of TLS with its name, and no reset", arguments: Role.allCases)
    func alert(_ role: Role) throws {
        let (stream, peer) = try pair(role)
        peer.write([1])
        #expect(wait(for: 1) { read(stream) } == [1])
        let record: [UInt8] = [0x17, 3, 3, 0, 64] + [UInt8](repeating: 7, count: 64)
        #expect(send(stream.descriptor, record, record.count, 0) == record.count)
        ERR_clear_error()
        for _ in 0..<5000 where ERR_peek_error() == 0 {
            _ = peer.read()
            usleep(200)
        }
        ERR_clear_error()
        #expect(nextResult(stream) == .failed)
        let failure = try #require(stream.failure)
        #expect(failure.kind == .tls && failure.description.hasSuffix("alert bad record mac"), "\(failure)")
    }
}
