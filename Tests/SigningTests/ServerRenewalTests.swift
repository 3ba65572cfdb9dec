import Foundation
import Testing

@testable import Signing

@Suite struct ServerRenewalTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/c" }

    init() throws {
        folder = try TemporaryFolder()
        _ = try Credentials.loadOrCreate(directory: path, hosts: ["mock.example.com", "10.1.2.3"])
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

    /// Puts a certificate there that ends in so many days.
    private func age(to days: Int) throws {
        let key = try ProviderKey(pem: try bytes("server.key"), origin: "server.key")
        let old = try Credentials.authority(path).issueServer(
            hosts: ["mock.example.com", "10.1.2.3"], key: key, days: days)
        try write(old.certificate, to: "server.pem")
    }

    private func verifies(_ arguments: [String]) throws -> Bool {
        try openssl(["verify", "-CAfile", path + "/ca.pem"] + arguments + [path + "/server.pem"]).status == 0
    }

    @Test("A certificate that ends within 30 days is made anew for the same names and key by the same authority, once")
    func renewed() throws {
        try age(to: 29)
        let before = try (bytes("ca.pem"), bytes("server.key"), bytes("server.pem"))
        let (credentials, created) = try Credentials.loadOrCreate(directory: path)
        #expect(created == ["server.pem"] && credentials.note == nil)
        #expect(try bytes("ca.pem") == before.0 && bytes("server.key") == before.1 && bytes("server.pem") != before.2)
        #expect(credentials.server?.certificate == (try bytes("server.pem")))
        let end = try #require(credentials.server?.end)
        #expect(end > Int64(Date().timeIntervalSince1970) + 390 * 86_400)
        #expect(credentials.server?.hosts == ["localhost", "127.0.0.1", "::1", "mock.example.com", "10.1.2.3"])
        #expect(try verifies(["-verify_hostname", "mock.example.com"]) && verifies(["-verify_ip", "10.1.2.3"]))
        // The key is the certificate's, as TLS wants it.
        let key = try openssl(["pkey", "-in", path + "/server.key", "-pubout"]).output
        #expect(try openssl(["x509", "-in", path + "/server.pem", "-noout", "-pubkey"]).output == key)
        #expect(try Credentials.loadOrCreate(directory: path).created.isEmpty)
    }

    @Test("A certificate with more than 30 days is left as it is")
    func lasting() throws {
        try age(to: 31)
        let before = try bytes("server.pem")
        #expect(try Credentials.loadOrCreate(directory: path, hosts: ["mock.example.com"]).created.isEmpty)
        #expect(try bytes("server.pem") == before)
    }

    @Test("A certificate that is not for a wanted name or address is made anew for that too")
    func names() throws {
        let (credentials, created) = try Credentials.loadOrCreate(directory: path, hosts: ["mock-apns", "fd00::7"])
        #expect(created == ["server.pem"])
        #expect(
            credentials.server?.hosts == [
                "localhost", "127.0.0.1", "::1", "mock.example.com", "10.1.2.3", "mock-apns", "fd00::7",
            ])
        #expect(try verifies(["-verify_hostname", "mock-apns"]) && verifies(["-verify_ip", "fd00::7"]))
        #expect(try verifies(["-verify_hostname", "mock.example.com"]))
    }

    @Test("Without the authority's key a certificate is used until it ends, which is said, and then refused")
    func withoutKey() throws {
        try age(to: 10)
        try remove("ca.key")
        let (credentials, created) = try Credentials.loadOrCreate(directory: path)
        let why =
            "and was not made anew: there is no ca.key to sign another with; remove ca.pem, server.pem and server.key"
        let note = try #require(credentials.note)
        #expect(created.isEmpty && note.hasPrefix("\(path)/server.pem ends on ") && note.contains(why))
        let (other, _) = try Credentials.loadOrCreate(directory: path, hosts: ["x.example.com"])
        #expect(other.note?.hasPrefix("\(path)/server.pem is not for x.example.com, \(why)") == true)
    }

    @Test("A certificate that has ended and cannot be made anew is refused")
    func ended() throws {
        try age(to: -1)
        try remove("ca.key")
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".hasPrefix("\(path)/server.pem ended on ") && "\($0)".contains("there is no ca.key")
        }
    }

    @Test("A folder that cannot be written to is used as long as its certificate lasts")
    func readOnly() throws {
        try age(to: 10)
        try remove(".lock")
        // A folder of that name cannot be opened as a lock.
        try FileManager.default.createDirectory(atPath: path + "/.lock", withIntermediateDirectories: false)
        let (credentials, created) = try Credentials.loadOrCreate(directory: path)
        #expect(created.isEmpty && credentials.note?.contains("cannot write to the credentials folder") == true)
        let expired = try Credentials.authority(path).issueServer(hosts: [], key: nil, days: -1)
        try write(expired.certificate, to: "server.pem")
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".contains("server.pem ended on ")
                && "\($0)".contains("cannot write to the credentials folder")
        }
    }

    @Test("The key of another authority signs nothing")
    func foreignKey() throws {
        try age(to: 10)
        let before = try bytes("server.pem")
        try write(try ProviderKey.ephemeral().privateKeyPEM(), to: "ca.key")
        let (credentials, created) = try Credentials.loadOrCreate(directory: path)
        #expect(created.isEmpty && credentials.note?.hasSuffix("\(path)/ca.key: not the key of ca.pem") == true)
        #expect(try bytes("server.pem") == before)
    }

    @Test("No server certificate outlasts its authority")
    func authorityEnds() throws {
        let server = try Credentials.authority(path).issueServer(hosts: [], key: nil, days: 40_000)
        let authority = CertificateAuthority.Issued(certificate: try bytes("ca.pem"), key: [])
        #expect(server.end == authority.end)
    }

    @Test("When the authority itself ends soon, what it can sign is signed once, then that is said, and then refused")
    func authorityEndsSoon() throws {
        func replace(_ days: Int) throws {
            let authority = try CertificateAuthority(days: days)
            try write(authority.certificatePEM(), to: "ca.pem")
            try write(authority.keyPEM(), to: "ca.key")
            try write(try authority.issueServer(hosts: [], key: nil, days: min(days, 5)).certificate, to: "server.pem")
        }
        try replace(10)
        let (renewed, created) = try Credentials.loadOrCreate(directory: path, hosts: ["mock-apns"])
        #expect(created == ["server.pem"] && renewed.note == nil)
        let (noted, none) = try Credentials.loadOrCreate(directory: path, hosts: ["mock-apns"])
        #expect(none.isEmpty && noted.note?.contains("\(path)/ca.pem itself ends on ") == true, "\(noted.note ?? "")")
        #expect(noted.server?.certificate == renewed.server?.certificate)
        let (named, again) = try Credentials.loadOrCreate(directory: path, hosts: ["other.test"])
        #expect(again == ["server.pem"] && named.server?.isFor("other.test") == true)
        try replace(-1)
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".contains("server.pem ended on ") && "\($0)".contains("\(path)/ca.pem itself ended on ")
        }
    }

    @Test("With an authority's certificate and key a server certificate is made; its key alone is refused")
    func ownAuthority() throws {
        try remove("server.pem")
        try remove("server.key")
        let authority = try bytes("ca.pem")
        let (_, created) = try Credentials.loadOrCreate(directory: path, hosts: ["mock-apns"])
        #expect(try created == ["server.pem", "server.key"] && bytes("ca.pem") == authority)
        #expect(try verifies(["-verify_hostname", "mock-apns"]))
        for name in ["ca.pem", "server.pem", "server.key"] { try remove(name) }
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".hasPrefix("\(path): ca.pem, server.pem, server.key is missing beside ca.key; ")
        }
    }

    @Test("The authority's key is for its owner only")
    func mode() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/ca.key")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
