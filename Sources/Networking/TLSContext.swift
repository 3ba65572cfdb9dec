import COpenSSL
import Glibc

/// The oldest and newest TLS version to offer.
public enum TLSVersion: String, Sendable, CaseIterable {
    case v12 = "1.2"
    case v13 = "1.3"

    var code: Int32 { self == .v12 ? TLS1_2_VERSION : TLS1_3_VERSION }
}

/// A certificate chain and its key, as PEM bytes, and where they came from for error messages.
public struct TLSIdentity: Sendable {
    public let certificate: [UInt8]
    public let key: [UInt8]
    public let certificateOrigin: String
    public let keyOrigin: String

    public init(certificate: [UInt8], key: [UInt8], certificateOrigin: String, keyOrigin: String) {
        self.certificate = certificate
        self.key = key
        self.certificateOrigin = certificateOrigin
        self.keyOrigin = keyOrigin
    }
}

/// TLS settings of one side.
public struct TLSOptions: Sendable {
    public var minimumVersion: TLSVersion = .v12
    public var maximumVersion: TLSVersion = .v13
    /// OpenSSL cipher list for TLS 1.2, nil for OpenSSL's default.
    public var ciphers: String?
    /// OpenSSL cipher suites for TLS 1.3, nil for OpenSSL's default; a server takes the first of its own that the client offers, and
    /// where it names none, the first of the client's. With names its own order counts for TLS 1.2 too.
    public var ciphersuites: String?
    /// PEM certificates that are trusted to sign the peer's; nil: the system's (client), or no client certificates (server).
    public var trustedCertificates: [UInt8]?
    public var trustedOrigin = ""
    /// Client only: false accepts any certificate, and reads none to trust.
    package var verifyPeer = true
    /// Server only: a client certificate that cannot be trusted does not end the handshake; `PeerCertificate.problem` tells.
    public var acceptUntrustedClients = false
    /// Our own certificate: required for a server, mutual TLS for a client.
    public var identity: TLSIdentity?
    /// How many bytes OpenSSL asks the kernel for at once where it reads records (TLS 1.2); several are then decrypted from one read.
    public var readBuffer = 65_536
    /// Lets the kernel seal and open records.
    public var kernelTLS = false
    /// Server only: speaks HTTP/1.1 rather than HTTP/2.
    public var speaksHTTP1 = false
    /// Gives an idle connection's record buffers back to the allocator (TLS 1.2).
    public var releaseIdleBuffers = false

    public init() {}
}

/// An `SSL_CTX`, owned here, for one side. Safe to share: OpenSSL locks it, and it is not changed after init.
public final class TLSContext: @unchecked Sendable {
    public enum Side: Sendable { case client, server }

    /// What it was made of, for an engine with a TLS of its own.
    public let options: TLSOptions
    let context: OpaquePointer
    let side: Side
    let verifiesPeer: Bool

    public init(_ side: Side, _ options: TLSOptions) throws(NetworkError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(side == .client ? TLS_client_method() : TLS_server_method()) else {
            throw NetworkError(.configuration, "OpenSSL cannot make a TLS context: \(opensslErrorText())")
        }
        self.options = options
        self.context = context
        self.side = side
        self.verifiesPeer = side == .client && options.verifyPeer
        // From here on deinit frees the context, also when a step below throws.
        guard pushload_SSL_CTX_set_min_proto_version(context, options.minimumVersion.code) == 1,
            pushload_SSL_CTX_set_max_proto_version(context, options.maximumVersion.code) == 1
        else {
            throw NetworkError(.configuration, "OpenSSL does not offer the TLS versions asked for")
        }
        if let ciphers = options.ciphers, SSL_CTX_set_cipher_list(context, ciphers) != 1 {
            throw NetworkError(
                .configuration, "no TLS 1.2 cipher in \"\(ciphers)\"; names are OpenSSL's, see `openssl ciphers -v`")
        }
        if let suites = options.ciphersuites {
            // OpenSSL leaves names out that it does not know, and takes an empty text for a client that offers nothing.
            for suite in suites.split(separator: ":", omittingEmptySubsequences: false)
            where
                suite.isEmpty || SSL_CTX_set_ciphersuites(context, String(suite)) != 1
            {
                let list = suites.contains(":") ? " in \"\(suites)\"" : ""
                throw NetworkError(
                    .configuration,
                    "no TLS 1.3 cipher suite \"\(suite)\"\(list); expected for example TLS_AES_128_GCM_SHA256, several with : between them"
                )
            }
            _ = SSL_CTX_set_ciphersuites(context, suites)
            ERR_clear_error()
        }
        if side == .server, options.ciphersuites != nil {
            _ = SSL_CTX_set_options(context, pushload_SSL_OP_SERVER_ORDER)
        }
        var mode = Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        if options.releaseIdleBuffers { mode |= Int(SSL_MODE_RELEASE_BUFFERS) }
        _ = pushload_SSL_CTX_set_mode(context, mode)
        // What lies behind the handshake's last message is left in the socket, for `TLSRecords`.
        _ = pushload_SSL_CTX_set_read_ahead(context, options.kernelTLS ? 1 : 0)
        if !options.kernelTLS { TLSSecrets.enable(context) }
        SSL_CTX_set_default_read_buffer_len(context, options.readBuffer)
        // TLS-level renegotiation is forbidden in HTTP/2 (RFC 9113 section 9.2.1); compression is a leak (section 9.2).
        _ = SSL_CTX_set_options(context, pushload_SSL_OP_HTTP2)
        if options.kernelTLS {
            if let problem = KernelTLS.problem { throw NetworkError(.configuration, problem) }
            _ = SSL_CTX_set_options(context, pushload_SSL_OP_ENABLE_KTLS)
        }
        try setTrust(options)
        try setIdentity(options)
        try setALPN()
    }

    deinit { SSL_CTX_free(context) }

    private func setTrust(_ options: TLSOptions) throws(NetworkError) {
        if let pem = options.trustedCertificates {
            let count = addTrusted(pem)
            guard count > 0 else {
                throw NetworkError(
                    .configuration,
                    "\(options.trustedOrigin): no PEM certificate found; expected -----BEGIN CERTIFICATE-----")
            }
        } else if side == .client, options.verifyPeer {
            _ = SSL_CTX_set_default_verify_paths(context)
        }
        if side == .client {
            SSL_CTX_set_verify(context, options.verifyPeer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
            _ = pushload_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        } else {
            // A client certificate is asked for when there is somebody to trust; whether one is needed is APNs' rule.
            SSL_CTX_set_verify(
                context, options.trustedCertificates == nil ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                options.acceptUntrustedClients ? { _, _ in 1 } : nil)
            _ = pushload_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
            _ = SSL_CTX_set_num_tickets(context, 0)
        }
    }

    /// Adds every certificate of a PEM text to the trusted ones; returns how many there were.
    private func addTrusted(_ pem: [UInt8]) -> Int {
        guard let bio = pem.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }) else { return 0 }
        defer { BIO_free(bio) }
        let store = SSL_CTX_get_cert_store(context)
        var count = 0
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            if X509_STORE_add_cert(store, certificate) == 1 { count += 1 }
            X509_free(certificate)
        }
        ERR_clear_error()
        return count
    }

    private func setIdentity(_ options: TLSOptions) throws(NetworkError) {
        guard let identity = options.identity else {
            if side == .server { throw NetworkError(.configuration, "a TLS server needs a certificate and a key") }
            return
        }
        guard let bio = identity.certificate.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) })
        else { throw NetworkError(.configuration, "out of memory") }
        defer { BIO_free(bio) }
        guard let leaf = PEM_read_bio_X509(bio, nil, nil, nil) else {
            ERR_clear_error()
            throw NetworkError(
                .configuration,
                "\(identity.certificateOrigin): not a PEM certificate; expected -----BEGIN CERTIFICATE-----")
        }
        let used = SSL_CTX_use_certificate(context, leaf)
        X509_free(leaf)
        guard used == 1 else {
            throw NetworkError(
                .configuration, "\(identity.certificateOrigin): certificate refused: \(opensslErrorText())")
        }
        while let link = PEM_read_bio_X509(bio, nil, nil, nil) {
            // Takes ownership of `link`.
            if SSL_CTX_ctrl(context, Int32(SSL_CTRL_CHAIN_CERT), 0, UnsafeMutableRawPointer(link)) != 1 {
                X509_free(link)
                break
            }
        }
        ERR_clear_error()
        guard let keyBio = identity.key.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) })
        else { throw NetworkError(.configuration, "out of memory") }
        defer { BIO_free(keyBio) }
        guard let key = PEM_read_bio_PrivateKey(keyBio, nil, { _, _, _, _ in 0 }, nil) else {
            ERR_clear_error()
            throw NetworkError(
                .configuration, "\(identity.keyOrigin): not an unencrypted PEM private key; expected PKCS#8")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw NetworkError(
                .configuration,
                "\(identity.keyOrigin): this key does not belong to the certificate \(identity.certificateOrigin)")
        }
    }

    private static let http1 = Array("http/1.1".utf8)
    private static let http2 = Array("h2".utf8)

    /// Offers, or picks, `h2` only: RFC 9113 section 3.2; a server that speaks HTTP/1.1 too picks that where `h2` is not offered (RFC
    /// 7301). A client that offers other protocols only is refused.
    private func setALPN() throws(NetworkError) {
        if side == .client {
            let wire = [UInt8(Self.http2.count)] + Self.http2
            guard SSL_CTX_set_alpn_protos(context, wire, UInt32(wire.count)) == 0 else {
                throw NetworkError(.configuration, "OpenSSL refused ALPN h2")
            }
        } else if options.speaksHTTP1 {
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, out, length, offered, count, _ in
                    let picked = TLSContext.pick(TLSContext.http2, out, length, offered, count)
                    return picked == SSL_TLSEXT_ERR_OK
                        ? picked : TLSContext.pick(TLSContext.http1, out, length, offered, count)
                }, nil)
        } else {
            SSL_CTX_set_alpn_select_cb(
                context,
                { _, out, length, offered, count, _ in TLSContext.pick(TLSContext.http2, out, length, offered, count) },
                nil)
        }
    }

    /// Picks a protocol where it is among those offered.
    private static func pick(
        _ wanted: [UInt8], _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ outLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
    ) -> Int32 {
        guard let offered, let out, let outLength else { return Int32(SSL_TLSEXT_ERR_ALERT_FATAL) }
        var position = 0
        let end = Int(offeredLength)
        while position < end {
            let length = Int(offered[position])
            guard position + 1 + length <= end else { break }
            if UnsafeBufferPointer(start: offered + position + 1, count: length).elementsEqual(wanted) {
                out.pointee = offered + position + 1
                outLength.pointee = UInt8(length)
                return Int32(SSL_TLSEXT_ERR_OK)
            }
            position += 1 + length
        }
        return Int32(SSL_TLSEXT_ERR_ALERT_FATAL)
    }
}

/// The first queued OpenSSL error as text; clears the queue.
func opensslErrorText() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return "no reason given" }
    if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
    return "error \(code)"
}
