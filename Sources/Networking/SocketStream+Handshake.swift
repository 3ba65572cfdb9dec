import COpenSSL
import Glibc

/// What comes of a handshake.
extension SocketStream {
    /// Keeps what was agreed on. From here on OpenSSL has no part in TLS 1.3, but for ciphers that `TLSRecords` does not know, and
    /// records that are to be shorter than others (RFC 6066, section 4).
    func settle(_ tls: OpaquePointer) -> ConnectResult {
        suite = SSL_get_current_cipher(tls).flatMap { SSL_CIPHER_get_name($0) }
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

    /// RFC 9113 section 3.2: HTTP/2 over TLS is negotiated as `h2`. A client that speaks of no protocol at all may still begin
    /// with HTTP/2's preface, which is then what its server goes by: Apple's does, and Pushy sends no ALPN.
    private func checkALPN(_ tls: OpaquePointer) -> ConnectResult {
        hasALPN = choseHTTP2(tls)
        if hasALPN || isServer { return .done }
        fail(NetworkError(.alpn, "the peer did not choose HTTP/2 (ALPN h2)"))
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
            let reason = X509_verify_cert_error_string(verify).map { String(cString: $0) } ?? "\(verify)"
            return NetworkError(.certificate, "the peer's certificate is not trusted: \(reason)")
        }
        let code = ERR_peek_error()
        if speaksOtherThanTLS(code) {
            ERR_clear_error()
            guard isServer else {
                return NetworkError(.alpn, "the peer speaks no TLS: the target may be http://")
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

    /// The first bytes were no TLS record.
    private func speaksOtherThanTLS(_ code: UInt) -> Bool {
        [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST].contains(ERR_GET_REASON(code))
    }
}
