import COpenSSL
import Glibc

/// One direction of a TLS 1.3 connection: its key, and the number of the record that comes next (RFC 8446, sections 5.2 and 5.3).
struct TLSDirection {
    /// Owned here.
    private let cipher: OpaquePointer
    private let hash: OpaquePointer
    private let keyLength: Int
    private var secret: [UInt8]
    /// The nonce's first four bytes, and what the record's number is mixed into.
    private var nonceStart: UInt32 = 0
    private var nonceEnd: UInt64 = 0
    private var sequence: UInt64 = 0

    /// Bytes before and after what a record holds: its header; its content's type and the authentication tag.
    static let headerSize = 5
    static let tagSize = 16
    static let overhead = headerSize + 1 + tagSize
    /// Most bytes of content, and most that may be sealed of it: padding counts.
    static let mostContent = 16_384
    static let mostSealed = mostContent + 256

    /// - Parameters:
    ///   - suite: OpenSSL's name of it.
    ///   - secret: the direction's traffic secret.
    /// - Returns: nil: not a suite that is known here, or no secret of its hash's length, or no memory.
    init?(suite: String, secret: [UInt8], seals: Bool) {
        let algorithm: OpaquePointer?
        switch suite {
        case "TLS_AES_256_GCM_SHA384": (algorithm, hash) = (EVP_aes_256_gcm(), EVP_sha384())
        case "TLS_AES_128_GCM_SHA256": (algorithm, hash) = (EVP_aes_128_gcm(), EVP_sha256())
        case "TLS_CHACHA20_POLY1305_SHA256": (algorithm, hash) = (EVP_chacha20_poly1305(), EVP_sha256())
        default: return nil
        }
        guard secret.count == Int(EVP_MD_get_size(hash)), let made = EVP_CIPHER_CTX_new() else { return nil }
        cipher = made
        self.secret = secret
        keyLength = Int(EVP_CIPHER_get_key_length(algorithm))
        guard EVP_CipherInit_ex(cipher, algorithm, nil, nil, nil, seals ? 1 : 0) == 1 else {
            EVP_CIPHER_CTX_free(cipher)
            return nil
        }
        setKey()
    }

    func free() { EVP_CIPHER_CTX_free(cipher) }

    private mutating func setKey() {
        let key = TLSSecrets.expand(secret, "key", keyLength, hash)
        let nonce = TLSSecrets.expand(secret, "iv", 12, hash)
        EVP_CipherInit_ex(cipher, nil, nil, key, nonce, -1)
        nonce.withUnsafeBytes {
            nonceStart = $0.loadUnaligned(as: UInt32.self)
            nonceEnd = UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        }
        sequence = 0
    }

    /// The keys after a KeyUpdate (section 7.2).
    mutating func update() {
        secret = TLSSecrets.expand(secret, "traffic upd", secret.count, hash)
        setKey()
    }

    /// Begins a record.
    @inline(__always)
    private mutating func begin(_ header: UnsafePointer<UInt8>) -> Bool {
        var nonce: (UInt32, UInt64, UInt32) = (0, 0, 0)
        return withUnsafeMutableBytes(of: &nonce) { bytes in
            bytes.storeBytes(of: nonceStart, as: UInt32.self)
            bytes.storeBytes(of: (nonceEnd ^ sequence).bigEndian, toByteOffset: 4, as: UInt64.self)
            sequence &+= 1
            var length: Int32 = 0
            return EVP_CipherInit_ex(cipher, nil, nil, nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), -1)
                == 1 && EVP_CipherUpdate(cipher, nil, &length, header, Int32(Self.headerSize)) == 1
        }
    }

    /// Writes a record.
    ///
    /// - Parameters:
    ///   - count: at most `mostContent`.
    ///   - output: room for `count` and `overhead` more; not the same memory.
    /// - Returns: bytes written; 0 when OpenSSL fails, which it does not.
    mutating func seal(
        _ content: UnsafePointer<UInt8>, _ count: Int, type: UInt8, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let sealed = count &+ 1 &+ Self.tagSize
        output[0] = TLSContent.data
        output[1] = 3
        output[2] = 3
        output[3] = UInt8(truncatingIfNeeded: sealed &>> 8)
        output[4] = UInt8(truncatingIfNeeded: sealed)
        let body = output + Self.headerSize
        var type = type
        var length: Int32 = 0
        guard begin(output), EVP_CipherUpdate(cipher, body, &length, content, Int32(count)) == 1,
            EVP_CipherUpdate(cipher, body + count, &length, &type, 1) == 1,
            EVP_CipherFinal_ex(cipher, body + count + 1, &length) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), body + count + 1) == 1
        else { return 0 }
        return Self.headerSize &+ sealed
    }

    /// Opens a record.
    ///
    /// - Parameters:
    ///   - record: with its header; all of it is there.
    ///   - sealed: bytes behind the header, at least `tagSize` and one.
    ///   - output: room for `sealed` less `tagSize`; the record's own body may be that. It holds nothing of worth after nil.
    /// - Returns: the content's type and bytes; nil: it is not what the peer has sealed. `type` 0: there was nothing but padding.
    mutating func open(
        _ record: UnsafeMutablePointer<UInt8>, _ sealed: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> (type: UInt8, count: Int)? {
        let body = record + Self.headerSize
        var count = sealed &- Self.tagSize
        var length: Int32 = 0
        guard begin(record), EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), body + count) == 1,
            EVP_CipherUpdate(cipher, output, &length, body, Int32(count)) == 1,
            EVP_CipherFinal_ex(cipher, output + count, &length) == 1
        else {
            ERR_clear_error()
            return nil
        }
        // Padding lies behind the type (section 5.4).
        repeat { count &-= 1 } while count > 0 && output[count] == 0
        return (output[count], count)
    }
}

/// What a record holds (RFC 8446, section 5.1).
enum TLSContent {
    static let alert: UInt8 = 21
    static let handshake: UInt8 = 22
    static let data: UInt8 = 23
}
