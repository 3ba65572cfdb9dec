#if NIO
    import Networking
    import NIOCore
    import NIOSSL

    extension TLSOptions {
        /// The same settings for NIOSSL, whose BoringSSL names TLS 1.2 ciphers as OpenSSL does.
        ///
        /// - Throws: `NetworkError` of kind `.configuration` when NIOSSL cannot use them; TLS 1.3 cipher suites cannot be
        ///   chosen in BoringSSL.
        func makeNIOContext() throws(NetworkError) -> NIOSSLContext {
            if let ciphersuites {
                throw NetworkError(
                    .configuration,
                    "TLS 1.3 cipher suites \"\(ciphersuites)\": engine nio cannot choose them; leave them out, or use wire"
                )
            }
            do {
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.minimumTLSVersion = minimumVersion == .v12 ? .tlsv12 : .tlsv13
                configuration.maximumTLSVersion = maximumVersion == .v12 ? .tlsv12 : .tlsv13
                if let ciphers { configuration.cipherSuites = ciphers }
                if let trustedCertificates {
                    configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(trustedCertificates))
                }
                configuration.certificateVerification = verifyPeer ? .fullVerification : .none
                configuration.applicationProtocols = ["h2"]
                if let identity {
                    configuration.certificateChain =
                        try NIOSSLCertificate.fromPEMBytes(identity.certificate).map { .certificate($0) }
                    configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: identity.key, format: .pem))
                }
                // How long a closing connection waits for the peer's close_notify.
                configuration.shutdownTimeout = .seconds(1)
                return try NIOSSLContext(configuration: configuration)
            } catch {
                throw NetworkError(.configuration, "NIOSSL cannot use these TLS settings: \(error)")
            }
        }
    }
#endif
