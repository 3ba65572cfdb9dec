import Foundation
import Settings
import Testing

@testable import Signing

/// Runs `openssl` with these arguments; returns standard output. An implementation that is not ours.
func openssl(_ arguments: [String], input: Data? = nil) throws -> (status: Int32, output: Data) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    if let input {
        let pipe = Pipe()
        process.standardInput = pipe
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: input)
        try pipe.fileHandleForWriting.close()
    } else {
        try process.run()
    }
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, data)
}

/// A folder that is removed at the end.
final class TemporaryFolder {
    let path: String
    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("signing-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
        return path + "/" + name
    }
}

@Suite struct KeyTests {
    private func error(_ pem: String) -> String {
        do {
            _ = try ProviderKey(pem: Array(pem.utf8), origin: "k.p8")
            return "accepted"
        } catch {
            return error.description
        }
    }

    @Test("A key made by openssl is read, and ours is read by openssl")
    func interoperability() throws {
        let made = try openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        _ = try ProviderKey(pem: Array(made.output), origin: "k.p8")
        let ours = try ProviderKey.ephemeral().privateKeyPEM()
        #expect(try openssl(["pkey", "-noout"], input: Data(ours)).status == 0)
    }

    @Test("Keys that cannot be used each get one clear line")
    func badKeys() throws {
        let good = String(decoding: try ProviderKey.ephemeral().privateKeyPEM(), as: UTF8.self)
        #expect(error("") == "k.p8: the file is empty; expected a PKCS#8 PEM key (.p8)")
        #expect(error("hello") == "k.p8: not PEM; expected -----BEGIN PRIVATE KEY----- on the first line")
        #expect(
            error(String(good.prefix(100)))
                == "k.p8: the key is truncated: there is no -----END PRIVATE KEY----- line")
        let lines = good.split(separator: "\n")
        #expect(
            error(([lines[0]] + lines.suffix(1)).joined(separator: "\n") + "\n").hasPrefix("k.p8: the key is damaged"))
        let p384 = try openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"])
        #expect(
            error(String(decoding: p384.output, as: UTF8.self))
                == "k.p8: the key is on curve secp384r1; ES256 needs P-256 (prime256v1)")
        let rsa = try openssl(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        #expect(
            error(String(decoding: rsa.output, as: UTF8.self))
                == "k.p8: this is a key for RSA; ES256 needs an EC key on curve P-256")
        let encrypted = try openssl(
            ["pkcs8", "-topk8", "-v2", "aes-128-cbc", "-passout", "pass:x"], input: Data(good.utf8))
        #expect(
            error(String(decoding: encrypted.output, as: UTF8.self)).hasPrefix("k.p8: the key is encrypted; decrypt"))
        let publicKey = try ProviderKey.ephemeral().publicKeyPEM()
        #expect(
            error(String(decoding: publicKey, as: UTF8.self))
                == "k.p8: this is a public key; expected the private key (.p8)")
    }

    @Test(
        "A key and a certificate whose line ends were lost on the way are read like whole ones",
        arguments: [false, true])
    func mended(isCertificate: Bool) throws {
        let authority = try CertificateAuthority()
        let good = String(
            decoding: isCertificate ? authority.certificatePEM() : try ProviderKey.ephemeral().privateKeyPEM(),
            as: UTF8.self)
        let lines = good.split(separator: "\n")
        let forms = [
            // One line, as shells and forms make it; with \n written out, in quotes too; indented, as YAML has it; without any end.
            lines.joined(separator: " "), lines.joined(separator: #"\n"#), "\"\(lines.joined(separator: #"\n"#))\\n\"",
            lines.map { "    \($0)\n" }.joined(), "key: |\n" + lines.map { "  \($0)  \n" }.joined(), lines.joined(),
            lines.joined(separator: #"\r\n"#), lines.joined(separator: "\r"),
        ]
        for form in forms { #expect(PEMText.mended(Array(form.utf8)) == Array(good.utf8), "\(form)") }
        // As it is where nothing is wrong: with line ends of either kind, text around it, or none of it.
        for form in [good, lines.joined(separator: "\r\n") + "\r\n", "subject=x\n\(good)\(good)", "hello", "{}\n"] {
            #expect(PEMText.mended(Array(form.utf8)) == Array(form.utf8), "\(form)")
        }
        let two = PEMText.mended(Array((lines + lines).joined(separator: " ").utf8))
        #expect(String(decoding: two, as: UTF8.self) == good + good)
        guard !isCertificate else { return }
        for form in forms { #expect(error(form) == "accepted", "\(form)") }
        let publicKey = String(decoding: try ProviderKey.ephemeral().publicKeyPEM(), as: UTF8.self)
        _ = try ProviderKey.publicKey(pem: Array(publicKey.replacing("\n", with: #"\n"#).utf8), origin: "k.pem")
        // What is wrong besides is said as before.
        #expect(error(good.replacing("\n", with: " ").replacing("M", with: "")).hasPrefix("k.p8: the key is damaged"))
    }

    @Test("Certificates verify with openssl, for localhost and 127.0.0.1 only, and clients carry their topic")
    func certificates() throws {
        let folder = try TemporaryFolder()
        let authority = try CertificateAuthority()
        let server = try authority.issueServer()
        let client = try authority.issueClient(topic: "com.example.app")
        let ca = try folder.write("ca.pem", authority.certificatePEM())
        let leaf = try folder.write("leaf.pem", server.certificate)
        let clientFile = try folder.write("client.pem", client.certificate)
        #expect(
            try openssl(["verify", "-CAfile", ca, "-purpose", "sslserver", "-verify_ip", "127.0.0.1", leaf]).status == 0
        )
        #expect(try openssl(["verify", "-CAfile", ca, "-verify_hostname", "localhost", leaf]).status == 0)
        #expect(try openssl(["verify", "-CAfile", ca, "-verify_hostname", "example.com", leaf]).status != 0)
        #expect(try openssl(["verify", "-CAfile", ca, "-purpose", "sslclient", clientFile]).status == 0)
        let subject = try openssl(["x509", "-noout", "-subject", "-in", clientFile])
        #expect(String(decoding: subject.output, as: UTF8.self).contains("UID = com.example.app"))
        let other = try CertificateAuthority()
        let foreign = try folder.write("other.pem", other.certificatePEM())
        #expect(try openssl(["verify", "-CAfile", foreign, leaf]).status != 0)
    }

    @Test("A server certificate is for the names and addresses it was made for, and for all hosts of *.name")
    func hosts() throws {
        let folder = try TemporaryFolder()
        let authority = try CertificateAuthority()
        let server = try authority.issueServer(hosts: ["10.1.2.3", "fd00::7", "mock-apns", "*.mocks.svc"])
        let ca = try folder.write("ca.pem", authority.certificatePEM())
        let leaf = try folder.write("leaf.pem", server.certificate)
        for address in ["10.1.2.3", "fd00::7"] {
            #expect(try openssl(["verify", "-CAfile", ca, "-verify_ip", address, leaf]).status == 0)
            #expect(server.isFor(address))
        }
        for name in ["mock-apns", "pod-1.mocks.svc", "localhost"] {
            #expect(try openssl(["verify", "-CAfile", ca, "-verify_hostname", name, leaf]).status == 0)
            #expect(server.isFor(name))
        }
        #expect(server.isFor("*.mocks.svc"))
        for other in ["10.1.2.4", "mock", "a.b.mocks.svc", "*.svc", ""] { #expect(!server.isFor(other)) }
        for wrong in ["a,DNS:b", "", "*.", "*", "a b", "@section", ".x"] {
            #expect { try authority.issueServer(hosts: [wrong]) } throws: {
                "\($0)" == "\"\(wrong)\" is no host of a certificate: expected a name, *.name or an address"
            }
        }
    }

    @Test("A whole credentials folder that cannot be written to is read, and nothing is made in it")
    func readOnlyFolder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c"
        let (first, _) = try Credentials.loadOrCreate(directory: path)
        // As in a mounted Secret there is no lock file, and none can be made; a folder of that name cannot be opened as one.
        try FileManager.default.removeItem(atPath: path + "/.lock")
        try FileManager.default.createDirectory(atPath: path + "/.lock", withIntermediateDirectories: false)
        let (second, created) = try Credentials.loadOrCreate(directory: path)
        #expect(created.isEmpty && second.ca == first.ca)
        try FileManager.default.removeItem(atPath: path + "/credentials.json")
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".hasPrefix("cannot write to the credentials folder \(path): ")
        }
    }

    @Test("A credentials folder is made once, with private keys for the owner only, and read again the same")
    func folder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c"
        let (first, created) = try Credentials.loadOrCreate(directory: path)
        #expect(created == ["ca.pem", "server.pem", "server.key", "ca.key", "AuthKey.p8", "credentials.json"])
        let (second, again) = try Credentials.loadOrCreate(directory: path)
        #expect(again.isEmpty)
        #expect(first.identity.keyID == second.identity.keyID && first.ca == second.ca)
        #expect(first.identity.key.privateKeyPEM() == second.identity.key.privateKeyPEM())
        for (name, mode) in [("server.key", 0o600), ("AuthKey.p8", 0o600), ("ca.pem", 0o644)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
        try FileManager.default.removeItem(atPath: path + "/server.key")
        #expect { try Credentials.loadOrCreate(directory: path) } throws: {
            "\($0)".hasPrefix("\(path): server.key is missing beside ca.pem, server.pem")
        }
        try Data("{\"key_id\":\"AAAAAAAAAA\",\"team_id\":\"x\",\"topic\":\"t\"}".utf8)
            .write(to: URL(fileURLWithPath: path + "/credentials.json"))
        #expect { try Credentials.load(directory: path) } throws: {
            "\($0)"
                == "\(path)/credentials.json: team id \"x\": expected 10 characters of A-Z and 0-9, as in ABC123DEFG"
        }
        try Data("{".utf8).write(to: URL(fileURLWithPath: path + "/credentials.json"))
        #expect { try Credentials.load(directory: path) } throws: {
            "\($0)" == "\(path)/credentials.json: not a JSON object of text values key_id, team_id and topic"
        }
        #expect { try Credentials.load(directory: "/nonexistent") } throws: {
            "\($0)" == "cannot read /nonexistent/AuthKey.p8: No such file or directory"
        }
    }
}
