import COpenSSL
import Glibc

/// What comes of a handshake.
extension SocketStream {
    /// Keeps what was agreed on. From here on OpenSSL has no part in TLS 1.3, but for ciphers that `TLSRecords` does not know, and
    /// records that are to be shorter than others (RFC 6066, section 4).
    func settle(_ tls: OpaquePointer) -> ConnectResult {
        suite = SSL_get_current_cipher(tls).flatMap { SSL_CIPHER_get_name($0) }
        isAskedForCertificate = !isServer && Self.asksForCertificate(tls)
        if isServer {
            shown = SSL_get1_peer_certificate(tls)
            verification = SSL_get_verify_result(tls)
        }
        let result = checkALPN(tls)
        let hasShortRecords = SSL_get_session(tls).map { SSL_SESSION_get_max_fragment_length($0) != 0 } ?? false
        if SSL_version(tls) == TLS1_3_VERSION, !hasShortRecords, let secrets, let suite, let buffers,
            let records = TLSRecords(
                suite: String(cString: suite), secrets: secrets.pointee, isServer: isServer, pool: buffers)
        {
            let own = UnsafeMutablePointer<TLSRecords>.allocate(capacity: 1)
            own.initialize(to: records)
            tls13 = own
            endHandshake()
        } else {
            freeSecrets()
            if context?.options.kernelTLS == false { SSL_set_read_ahead(tls, 1) }
        }
        return result
    }

    private static let howToTurnOnHTTP2 =
        ": turn HTTP/2 on there (nginx: http2 on, before 1.25.1 listen … ssl http2; haproxy: alpn h2; Node: http2.createSecureServer)"

    /// RFC 9113 section 3.2: HTTP/2 over TLS is negotiated as `h2`. A client that speaks of no protocol at all may still begin
    /// with HTTP/2's preface, which is then what its server goes by: Apple's does, and Pushy sends no ALPN.
    private func checkALPN(_ tls: OpaquePointer) -> ConnectResult {
        hasALPN = choseHTTP2(tls)
        if hasALPN || isServer { return .done }
        fail(NetworkError(.alpn, "the server speaks TLS without ALPN, so not HTTP/2" + Self.howToTurnOnHTTP2))
        return .failed
    }

    /// False for a server only when the client offered nothing: an offer without `h2` ends the handshake (`TLSContext`).
    private func choseHTTP2(_ tls: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(tls, &name, &length)
        guard length == 2, let name else { return false }
        return name[0] == 0x68 && name[1] == 0x32
    }

    func handshakeError(_ tls: OpaquePointer) -> NetworkError {
        let system = errno
        let verify = SSL_get_verify_result(tls)
        if context?.verifiesPeer == true, verify != X509_V_OK {
            ERR_clear_error()
            return NetworkError(.certificate, distrust(tls, verify))
        }
        let code = ERR_peek_error()
        if !isServer, ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL {
            ERR_clear_error()
            return NetworkError(
                .alpn, "the server speaks TLS, but not HTTP/2 (it refused ALPN h2)" + Self.howToTurnOnHTTP2)
        }
        // A TLS 1.2 server checks the certificate within the handshake. If it asked for none, these alerts mean something else.
        if !isServer, let alert = Self.peerAlert(code), Self.isOfCertificates(alert),
            alert == TLS13_AD_CERTIFICATE_REQUIRED || Self.asksForCertificate(tls)
        {
            return certificateRefusal(opensslErrorText())
        }
        if speaksOtherThanTLS(code) {
            ERR_clear_error()
            guard isServer else {
                return NetworkError(.noTLS, "the server speaks no TLS: the target may be http://")
            }
            // OpenSSL says nothing to such a peer; protocol_version (RFC 8446 section 6) tells it what it has come upon.
            let alert: [UInt8] = [0x15, 0x03, 0x01, 0, 2, 2, 70]
            _ = port.pointee.transmit(alert, alert.count)
            return NetworkError(.tls, "TLS handshake failed: the peer speaks no TLS")
        }
        if code == 0 {
            return system == ECONNRESET || system == EPIPE
                ? NetworkError(.tls, "TLS handshake failed: the peer reset the connection")
                : NetworkError(.tls, "TLS handshake failed: the peer closed the connection")
        }
        return NetworkError(.tls, "TLS handshake failed: \(opensslErrorText())")
    }

    /// The peer's fatal alert (RFC 8446 section 6.2) behind an error of OpenSSL's; nil: the error is another one.
    static func peerAlert(_ code: UInt) -> Int32? {
        let alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET
        return (0...255).contains(alert) ? alert : nil
    }

    /// Alerts for a client certificate that is missing or not accepted (RFC 8446 section 6.2): handshake_failure, bad_certificate to
    /// certificate_unknown, unknown_ca, access_denied, certificate_required.
    static func isOfCertificates(_ alert: Int32) -> Bool { [40, 42, 43, 44, 45, 46, 48, 49, 116].contains(alert) }

    /// The server has sent a CertificateRequest: without one it has told no signature algorithms (RFC 8446 section 4.3.2, RFC 5246 section
    /// 7.4.4).
    static func asksForCertificate(_ tls: OpaquePointer) -> Bool {
        SSL_get_sigalgs(tls, -1, nil, nil, nil, nil, nil) > 0
    }

    /// The server requires a client certificate, or did not accept ours.
    ///
    /// - Parameter alert: OpenSSL's words for it.
    func certificateRefusal(_ alert: String) -> NetworkError {
        NetworkError(
            .clientCertificate,
            context?.options.identity == nil
                ? "the server requires a client certificate: give one with --cert and --cert-key"
                : "the server did not accept the client certificate (--cert): \(alert)")
    }

    /// Why the server's certificate is not trusted, and what to do about it, one line.
    private func distrust(_ tls: OpaquePointer, _ verify: Int) -> String {
        switch Int32(truncatingIfNeeded: verify) {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            // The leaf comes first (RFC 8446 section 4.4.2).
            let names =
                SSL_get_peer_cert_chain(tls).flatMap { OPENSSL_sk_value($0, 0) }
                .map { PeerCertificate.names(of: OpaquePointer($0)) } ?? []
            if names.isEmpty { return "the server's certificate names no host: use one that names \(serverName)" }
            let list = names.map { $0.isEmpty ? "\"\"" : $0 }.joined(separator: ", ")
            // An address counts as one only where the certificate says so (RFC 6125, section 1.7.2).
            if names.contains(serverName) {
                return "the server's certificate names \(list), but not as an IP address: use one with "
                    + "subjectAltName IP:\(serverName)"
            }
            return "the server's certificate names \(list), not \(serverName): use one of these in --target, or a "
                + "certificate for \(serverName)"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return
                "the server's certificate is not trusted: \(Self.reason(verify)); give the CA that signed it (--cacert)"
        default: return "the server's certificate is not trusted: \(Self.reason(verify))"
        }
    }

    private static func reason(_ verify: Int) -> String {
        X509_verify_cert_error_string(verify).map { String(cString: $0) } ?? "error \(verify)"
    }

    /// The first bytes were no TLS record.
    private func speaksOtherThanTLS(_ code: UInt) -> Bool {
        [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST].contains(ERR_GET_REASON(code))
    }
}
