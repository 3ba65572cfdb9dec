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
        let isClient = strncmp(line, "CLIENT_TRAFFIC_SECRET_0 ", 24) == 0
        guard isClient || strncmp(line, "SERVER_TRAFFIC_SECRET_0 ", 24) == 0, let space = strrchr(line, 0x20) else {
            return
        }
        let secret = Self.bytes(UnsafePointer(space + 1))
        if isClient { client = secret } else { server = secret }
    }

    /// Of pairs of digits up to the first other character.
    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        func digit(_ place: Int) -> UInt8? {
            let character = UInt8(bitPattern: text[place])
            if character &- 0x30 < 10 { return character &- 0x30 }
            let letter = character | 0x20
            return letter &- 0x61 < 6 ? letter &- 0x57 : nil
        }
        var bytes: [UInt8] = []
        while let high = digit(2 * bytes.count), let low = digit(2 * bytes.count + 1) { bytes.append(high << 4 | low) }
        return bytes
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
