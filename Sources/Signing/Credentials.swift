import Foundation
import Glibc
import Settings

/// What client and mock must agree on: the provider key and its ids, the topic, and the certificates.
///
/// As a folder: `ca.pem`, `server.pem`, `server.key`, `AuthKey.p8` and `credentials.json` (`key_id`, `team_id`, `topic`). With
/// `ca.key` beside them the server's certificate is made anew before it ends, and for further names (`ServerRenewal`).
public struct Credentials: Sendable {
    public let identity: ProviderIdentity
    public let topic: String
    /// Certificates to trust, PEM.
    public let ca: [UInt8]
    /// The mock's certificate; nil when only a client reads the folder and it is not there.
    public let server: CertificateAuthority.Issued?
    /// What the server's user should know of its certificate: one line, such as that it ends soon.
    package internal(set) var note: String?
    /// The authority's key, PEM, of credentials that were just made.
    private let authorityKey: [UInt8]?

    public static let defaultTopic = "com.example.pushload"

    private struct Document: Codable {
        let keyID: String
        let teamID: String
        let topic: String

        enum CodingKeys: String, CodingKey {
            case topic
            case keyID = "key_id"
            case teamID = "team_id"
        }
    }

    /// Fresh credentials that live in memory only.
    public static func ephemeral(topic: String = defaultTopic, hosts: [String] = []) throws(SigningError) -> Credentials
    {
        let authority = try CertificateAuthority()
        return Credentials(
            identity: try ProviderIdentity(
                key: try ProviderKey.ephemeral(), keyID: randomID(), teamID: randomID()),
            topic: topic, ca: authority.certificatePEM(), server: try authority.issueServer(hosts: hosts),
            authorityKey: authority.keyPEM())
    }

    private static func randomID() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<10).map { _ in letters.randomElement()! })
    }

    /// Reads a folder. Nothing is created.
    ///
    /// - Throws: one line naming the file that is missing or wrong.
    public static func load(directory: String) throws(SigningError) -> Credentials {
        let key = try ProviderKey(
            pem: try read(directory + "/AuthKey.p8"), origin: directory + "/AuthKey.p8")
        let document = try readDocument(directory + "/credentials.json")
        let identity: ProviderIdentity
        do throws(SigningError) {
            identity = try ProviderIdentity(key: key, keyID: document.keyID, teamID: document.teamID)
        } catch {
            throw SigningError("\(directory)/credentials.json: \(error)")
        }
        guard !document.topic.isEmpty else {
            throw SigningError("\(directory)/credentials.json: \"topic\" is empty; expected a bundle id")
        }
        var server: CertificateAuthority.Issued?
        if FileManager.default.fileExists(atPath: directory + "/server.key") {
            server = .init(
                certificate: try read(directory + "/server.pem"), key: try read(directory + "/server.key"))
        }
        return Credentials(
            identity: identity, topic: document.topic, ca: try read(directory + "/ca.pem"), server: server,
            authorityKey: nil)
    }

    /// Reads a folder after making what is missing, keys with mode 0600, and a new server certificate where it ends within 30
    /// days or lacks one of the hosts. Two programs may do so at once. A folder that needs none of it is only read: it may be one
    /// that cannot be written to.
    ///
    /// - Returns: the credentials, and the names of the files made.
    public static func loadOrCreate(
        directory: String, topic: String = defaultTopic, hosts: [String] = []
    ) throws(SigningError) -> (credentials: Credentials, created: [String]) {
        let isComplete = (Self.certificates + ["AuthKey.p8", "credentials.json"]).allSatisfy { has($0, directory) }
        let made = isComplete ? [] : try makeMissing(directory, topic: topic, hosts: hosts)
        let (credentials, renewed) = try load(directory: directory).withLastingCertificate(directory, hosts: hosts)
        return (credentials, made + renewed)
    }

    /// A certificate, its key and the CA that signed it belong together.
    private static let certificates = ["ca.pem", "server.pem", "server.key"]

    static func has(_ name: String, _ directory: String) -> Bool {
        FileManager.default.fileExists(atPath: directory + "/" + name)
    }

    /// - Returns: the names of the files made.
    private static func makeMissing(_ directory: String, topic: String, hosts: [String]) throws(SigningError)
        -> [String]
    {
        if !FileManager.default.fileExists(atPath: directory) {
            do {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw SigningError("cannot make the credentials folder \(directory): \(reason(error))")
            }
        }
        let lock = try locked(directory)
        defer { close(lock) }
        let fresh = try ephemeral(topic: topic, hosts: hosts)
        var created: [String] = []
        func make(_ name: String, _ bytes: [UInt8], mode: mode_t) throws(SigningError) {
            try write(bytes, to: directory + "/" + name, mode: mode)
            created.append(name)
        }
        let present = (certificates + ["ca.key"]).filter { has($0, directory) }
        if present.isEmpty, let server = fresh.server, let authorityKey = fresh.authorityKey {
            try make("ca.pem", fresh.ca, mode: 0o644)
            try make("server.pem", server.certificate, mode: 0o644)
            try make("server.key", server.key, mode: 0o600)
            try make("ca.key", authorityKey, mode: 0o600)
        } else if present == ["ca.pem", "ca.key"] {
            let server = try authority(directory).issueServer(hosts: hosts)
            try make("server.pem", server.certificate, mode: 0o644)
            try make("server.key", server.key, mode: 0o600)
        } else if let missing = missing(present) {
            throw SigningError(
                "\(directory): \(missing) is missing beside \(present.joined(separator: ", ")); "
                    + "add it, or remove all of them to have new ones made")
        }
        if !has("AuthKey.p8", directory) {
            try make("AuthKey.p8", fresh.identity.key.privateKeyPEM(), mode: 0o600)
        }
        if !has("credentials.json", directory) {
            let text =
                "{\n  \"key_id\": \"\(fresh.identity.keyID)\",\n  \"team_id\": \"\(fresh.identity.teamID)\",\n"
                + "  \"topic\": \"\(topic)\"\n}\n"
            try make("credentials.json", Array(text.utf8), mode: 0o644)
        }
        return created
    }

    private static func missing(_ present: [String]) -> String? {
        let missing = certificates.filter { !present.contains($0) }
        return missing.isEmpty ? nil : missing.joined(separator: ", ")
    }

    /// The authority of a folder that has its key.
    static func authority(_ directory: String) throws(SigningError) -> CertificateAuthority {
        try CertificateAuthority(
            certificate: try read(directory + "/ca.pem"), key: try read(directory + "/ca.key"), folder: directory)
    }

    /// Who holds the descriptor is the only one that writes to the folder.
    static func locked(_ directory: String) throws(SigningError) -> Int32 {
        let lock = open(directory + "/.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw SigningError(
                "cannot write to the credentials folder \(directory): \(String(cString: strerror(errno)))")
        }
        flock(lock, LOCK_EX)
        return lock
    }

    private static func readDocument(_ path: String) throws(SigningError) -> Document {
        let bytes = try read(path)
        do {
            return try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch DecodingError.keyNotFound(let key, _) {
            throw SigningError("\(path): \"\(key.stringValue)\" is missing; expected key_id, team_id and topic")
        } catch {
            throw SigningError("\(path): not a JSON object of text values key_id, team_id and topic")
        }
    }

    /// The bytes of a key, a certificate or a small JSON file, or one line saying why not. PEM comes as `PEMText.mended` has it.
    public static func read(_ path: String) throws(SigningError) -> [UInt8] {
        do throws(SettingsError) {
            return PEMText.mended(Array(try FileContents.bytes(path, limit: 1 << 20)))
        } catch {
            throw SigningError(error.description)
        }
    }

    /// Writes a whole file or nothing: to a temporary name, then renamed.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SigningError) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SigningError("cannot write \(path): \(String(cString: strerror(errno)))") }
        let written = Glibc.write(descriptor, bytes, bytes.count)
        let text = String(cString: strerror(errno))
        close(descriptor)
        guard written == bytes.count, rename(temporary, path) == 0 else {
            unlink(temporary)
            throw SigningError("cannot write \(path): \(text)")
        }
    }

    private static func reason(_ error: any Error) -> String {
        (error as NSError).localizedDescription
    }
}
