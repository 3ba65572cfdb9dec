import COpenSSL
import Foundation
import Signing
import TestSupport
import Testing

@testable import Networking

@Suite struct ByteStreamTests {
    private struct Pair {
        let client: ByteStream
        let server: ByteStream
    }

    private func contexts(
        trusted: [UInt8]? = nil, identity: TLSIdentity? = nil,
        clientVersions: (TLSVersion, TLSVersion) = (.v12, .v13),
        serverVersions: (TLSVersion, TLSVersion) = (.v12, .v13)
    ) throws -> (client: TLSContext, server: TLSContext) {
        let authority = try CertificateAuthority()
        let issued = try authority.issueServer()
        var server = TLSOptions()
        server.identity = TLSIdentity(
            certificate: issued.certificate, key: issued.key, certificateOrigin: "c", keyOrigin: "k")
        (server.minimumVersion, server.maximumVersion) = serverVersions
        var client = TLSOptions()
        client.trustedCertificates = trusted ?? authority.certificatePEM()
        client.identity = identity
        (client.minimumVersion, client.maximumVersion) = clientVersions
        return (try TLSContext(.client, client), try TLSContext(.server, server))
    }

    /// Connects two ends over loopback and shakes hands as far as it goes.
    private func connect(
        _ contexts: (client: TLSContext, server: TLSContext)?, name: String = "127.0.0.1",
        options: SocketOptions = SocketOptions(), gathering: BufferPool? = nil
    ) throws -> (pair: Pair, client: ConnectResult, server: ConnectResult) {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        let client = try SocketStream(
            connectingTo: listener.address, serverName: name, tls: contexts?.client, options: options,
            gathering: gathering)
        var accepted: Int32?
        for _ in 0..<1000 where accepted == nil {
            if case .descriptor(let descriptor) = listener.accept() { accepted = descriptor } else { usleep(1000) }
        }
        let server = try SocketStream(
            accepted: try #require(accepted), tls: contexts?.server, options: SocketOptions())
        var results = (ConnectResult.inProgress, ConnectResult.inProgress)
        for _ in 0..<2000 {
            if results.0 == .inProgress { results.0 = client.advance() }
            if results.1 == .inProgress { results.1 = server.advance() }
            if results.0 != .inProgress, results.1 != .inProgress { break }
            if results.0 == .failed || results.1 == .failed { usleep(2000) }
            usleep(200)
        }
        return (Pair(client: client, server: server), results.0, results.1)
    }

    /// Moves bytes from one end to the other, interleaving reads with writes.
    private func transfer(_ bytes: [UInt8], _ from: ByteStream, _ to: ByteStream) -> [UInt8] {
        var received: [UInt8] = []
        var sent = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<200_000 where received.count < bytes.count {
            if sent < bytes.count {
                let result = bytes.withUnsafeBufferPointer {
                    from.write($0.baseAddress! + sent, count: min(16_384, bytes.count - sent))
                }
                if case .bytes(let count) = result { sent += count }
            }
            if case .bytes(let count) = to.read(into: &buffer, capacity: buffer.count) { received += buffer[..<count] }
        }
        return received
    }

    @Test("Bytes arrive whole and in order, plain and over TLS 1.2 and 1.3", arguments: [nil, TLSVersion.v12, .v13])
    func integrity(_ version: TLSVersion?) throws {
        let tls = try version.map { try contexts(clientVersions: ($0, $0)) }
        let (pair, client, server) = try connect(tls)
        #expect(client == .done && server == .done)
        if let version { #expect(pair.client.tlsDescription?.hasPrefix("TLSv\(version.rawValue)") == true) }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        #expect(transfer(bytes, pair.client, pair.server) == bytes)
        #expect(transfer(Array(bytes.prefix(100_000)), pair.server, pair.client) == Array(bytes.prefix(100_000)))
        pair.client.finish()
        var byte: UInt8 = 0
        var result = IOResult.wouldBlock
        for _ in 0..<1000 where result == .wouldBlock {
            result = pair.server.read(into: &byte, capacity: 1)
            usleep(200)
        }
        #expect(result == .endOfStream)
    }

    @Test(
        "A peer that closes without close_notify ends the stream, in the midst of a record too; a record that was altered breaks it",
        arguments: [TLSVersion.v12, .v13])
    func vanished(_ version: TLSVersion) throws {
        let alteredRecord: [UInt8] = [0x17, 3, 3, 0, 64] + [UInt8](repeating: 7, count: 64)
        for (bytes, expected) in [
            ([], IOResult.endOfStream), (Array(alteredRecord.prefix(20)), .endOfStream), (alteredRecord, .failed),
        ] {
            var connected: Pair? = try connect(try contexts(clientVersions: (version, version))).pair
            let server = try #require(connected?.server)
            #expect(send(try #require(connected?.client.descriptor), bytes, bytes.count, 0) == bytes.count)
            connected = nil
            var byte: UInt8 = 0
            var result = IOResult.wouldBlock
            for _ in 0..<5000 where result == .wouldBlock {
                result = server.read(into: &byte, capacity: 1)
                usleep(200)
            }
            #expect(result == expected, "\(bytes.count) bytes: \(server.failure?.description ?? "no failure")")
            #expect(server.failure?.kind == (expected == .failed ? .io : nil))
        }
    }

    @Test("What the peer's kernel has taken is told from what still waits", arguments: [nil, TLSVersion.v13])
    func progress(_ version: TLSVersion?) throws {
        let (pair, client, _) = try connect(try version.map { try contexts(clientVersions: ($0, $0)) })
        #expect(client == .done)
        let bytes = [UInt8](repeating: 1, count: 16_384)
        while case .bytes = pair.client.write(bytes, count: bytes.count) {}
        let full = pair.client.progress
        #expect(full.taken > 0 && full.given > full.taken)
        var buffer = bytes
        for _ in 0..<10_000 where pair.client.progress.taken < full.given {
            if pair.server.read(into: &buffer, capacity: buffer.count) == .wouldBlock { usleep(1000) }
        }
        #expect(pair.client.progress == (full.given, full.given))
    }

    @Test("TLS is neither renegotiated nor compressed")
    func restrictions() throws {
        let contexts = try contexts()
        for context in [contexts.client, contexts.server] {
            // SSL_OP_NO_RENEGOTIATION and SSL_OP_NO_COMPRESSION, as <openssl/ssl.h> has them.
            let wanted: UInt64 = 1 << 30 | 1 << 17
            #expect(SSL_CTX_get_options(context.context) & wanted == wanted)
        }
    }

    @Test(
        "A client without ALPN is taken by a server, one that offers other protocols only is not, and a client wants h2",
        arguments: [TLSVersion.v12, .v13])
    func protocols(_ version: TLSVersion) throws {
        for (offer, expected) in [
            ([], ConnectResult.done), (["http/1.1"], .failed), (["http/1.1", "h2"], .done), (["h2c", "h3"], .failed),
        ] {
            let contexts = try contexts(clientVersions: (version, version))
            let wire = offer.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            #expect(SSL_CTX_set_alpn_protos(contexts.client.context, wire, UInt32(wire.count)) == 0)
            let (pair, client, server) = try connect(contexts)
            #expect(server == expected && client == (offer.contains("h2") ? .done : .failed), "\(offer)")
            if server == .done {
                #expect(pair.server.tlsDescription?.hasSuffix(" without ALPN") == offer.isEmpty, "\(offer)")
            }
            if offer.isEmpty { #expect(pair.client.failure?.kind == .alpn) }
        }
    }

    @Test(
        "Records gathered for one send arrive whole and in order, whatever the socket takes at a time",
        arguments: [TLSVersion.v12, .v13], [2_304, 50_000, 4_000_000])
    func gathering(_ version: TLSVersion, _ socketBuffer: Int) throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededRandom(seed)
        let pool = BufferPool(capacity: 131_072)
        let (pair, client, server) = try connect(
            try contexts(clientVersions: (version, version)), options: SocketOptions(sendBuffer: socketBuffer),
            gathering: pool)
        #expect(client == .done && server == .done)
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var received: [UInt8] = []
        var sent = 0
        // After .wouldBlock no fewer bytes may be given than before.
        var least = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<1_000_000 where received.count < bytes.count {
            if sent < bytes.count {
                let count = min(max(Int.random(in: 1...65_536, using: &random), least), bytes.count - sent)
                let result = bytes.withUnsafeBufferPointer { pair.client.write($0.baseAddress! + sent, count: count) }
                switch result {
                case .bytes(let taken):
                    #expect((1...count).contains(taken), "seed \(seed)")
                    sent += taken
                    least = max(least, count) - taken
                case .wouldBlock: least = max(least, count)
                case .endOfStream, .failed: Issue.record("\(result), seed \(seed)")
                }
            }
            // Told as gone is at most what the peer has or the kernel holds; reading now and then lets the socket fill.
            if sent == bytes.count || Int.random(in: 0..<3, using: &random) == 0,
                case .bytes(let count) = pair.server.read(into: &buffer, capacity: buffer.count)
            {
                received += buffer[..<count]
            }
        }
        #expect(sent == bytes.count && received == bytes, "seed \(seed), \(sent) sent, \(received.count) received")
    }

    @Test("A certificate of a foreign authority, or for another host, is not trusted")
    func untrusted() throws {
        let foreign = try CertificateAuthority().certificatePEM()
        let first = try connect(try contexts(trusted: foreign))
        #expect(first.client == .failed && first.pair.client.failure?.kind == .certificate)
        #expect(first.pair.client.failure?.description.hasSuffix("; give the CA that signed it (--cacert)") == true)
        let second = try connect(try contexts(), name: "example.com")
        #expect(second.client == .failed && second.pair.client.failure?.kind == .certificate)
        #expect(
            second.pair.client.failure?.description
                == "the server's certificate names localhost, 127.0.0.1, ::1, not example.com: use one of these in --target, "
                + "or a certificate for example.com")
        let third = try connect(try contexts(), name: "127.0.0.2")
        #expect(third.client == .failed && third.pair.client.failure?.kind == .certificate)
        #expect(
            third.pair.client.failure?.description.hasPrefix(
                "the server's certificate names localhost, 127.0.0.1, ::1, not 127.0.0.2: ") == true)
    }

    /// Reads until there is one, for a second.
    private func nextFailure(of stream: ByteStream) -> NetworkError? {
        var byte: UInt8 = 0
        for _ in 0..<5000 where stream.failure == nil {
            _ = stream.read(into: &byte, capacity: 1)
            usleep(200)
        }
        return stream.failure
    }

    @Test(
        "A server that requires a client certificate, or does not accept the client's, is named, in the handshake or after it",
        arguments: [TLSVersion.v12, .v13], [false, true])
    func clientCertificate(_ version: TLSVersion, _ hasCertificate: Bool) throws {
        let stranger = try CertificateAuthority().issueClient(topic: "com.example.app")
        let identity = TLSIdentity(
            certificate: stranger.certificate, key: stranger.key, certificateOrigin: "c", keyOrigin: "k")
        let contexts = try contexts(
            identity: hasCertificate ? identity : nil, clientVersions: (version, version))
        SSL_CTX_set_verify(contexts.server.context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        let ends = try connect(contexts)
        // TLS 1.3 is done for the client before the server has its certificate.
        #expect(ends.server == .failed && ends.client == (version == .v12 ? .failed : .done))
        let failure = try #require(nextFailure(of: ends.pair.client))
        #expect(failure.kind == .clientCertificate, "\(failure)")
        if hasCertificate {
            let said = "the server did not accept the client certificate (--cert): "
            #expect(failure.description.hasPrefix(said) && failure.description.hasSuffix("alert unknown ca"))
        } else {
            #expect(
                failure.description == "the server requires a client certificate: give one with --cert and --cert-key")
        }
    }

    @Test("An alert of certificates after the handshake of a server that asked for none is an error of TLS")
    func unaskedAlert() throws {
        let ends = try connect(try contexts(clientVersions: (.v13, .v13)))
        #expect(ends.server == .done && ends.client == .done)
        try #require(ends.pair.server as? SocketStream).say(42, level: 2)
        let failure = try #require(nextFailure(of: ends.pair.client))
        #expect(failure.kind == .tls && failure.description.hasSuffix("alert bad certificate"), "\(failure)")
    }

    @Test("A handshake that fails where no client certificate was asked for is no matter of certificates")
    func handshakeFailure() throws {
        let contexts = try contexts(clientVersions: (.v12, .v12))
        #expect(SSL_CTX_set_cipher_list(contexts.client.context, "ECDHE-ECDSA-AES128-GCM-SHA256") == 1)
        #expect(SSL_CTX_set_cipher_list(contexts.server.context, "ECDHE-ECDSA-AES256-GCM-SHA384") == 1)
        let ends = try connect(contexts)
        let failure = try #require(ends.pair.client.failure)
        #expect(ends.client == .failed && failure.kind == .tls, "\(failure)")
        #expect(failure.description.hasSuffix("alert handshake failure"), "\(failure)")
    }

    @Test("Of the names of a certificate a few are told, and how many there are more")
    func names() throws {
        let hosts = (0..<300).map { "host-\($0).example.com" }
        let issued = try CertificateAuthority().issueServer(hosts: hosts)
        let bio = try #require(
            issued.certificate.withUnsafeBytes { BIO_new_mem_buf($0.baseAddress, Int32($0.count)) })
        defer { BIO_free(bio) }
        let certificate = try #require(PEM_read_bio_X509(bio, nil, nil, nil))
        defer { X509_free(certificate) }
        let names = PeerCertificate.names(of: certificate)
        #expect(names.count == 6 && names.last == "298 more", "\(names)")
        #expect(names.prefix(5).allSatisfy { !$0.isEmpty && $0.utf8.count <= 80 })
    }

    @Test(
        "A TLS server without HTTP/2 is named, whether it refuses ALPN h2 or knows no ALPN", arguments: [true, false])
    func withoutHTTP2(_ refuses: Bool) throws {
        let contexts = try contexts()
        SSL_CTX_set_alpn_select_cb(
            contexts.server.context, refuses ? { _, _, _, _, _, _ in SSL_TLSEXT_ERR_ALERT_FATAL } : nil, nil)
        let ends = try connect(contexts)
        let failure = try #require(ends.pair.client.failure)
        #expect(ends.client == .failed && failure.kind == .alpn)
        let said =
            refuses
            ? "the server speaks TLS, but not HTTP/2 (it refused ALPN h2): turn HTTP/2 on there ("
            : "the server speaks TLS without ALPN, so not HTTP/2: turn HTTP/2 on there ("
        #expect(failure.description.hasPrefix(said), "\(failure)")
    }

    @Test("A plain end and a TLS end find out what the other is, each in words")
    func mixed() throws {
        let contexts = try contexts()
        func pair(client: TLSContext?, server: TLSContext?) throws -> Pair {
            let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
            let stream = try SocketStream(
                connectingTo: listener.address, serverName: "127.0.0.1", tls: client, options: SocketOptions())
            var accepted: Int32?
            for _ in 0..<10_000 where accepted == nil {
                if case .descriptor(let descriptor) = listener.accept() { accepted = descriptor } else { usleep(1000) }
            }
            return Pair(
                client: stream,
                server: try SocketStream(accepted: try #require(accepted), tls: server, options: SocketOptions()))
        }
        func until(_ isDone: () -> Bool) {
            for _ in 0..<10_000 {
                if isDone() { return }
                usleep(1000)
            }
        }
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 1000)
        let plain = try pair(client: nil, server: contexts.server)
        until { plain.client.advance() == .done }
        #expect(plain.client.write(preface, count: preface.count) == .bytes(preface.count))
        until { plain.server.advance() == .failed }
        #expect(plain.server.failure == NetworkError(.tls, "TLS handshake failed: the peer speaks no TLS"))
        var result = IOResult.wouldBlock
        until {
            result = plain.client.read(into: &buffer, capacity: buffer.count)
            return result != .wouldBlock
        }
        // A fatal alert, protocol_version.
        #expect(result == .bytes(7) && Array(buffer[..<7]) == [0x15, 3, 1, 0, 2, 2, 70])

        let secure = try pair(client: contexts.client, server: nil)
        until { secure.server.advance() == .done }
        // SETTINGS.
        let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]
        #expect(secure.server.write(settings, count: settings.count) == .bytes(settings.count))
        until { secure.client.advance() == .failed }
        #expect(secure.client.failure == NetworkError(.noTLS, "the server speaks no TLS: the target may be http://"))

        let silent = try pair(client: nil, server: nil)
        until { silent.client.advance() == .done && silent.server.advance() == .done }
        silent.server.finish()
        until { silent.client.read(into: &buffer, capacity: 1) == .failed }
        #expect(silent.client.failure?.kind == .closed)
        #expect(silent.client.failure?.description.hasSuffix("if it speaks TLS, the target is https://") == true)
    }

    @Test("Versions without overlap fail the handshake and say so")
    func versions() throws {
        let result = try connect(try contexts(clientVersions: (.v13, .v13), serverVersions: (.v12, .v12)))
        #expect(result.client == .failed && result.pair.client.failure?.kind == .tls)
    }

    @Test("A port where nobody listens refuses the connection")
    func refused() throws {
        let port = try Listener(host: "127.0.0.1", port: 0, shared: false).address
        let client = try SocketStream(connectingTo: port, serverName: "127.0.0.1", tls: nil, options: SocketOptions())
        var result = ConnectResult.inProgress
        for _ in 0..<1000 where result == .inProgress {
            result = client.advance()
            usleep(200)
        }
        #expect(result == .failed && client.failure == NetworkError(.refused, "connection refused"))
    }

    @Test("Keys, certificates, ciphers and addresses that cannot be used each get one line")
    func configuration() throws {
        func error(_ change: (inout TLSOptions) -> Void) -> String {
            var options = TLSOptions()
            change(&options)
            do {
                _ = try TLSContext(.client, options)
                return "accepted"
            } catch {
                return error.description
            }
        }
        #expect(
            error { $0.ciphers = "NOPE" }
                == "no TLS 1.2 cipher in \"NOPE\"; names are OpenSSL's, see `openssl ciphers -v`")
        let right = "expected for example TLS_AES_128_GCM_SHA256, several with : between them"
        for (suites, problem) in [
            ("NOPE", "\"NOPE\""), ("", "\"\""), (" ", "\" \""),
            ("TLS_AES_128_GCM_SHA256:NOPE", "\"NOPE\" in \"TLS_AES_128_GCM_SHA256:NOPE\""),
            ("TLS_AES_128_GCM_SHA256:", "\"\" in \"TLS_AES_128_GCM_SHA256:\""),
            ("ECDHE-ECDSA-AES128-GCM-SHA256", "\"ECDHE-ECDSA-AES128-GCM-SHA256\""),
        ] { #expect(error { $0.ciphersuites = suites } == "no TLS 1.3 cipher suite \(problem); \(right)") }
        #expect(
            error {
                $0.trustedCertificates = Array("x".utf8)
                $0.trustedOrigin = "ca.pem"
            } == "ca.pem: no PEM certificate found; expected -----BEGIN CERTIFICATE-----")
        let issued = try CertificateAuthority().issueServer()
        let other = try CertificateAuthority().issueServer()
        #expect(
            error {
                $0.identity = TLSIdentity(
                    certificate: issued.certificate, key: other.key, certificateOrigin: "a.pem", keyOrigin: "b.key")
            } == "b.key: this key does not belong to the certificate a.pem")
        #expect(
            error {
                $0.identity = TLSIdentity(certificate: [1], key: [2], certificateOrigin: "a.pem", keyOrigin: "b.key")
            } == "a.pem: not a PEM certificate; expected -----BEGIN CERTIFICATE-----")
        #expect(throws: NetworkError.self) { try SocketAddress(host: "no.such.host.invalid", port: 1) }
    }

    @Test("Another thread ends a wait")
    func wakeUp() throws {
        let reactor = try Reactor()
        let wakeUp = reactor.wakeUp
        Thread.detachNewThread { wakeUp.signal() }
        #expect(reactor.wait(timeout: nil) == 0)
    }
}
