import Foundation
import Settings
import Signing

/// A file of provider keys (YAML): a list of them, or `keys` with that list and `teams` with the bundle ids of each team.
///
/// A key has `key`, `key_id`, `team_id` and, as far as it is restricted, `environment`, `topics` and `related`; a team has `team_id`
/// and `topics`. `key` is a .p8 or a PEM public key, beside the file unless it begins with `/`.
public struct KeyFile: Sendable {
    public private(set) var accounts: [ProviderAccount] = []
    private var teams: [String: Set<String>] = [:]

    /// - Throws: `file:line:column: …`
    public init(_ path: String) throws(SettingsError) {
        let value = try YAMLValue(
            parsing: try FileContents.text(path, "key file", limit: 16 << 20, orPipe: true), file: path)
        var keys = value
        if value.isMap {
            var map = try value.map()
            keys = try map.need("keys")
            if let teams = map.take("teams") { try readTeams(teams) }
            try map.finish()
        }
        try readKeys(keys, path)
    }

    /// What the teams' topics make of a key that is not from this file.
    public func placed(_ account: ProviderAccount) -> ProviderAccount {
        var placed = account
        placed.teamTopics = teams[account.identity.teamID]
        placed.foreignTopics = teams.filter { $0.key != account.identity.teamID }.values.reduce(into: []) {
            $0.formUnion($1)
        }
        return placed
    }

    // MARK: Reading

    private mutating func readTeams(_ value: YAMLValue) throws(SettingsError) {
        for entry in try value.list() {
            var map = try entry.map()
            let teamID = try map.need("team_id").text()
            guard teams[teamID] == nil else { throw entry.error("team \(teamID) is given twice") }
            let list = try map.need("topics")
            let topics = try Self.topics(list)
            try map.finish()
            for (other, owned) in teams {
                if let topic = owned.intersection(topics).min() {
                    throw list.error("\(topic) is team \(other)'s already; expected a topic of one team only")
                }
            }
            teams[teamID] = topics
        }
    }

    private mutating func readKeys(_ value: YAMLValue, _ path: String) throws(SettingsError) {
        var related: [(YAMLValue, ProviderAccount)] = []
        for entry in try value.list() {
            var map = try entry.map()
            let name = try map.need("key").text()
            let file =
                name.hasPrefix("/")
                ? name : URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path
            let (keyID, teamID) = (try map.need("key_id").text(), try map.need("team_id").text())
            let identity: ProviderIdentity
            do throws(SigningError) {
                identity = try ProviderIdentity(key: try Self.loadKey(file), keyID: keyID, teamID: teamID)
            } catch { throw entry.error(error.description) }
            var account = placed(ProviderAccount(identity))
            if let environment = map.take("environment") {
                account.environment = try environment.reading(FaultText.environment)
            }
            if let list = map.take("topics") {
                let topics = try Self.topics(list)
                guard account.environment != nil else {
                    throw list.error(
                        "a key for topics is for one environment; expected environment: production or development beside it"
                    )
                }
                if let topic = topics.filter({ account.scope?.includes($0) == false }).min() {
                    throw list.error("\(topic) is not team \(teamID)'s; expected some of its topics")
                }
                account.topics = topics
            }
            if let key = map.take("related") {
                account.relatedKeyID = try key.text()
                related.append((key, account))
            }
            try map.finish()
            if accounts.contains(where: { $0.identity.keyID == keyID }) {
                throw entry.error("key id \(keyID) is given twice")
            }
            accounts.append(account)
        }
        try checkRelations(related)
    }

    /// "A topic-specific key can have at most one related key in the same environment" ("Establishing a token-based connection to
    /// APNs").
    ///
    /// - Parameter related: keys that name another, and where they do.
    private func checkRelations(_ related: [(YAMLValue, ProviderAccount)]) throws(SettingsError) {
        var mates: [String: String] = [:]
        for (place, account) in related {
            let (own, other) = (account.identity.keyID, account.relatedKeyID ?? "")
            guard own != other, let mate = accounts.first(where: { $0.identity.keyID == other }) else {
                throw place.error("\(other): expected the key_id of another key of this file")
            }
            guard mate.identity.teamID == account.identity.teamID else {
                throw place.error("\(other) is of team \(mate.identity.teamID); expected a key of the same team")
            }
            if let environment = mate.environment, let expected = account.environment, environment != expected {
                throw place.error("\(other) is for \(environment.rawValue); expected a key for \(expected.rawValue)")
            }
            for (key, mate) in [(own, other), (other, own)] {
                if let known = mates.updateValue(mate, forKey: key), known != mate {
                    throw place.error("\(key) has \(known) as its related key already; expected one for each")
                }
            }
        }
    }

    private static func topics(_ value: YAMLValue) throws(SettingsError) -> Set<String> {
        var topics: Set<String> = []
        for topic in try value.oneOrMore() {
            let text = try topic.text()
            do throws(SettingsError) { try FaultText.checkBundleID(text) } catch { throw topic.error("\(error)") }
            topics.insert(text)
        }
        return topics
    }

    /// A .p8, or a PEM public key, which is enough to verify with.
    public static func loadKey(_ path: String) throws(SigningError) -> ProviderKey {
        let pem = try Credentials.read(path)
        let isPublic = String(decoding: pem, as: UTF8.self).contains("BEGIN PUBLIC KEY")
        return isPublic ? try ProviderKey.publicKey(pem: pem, origin: path) : try ProviderKey(pem: pem, origin: path)
    }
}
