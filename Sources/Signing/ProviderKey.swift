import COpenSSL
import Settings

/// An ES256 key (ECDSA on P-256); owns the `EVP_PKEY`. Safe to share: it is not changed after init, and every signature
/// uses a context of its own.
public final class ProviderKey: @unchecked Sendable {
    let key: OpaquePointer

    private init(owning key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(key) }

    /// A fresh random key.
    public static func ephemeral() throws(SigningError) -> ProviderKey {
        guard let key = pushload_generate_p256() else {
            throw SigningError("OpenSSL cannot make a P-256 key: \(takeOpenSSLError())")
        }
        return ProviderKey(owning: key)
    }

    /// Reads the private key Apple hands out as `AuthKey_<key id>.p8`: PKCS#8 PEM, unencrypted, curve P-256.
    ///
    /// - Parameter origin: the file's name, for error messages.
    public convenience init(pem: [UInt8], origin: String) throws(SigningError) {
        let pem = PEMText.mended(pem)
        let text = String(decoding: pem, as: UTF8.self)
        guard !pem.isEmpty else { throw SigningError("\(origin): the file is empty; expected a PKCS#8 PEM key (.p8)") }
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
            throw SigningError(
                "\(origin): the key is encrypted; decrypt it first: openssl pkcs8 -in \(origin) -out plain.p8")
        }
        if text.contains("BEGIN PUBLIC KEY") {
            throw SigningError("\(origin): this is a public key; expected the private key (.p8)")
        }
        if text.contains("BEGIN CERTIFICATE") {
            throw SigningError("\(origin): this is a certificate; expected a PKCS#8 PEM key (.p8)")
        }
        guard text.contains("-----BEGIN ") else {
            throw SigningError("\(origin): not PEM; expected -----BEGIN PRIVATE KEY----- on the first line")
        }
        guard text.contains("-----END ") else {
            throw SigningError("\(origin): the key is truncated: there is no -----END PRIVATE KEY----- line")
        }
        let read = pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
        }
        guard let read else {
            throw SigningError("\(origin): the key is damaged (\(takeOpenSSLError())); download or export it again")
        }
        do {
            try Self.requireP256(read, origin: origin)
        } catch {
            EVP_PKEY_free(read)
            throw error
        }
        self.init(owning: read)
    }

    /// Reads a public key (`-----BEGIN PUBLIC KEY-----`), enough to verify with.
    public static func publicKey(pem: [UInt8], origin: String) throws(SigningError) -> ProviderKey {
        let read = PEMText.mended(pem).withUnsafeBytes { bytes -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PUBKEY(bio, nil, nil, nil)
        }
        guard let read else {
            _ = takeOpenSSLError()
            throw SigningError("\(origin): not a PEM public key; expected -----BEGIN PUBLIC KEY-----")
        }
        do {
            try requireP256(read, origin: origin)
        } catch {
            EVP_PKEY_free(read)
            throw error
        }
        return ProviderKey(owning: read)
    }

    private static func requireP256(_ key: OpaquePointer, origin: String) throws(SigningError) {
        let isEC = EVP_PKEY_is_a(key, "EC") == 1
        guard isEC else {
            let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "another algorithm"
            throw SigningError("\(origin): this is a key for \(name); ES256 needs an EC key on curve P-256")
        }
        var group = [CChar](repeating: 0, count: 64)
        var length = 0
        _ = EVP_PKEY_get_group_name(key, &group, group.count, &length)
        let curve = String(decoding: group.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard curve == "prime256v1" || curve == "P-256" else {
            throw SigningError("\(origin): the key is on curve \(curve); ES256 needs P-256 (prime256v1)")
        }
    }

    public func privateKeyPEM() -> [UInt8] { pem { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) } }
    public func publicKeyPEM() -> [UInt8] { pem { PEM_write_bio_PUBKEY($0, key) } }

    private func pem(_ write: (OpaquePointer) -> Int32) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return [] }
        return takeBytes(of: bio)
    }
}

/// Copies what a memory BIO holds.
func takeBytes(of bio: OpaquePointer) -> [UInt8] {
    var data: UnsafeMutablePointer<CChar>?
    let count = Int(pushload_BIO_get_mem_data(bio, &data))
    guard let data, count > 0 else { return [] }
    return data.withMemoryRebound(to: UInt8.self, capacity: count) {
        Array(UnsafeBufferPointer(start: $0, count: count))
    }
}

/// The first queued OpenSSL error as text; the queue is empty afterwards.
func takeOpenSSLError() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: reason)
}
