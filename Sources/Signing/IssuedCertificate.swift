import COpenSSL
import Glibc

/// What a certificate says of itself.
extension CertificateAuthority.Issued {
    /// Whether the certificate is for this name (or a name of `*.name`) or address.
    package func isFor(_ host: String) -> Bool {
        reading { parsed in
            if X509_check_ip_asc(parsed, host, 0) == 1 { return true }
            let name = host.hasPrefix("*.") ? "any" + host.dropFirst() : host
            return X509_check_host(parsed, name, name.utf8.count, 0, nil) == 1
        } ?? false
    }

    /// Until when it is valid, UNIX seconds; nil when it is no certificate.
    package var end: Int64? {
        reading { parsed in
            var time = tm()
            guard ASN1_TIME_to_tm(X509_get0_notAfter(parsed), &time) == 1 else { return nil }
            return Int64(timegm(&time))
        } ?? nil
    }

    /// The names and addresses it is for, in its order.
    package var hosts: [String] {
        reading { parsed in
            guard let names = X509_get_ext_d2i(parsed, NID_subject_alt_name, nil, nil) else { return [] }
            let list = OpaquePointer(names)
            defer { GENERAL_NAMES_free(list) }
            return (0..<OPENSSL_sk_num(list)).compactMap { place in
                OPENSSL_sk_value(list, place).flatMap { Self.host($0.assumingMemoryBound(to: GENERAL_NAME.self)) }
            }
        } ?? []
    }

    /// Calls with the certificate; nil when there is none.
    private func reading<Value>(_ read: (OpaquePointer) -> Value) -> Value? {
        guard let parsed = CertificateAuthority.read(certificate) else { return nil }
        defer { X509_free(parsed) }
        return read(parsed)
    }

    /// A name or address of a certificate as text; nil for what is neither, such as a mail address.
    private static func host(_ name: UnsafePointer<GENERAL_NAME>) -> String? {
        var kind: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(name, &kind)?.assumingMemoryBound(to: ASN1_STRING.self) else {
            return nil
        }
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
        if kind == GEN_DNS { return String(decoding: bytes, as: UTF8.self) }
        guard kind == GEN_IPADD, bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard
            inet_ntop(
                bytes.count == 4 ? AF_INET : AF_INET6, bytes.baseAddress, &text, socklen_t(text.count)) != nil
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
