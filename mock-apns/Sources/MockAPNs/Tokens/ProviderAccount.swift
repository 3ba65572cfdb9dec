import Foundation
import Settings
import Signing

/// A provider key and what it may be used for ("Establishing a token-based connection to APNs": team-scoped keys may be
/// tied to an environment, topic-specific keys to topics).
public struct ProviderAccount: Sendable {
    public var identity: ProviderIdentity
    /// nil: both.
    public var environment: PushEnvironment?
    /// Bundle ids; nil: all of the team.
    public var topics: Set<String>?

    public init(_ identity: ProviderIdentity, environment: PushEnvironment? = nil, topics: Set<String>? = nil) {
        self.identity = identity
        self.environment = environment
        self.topics = topics
    }

    /// Reads a file of keys (YAML): a list with `key`, `key_id`, `team_id` and, as far as it is restricted, `environment`
    /// and `topics`. `key` is a .p8 or a PEM public key, beside the file unless it begins with `/`.
    public static func read(_ path: String) throws(SettingsError) -> [ProviderAccount] {
        var accounts: [ProviderAccount] = []
        for entry in try YAMLValue(parsing: try FileContents.text(path, "key file"), file: path).list() {
            var map = try entry.map()
            let name = try map.need("key").text()
            let file =
                name.hasPrefix("/")
                ? name : URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path
            let (keyID, teamID) = (try map.need("key_id").text(), try map.need("team_id").text())
            let identity: ProviderIdentity
            do throws(SigningError) {
                identity = try ProviderIdentity(key: try loadKey(file), keyID: keyID, teamID: teamID)
            } catch { throw entry.error(error.description) }
            var account = ProviderAccount(identity)
            if let environment = map.take("environment") {
                account.environment = try environment.reading(FaultText.environment)
            }
            if let topics = map.take("topics") {
                var found: Set<String> = []
                for topic in try topics.oneOrMore() { found.insert(try topic.text()) }
                account.topics = found
            }
            try map.finish()
            if accounts.contains(where: { $0.identity.keyID == keyID }) {
                throw entry.error("key id \(keyID) is given twice")
            }
            accounts.append(account)
        }
        return accounts
    }

    /// A .p8, or a PEM public key, which is enough to verify with.
    public static func loadKey(_ path: String) throws(SigningError) -> ProviderKey {
        let pem = try Credentials.read(path)
        let isPublic = String(decoding: pem, as: UTF8.self).contains("BEGIN PUBLIC KEY")
        return isPublic ? try ProviderKey.publicKey(pem: pem, origin: path) : try ProviderKey(pem: pem, origin: path)
    }
}
