import COpenSSL
import Glibc

/// What a client certificate of the kind Apple issues for pushes says of its holder.
public struct PeerCertificate: Sendable, Equatable {
    /// The subject's UID: the bundle id.
    public let uid: String?
    /// Why it is not to be trusted, as OpenSSL says it, or that its UID cannot be a topic; nil when it is.
    public let problem: String?
    /// It carries Apple's extension for the development environment (1.2.840.113635.100.6.3.1).
    public let isForDevelopment: Bool
    /// It carries Apple's extension for the production environment (1.2.840.113635.100.6.3.2).
    public let isForProduction: Bool
    /// The topics of Apple's extensions 1.2.840.113635.100.6.3.6 and .4, which is for VoIP, in their order; empty when it has none.
    public let topics: [String]

    public init(uid: String?, problem: String?, isForDevelopment: Bool, isForProduction: Bool, topics: [String]) {
        self.uid = uid
        self.problem = problem
        self.isForDevelopment = isForDevelopment
        self.isForProduction = isForProduction
        self.topics = topics
    }

    init(_ certificate: OpaquePointer, verification: Int) {
        var isTopic = true
        uid = Self.subjectUID(certificate, &isTopic)
        if verification == Int(X509_V_OK) {
            problem = isTopic ? nil : "its UID is no text of at most \(Self.longestUID) bytes"
        } else {
            problem = X509_verify_cert_error_string(verification).map { String(cString: $0) } ?? "error \(verification)"
        }
        isForDevelopment = Self.data(certificate, "1.2.840.113635.100.6.3.1") != nil
        isForProduction = Self.data(certificate, "1.2.840.113635.100.6.3.2") != nil
        var topics = Self.data(certificate, "1.2.840.113635.100.6.3.6").map(Self.topics) ?? []
        if let value = Self.data(certificate, "1.2.840.113635.100.6.3.4") {
            for topic in Self.voipTopics(value, uid) where !topics.contains(topic) { topics.append(topic) }
        }
        self.topics = topics
    }

    /// A topic is no longer.
    private static let longestUID = 255

    /// The subject's first UID, whole.
    ///
    /// - Parameter isTopic: false when there is one that cannot be a topic: nothing of it is taken for one.
    private static func subjectUID(_ certificate: OpaquePointer, _ isTopic: inout Bool) -> String? {
        guard let subject = X509_get_subject_name(certificate) else { return nil }
        let place = X509_NAME_get_index_by_NID(subject, NID_userId, -1)
        guard place >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)) else { return nil }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&bytes, value)
        defer {
            CRYPTO_free(bytes, nil, 0)
            ERR_clear_error()
        }
        guard count != 0 else { return nil }
        let text = UnsafeBufferPointer(start: bytes, count: Int(max(0, count)))
        isTopic = (1...longestUID).contains(text.count) && !text.contains(0)
        return isTopic ? String(validating: text, as: UTF8.self) : nil
    }

    /// Hosts that a server's certificate is for: DNS names and IP addresses of its subjectAltName, or its subject's common name if it has
    /// no such extension (RFC 6125). A stranger's text: printable ASCII, `longestName` characters and `mostNames` names at most, the
    /// rest is counted.
    static func names(of certificate: OpaquePointer) -> [String] {
        guard let extensionValue = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
            ERR_clear_error()
            return commonName(certificate).map { [$0] } ?? []
        }
        let list = OpaquePointer(extensionValue)
        defer { GENERAL_NAMES_free(list) }
        var names: [String] = []
        var others = 0
        for place in 0..<max(0, OPENSSL_sk_num(list)) {
            guard let item = OPENSSL_sk_value(list, place),
                let name = name(item.assumingMemoryBound(to: GENERAL_NAME.self))
            else { continue }
            if names.count < mostNames { names.append(name) } else { others += 1 }
        }
        return others > 0 ? names + ["\(others) more"] : names
    }

    private static let mostNames = 5
    private static let longestName = 80

    /// A DNS name or an IP address; nil if it is another kind of name.
    private static func name(_ item: UnsafePointer<GENERAL_NAME>) -> String? {
        var kind: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(item, &kind), kind == GEN_DNS || kind == GEN_IPADD else { return nil }
        let text = UnsafePointer(value.assumingMemoryBound(to: ASN1_STRING.self))
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
        if kind == GEN_DNS { return printable(bytes) }
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var address = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes.baseAddress, &address, socklen_t(address.count))
        return address.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private static func commonName(_ certificate: OpaquePointer) -> String? {
        guard let subject = X509_get_subject_name(certificate) else { return nil }
        let place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard place >= 0, let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)) else { return nil }
        return printable(
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value))))
    }

    private static func printable(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes.prefix(longestName).map { (0x21...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    /// What the extension for VoIP says: one string, a sequence of them, or nothing, which means the subject's own topic.
    static func voipTopics(_ der: [UInt8], _ uid: String?) -> [String] {
        // One string alone is read as a sequence around it.
        let isString = der.first == 0x0C && der.count < 0x80
        let listed = topics(isString ? [0x30, UInt8(der.count)] + der : der)
        guard listed.isEmpty, let uid else { return listed }
        return [uid.hasSuffix(".voip") ? uid : uid + ".voip"]
    }

    /// The value of the extension with this object id.
    private static func data(_ certificate: OpaquePointer, _ identifier: String) -> [UInt8]? {
        guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let place = X509_get_ext_by_OBJ(certificate, object, -1)
        guard place >= 0, let found = X509_get_ext(certificate, place), let value = X509_EXTENSION_get_data(found)
        else { return nil }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value))))
    }

    /// The UTF-8 strings at the first level of a DER sequence: Apple lists topic, kinds, topic, kinds and so on.
    static func topics(_ der: [UInt8]) -> [String] {
        func element(_ position: Int, _ end: Int) -> (tag: UInt8, start: Int, end: Int)? {
            guard position + 2 <= end else { return nil }
            var length = Int(der[position + 1])
            var start = position + 2
            if length >= 0x80 {
                let digits = length & 0x7F
                guard digits <= 3, start + digits <= end else { return nil }
                length = der[start..<(start + digits)].reduce(0) { $0 << 8 | Int($1) }
                start += digits
            }
            guard start + length <= end else { return nil }
            return (der[position], start, start + length)
        }
        guard let outer = element(0, der.count), outer.tag == 0x30 else { return [] }
        var found: [String] = []
        var position = outer.start
        while let item = element(position, outer.end) {
            if item.tag == 0x0C { found.append(String(decoding: der[item.start..<item.end], as: UTF8.self)) }
            position = item.end
        }
        return found
    }
}
