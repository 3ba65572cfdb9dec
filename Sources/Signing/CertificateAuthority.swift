import COpenSSL
import Glibc

/// A private certificate authority for the mock: issues its server certificate, and client certificates for
/// certificate connections. Keys are P-256, signatures ECDSA with SHA-256.
public final class CertificateAuthority {
    /// A certificate and its key, PEM.
    public struct Issued: Sendable {
        public let certificate: [UInt8]
        public let key: [UInt8]
    }

    private let certificate: OpaquePointer
    private let key: ProviderKey

    /// A new authority, valid for ten years.
    public convenience init() throws(SigningError) { try self.init(days: 3650) }

    /// The same, valid for some days.
    package init(days: Int) throws(SigningError) {
        key = try ProviderKey.ephemeral()
        let made = try Self.make(
            subject: [(NID_commonName, "pushload test CA")], issuer: nil, publicKey: key, signingKey: key, days: days,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ])
        certificate = made
    }

    /// An authority that was made before.
    ///
    /// - Parameter folder: that of ca.pem and ca.key, for error messages.
    /// - Throws: one line naming the file that is wrong.
    init(certificate pem: [UInt8], key keyPEM: [UInt8], folder: String) throws(SigningError) {
        key = try ProviderKey(pem: keyPEM, origin: folder + "/ca.key")
        guard let read = Self.read(pem) else { throw SigningError("\(folder)/ca.pem: not a PEM certificate") }
        guard X509_check_private_key(read, key.key) == 1 else {
            X509_free(read)
            _ = takeOpenSSLError()
            throw SigningError("\(folder)/ca.key: not the key of ca.pem")
        }
        certificate = read
    }

    deinit { X509_free(certificate) }

    /// The authority's own certificate, PEM: what clients must trust.
    public func certificatePEM() -> [UInt8] { Self.pem(certificate) }

    /// The authority's key, PEM: who has it can make certificates that those clients trust.
    func keyPEM() -> [UInt8] { key.privateKeyPEM() }

    /// A server certificate for `localhost`, 127.0.0.1, ::1 and `hosts`, valid for 397 days.
    ///
    /// - Parameter hosts: names, of which the first label may be `*` (RFC 6125 section 6.4.3), and addresses.
    /// - Throws: one line naming the host that is neither.
    public func issueServer(hosts: [String] = []) throws(SigningError) -> Issued {
        try issueServer(hosts: hosts, key: nil)
    }

    /// The same for a key that is there already, or a fresh one, valid for some days, but no longer than the authority.
    package func issueServer(hosts: [String], key: ProviderKey?, days: Int = 397) throws(SigningError) -> Issued {
        var alternatives = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
        for host in hosts {
            let alternative = try Self.alternative(host)
            if !alternatives.contains(alternative) { alternatives.append(alternative) }
        }
        return try issue(
            [(NID_commonName, "mock-apns")], usage: "serverAuth", names: alternatives.joined(separator: ","), key: key,
            days: days)
    }

    /// A client certificate whose subject UID is `topic`, as Apple's push certificates have it.
    public func issueClient(topic: String) throws(SigningError) -> Issued {
        try issue(
            [(NID_userId, topic), (NID_commonName, "Apple Push Services: \(topic)")], usage: "clientAuth", names: nil)
    }

    /// A host as OpenSSL's configuration writes a subject alternative name, where commas and colons divide.
    private static func alternative(_ host: String) throws(SigningError) -> String {
        var address = in6_addr()
        if inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1 { return "IP:\(host)" }
        let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
        guard isName, !name.isEmpty, !name.hasPrefix("."), host.utf8.count <= 253 else {
            throw SigningError("\"\(host)\" is no host of a certificate: expected a name, *.name or an address")
        }
        return "DNS:\(host)"
    }

    private func issue(
        _ subject: [(Int32, String)], usage: String, names: String?, key present: ProviderKey? = nil, days: Int = 397
    ) throws(SigningError) -> Issued {
        let leafKey: ProviderKey
        if let present { leafKey = present } else { leafKey = try ProviderKey.ephemeral() }
        var extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, usage), (NID_authority_key_identifier, "keyid"),
        ]
        if let names { extensions.append((NID_subject_alt_name, names)) }
        let leaf = try Self.make(
            subject: subject, issuer: certificate, publicKey: leafKey, signingKey: key, days: days,
            extensions: extensions)
        defer { X509_free(leaf) }
        return Issued(certificate: Self.pem(leaf), key: leafKey.privateKeyPEM())
    }

    private static func make(
        subject: [(Int32, String)], issuer: OpaquePointer?, publicKey: ProviderKey, signingKey: ProviderKey, days: Int,
        extensions: [(Int32, String)]
    ) throws(SigningError) -> OpaquePointer {
        guard let certificate = X509_new() else { throw SigningError("out of memory") }
        var isDone = false
        defer { if !isDone { X509_free(certificate) } }
        X509_set_version(certificate, 2)
        var serial = [UInt8](repeating: 0, count: 16)
        RAND_bytes(&serial, 16)
        serial[0] &= 0x7F
        let number = BN_bin2bn(serial, 16, nil)
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
        BN_free(number)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86_400)
        if let issuer, let last = X509_get0_notAfter(issuer),
            ASN1_TIME_compare(X509_get0_notAfter(certificate), last) > 0
        {
            X509_set1_notAfter(certificate, last)
        }
        X509_set_pubkey(certificate, publicKey.key)
        let name = X509_get_subject_name(certificate)
        for (field, value) in subject {
            guard X509_NAME_add_entry_by_NID(name, field, MBSTRING_FLAG, value, -1, -1, 0) == 1 else {
                throw SigningError("certificate subject \"\(value)\" refused: \(takeOpenSSLError())")
            }
        }
        X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0) } ?? name)
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer ?? certificate, certificate, nil, nil, 0)
        for (field, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, field, value) else {
                throw SigningError("certificate extension \"\(value)\" refused: \(takeOpenSSLError())")
            }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        guard X509_sign(certificate, signingKey.key, EVP_sha256()) > 0 else {
            throw SigningError("OpenSSL cannot sign a certificate: \(takeOpenSSLError())")
        }
        isDone = true
        return certificate
    }

    /// The first certificate of a PEM text, which the caller frees; nil when there is none.
    static func read(_ pem: [UInt8]) -> OpaquePointer? {
        // A memory BIO refers to the bytes.
        pem.withUnsafeBytes { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            guard let certificate = PEM_read_bio_X509(bio, nil, nil, nil) else {
                _ = takeOpenSSLError()
                return nil
            }
            return certificate
        }
    }

    private static func pem(_ certificate: OpaquePointer) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(bio) }
        guard PEM_write_bio_X509(bio, certificate) == 1 else { return [] }
        return takeBytes(of: bio)
    }
}
