import COpenSSL
import Glibc

/// The traffic secrets of a TLS 1.3 connection, as OpenSSL names them to whoever logs keys (`SSL_CTX_set_keylog_callback`).
struct TLSSecrets {
    /// As long as the hash of the cipher suite.
    private(set) var client: [UInt8] = []
    private(set) var server: [UInt8] = []

    /// Lets the sessions of a context tell theirs to the secrets they were given by `collect`.
    static func enable(_ context: OpaquePointer) {
        SSL_CTX_set_keylog_callback(context) { session, line in
            guard let session, let line, let data = SSL_get_ex_data(session, 0) else { return }
            data.assumingMemoryBound(to: TLSSecrets.self).pointee.take(line)
        }
    }

    /// - Parameter secrets: must outlive the handshake; nil: of no more use.
    static func collect(_ session: OpaquePointer, in secrets: UnsafeMutablePointer<TLSSecrets>?) {
        SSL_set_ex_data(session, 0, secrets)
    }

    /// `CLIENT_TRAFFIC_SECRET_0`, the client's random number and the secret, in hexadecimal (draft-ietf-tls-keylogfile); others
    /// are left out.
    mutating func take(_ line: UnsafePointer<CChar>) {
        let words = String(cString: line).split(separator: " ")
        guard words.count == 3 else { return }
        switch words[0] {
        case "CLIENT_TRAFFIC_SECRET_0": client = Self.bytes(words[2])
        case "SERVER_TRAFFIC_SECRET_0": server = Self.bytes(words[2])
        default: break
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8] {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// HKDF-Expand-Label with an empty context (RFC 8446, section 7.1), for no more bytes than the hash has.
    static func expand(_ secret: [UInt8], _ label: String, _ count: Int, _ hash: OpaquePointer) -> [UInt8] {
        let name = Array("tls13 \(label)".utf8)
        // HkdfLabel, and the number of HKDF-Expand's only block (RFC 5869, section 2.3).
        let input = [UInt8(count >> 8), UInt8(count & 255), UInt8(name.count)] + name + [0, 1]
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        HMAC(hash, secret, Int32(secret.count), input, input.count, &output, &length)
        return Array(output.prefix(count))
    }
}
