import Foundation
import Settings
import Testing

@testable import MockAPNs
@testable import Signing

/// Files of provider keys and of what teams own.
@Suite final class KeyFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID())")
    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(ProviderKey.ephemeral().privateKeyPEM()).write(to: folder.appendingPathComponent("a.p8"))
    }
    deinit { try? FileManager.default.removeItem(at: folder) }

    private func read(_ text: String) throws -> KeyFile {
        let file = folder.appendingPathComponent("keys.yaml")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return try KeyFile(file.path)
    }

    /// Without the folder.
    private func complaint(_ text: String) -> String {
        do {
            _ = try read(text)
            return "taken"
        } catch { return "\(error)".replacingOccurrences(of: folder.path + "/", with: "") }
    }

    @Test("A list of keys, and one beside what teams own")
    func forms() throws {
        let list = try read("[{key: a.p8, key_id: AAAAAAAAAA, team_id: TEAM000000}]")
        #expect(list.accounts.count == 1 && list.accounts[0].scope == nil)
        let file = try read(
            """
            teams:
              - {team_id: TEAM000000, topics: [com.one, com.two]}
            keys:
              - {key: a.p8, key_id: AAAAAAAAAA, team_id: TEAM000000}
              - {key: a.p8, key_id: BBBBBBBBBB, team_id: TEAM000000, environment: production, topics: com.two, related: CCCCCCCCCC}
              - {key: a.p8, key_id: CCCCCCCCCC, team_id: TEAM000000, environment: production, topics: [com.two]}
              - {key: a.p8, key_id: DDDDDDDDDD, team_id: OTHERTEAM0}
            """)
        func pushes(_ index: Int) -> [Bool] {
            ["com.one", "com.two", "com.three"].map { file.accounts[index].scope?.includes($0) ?? true }
        }
        #expect(pushes(0) == [true, true, false] && pushes(1) == [false, true, false])
        #expect(pushes(3) == [false, false, true])
        let (second, third) = (file.accounts[1], file.accounts[2])
        #expect(second.isRelated(to: third) && third.isRelated(to: second) && !second.isRelated(to: file.accounts[0]))
        // A key from elsewhere is of its team too.
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "EEEEEEEEEE", teamID: "OTHERTEAM0")
        #expect(file.placed(ProviderAccount(identity)).scope?.includes("com.one") == false)
    }

    @Test("What cannot be is refused with its place")
    func refusals() {
        func keys(_ list: String...) -> String {
            list.map { "- {key: a.p8, \($0)}" }.joined(separator: "\n")
        }
        let (one, two) = ("key_id: AAAAAAAAAA, team_id: TEAM000000", "key_id: BBBBBBBBBB, team_id: TEAM000000")
        for (text, expected) in [
            (
                "- {key: a.p8, keyid: AAAAAAAAAA, team_id: TEAM000000}",
                "keys.yaml:1:15: [0]: unknown key \"keyid\"; did you mean \"key_id\"?"
            ),
            ("key: []", "keys.yaml:1:1: unknown key \"key\"; did you mean \"keys\"?"),
            (
                keys(one + ", topics: [com.one]"),
                "keys.yaml:1:64: [0].topics: a key for topics is for one environment; expected environment: production or development beside it"
            ),
            (
                keys(one + ", environment: production, topics: [com one]"),
                "keys.yaml:1:90: [0].topics[0]: \"com one\": expected a bundle id, as in com.example.app"
            ),
            (
                keys(one + ", related: CCCCCCCCCC"),
                "keys.yaml:1:65: [0].related: CCCCCCCCCC: expected the key_id of another key of this file"
            ),
            (
                keys(one + ", related: AAAAAAAAAA"),
                "keys.yaml:1:65: [0].related: AAAAAAAAAA: expected the key_id of another key of this file"
            ),
            (
                keys(one + ", related: BBBBBBBBBB", "key_id: BBBBBBBBBB, team_id: OTHERTEAM0"),
                "keys.yaml:1:65: [0].related: BBBBBBBBBB is of team OTHERTEAM0; expected a key of the same team"
            ),
            (
                keys(one + ", environment: production, related: BBBBBBBBBB", two + ", environment: development"),
                "keys.yaml:1:90: [0].related: BBBBBBBBBB is for development; expected a key for production"
            ),
            (
                keys(
                    one + ", related: BBBBBBBBBB", two, "key_id: CCCCCCCCCC, team_id: TEAM000000, related: BBBBBBBBBB"),
                "keys.yaml:3:65: [2].related: BBBBBBBBBB has AAAAAAAAAA as its related key already; expected one for each"
            ),
            (
                "teams: [{team_id: A, topics: [a.b]}, {team_id: B, topics: [a.b]}]\nkeys: []",
                "keys.yaml:1:59: teams[1].topics: a.b is team A's already; expected a topic of one team only"
            ),
            (
                "teams: [{team_id: A, topics: [a.b]}, {team_id: A, topics: [c.d]}]\nkeys: []",
                "keys.yaml:1:38: teams[1]: team A is given twice"
            ),
            (
                "teams: [{team_id: TEAM000000, topics: [a.b]}]\nkeys: [{key: a.p8, \(one), environment: production, topics: c.d}]",
                "keys.yaml:2:94: keys[0].topics: c.d is not team TEAM000000's; expected some of its topics"
            ),
        ] { #expect(complaint(text) == expected) }
        #expect(complaint("teams: []").contains("keys"))
        #expect(complaint("keys: []\nteam: []").contains("team"))
    }
}
