/// Who signs: the key, its id and the team it belongs to.
public struct ProviderIdentity: Sendable {
    public let key: ProviderKey
    /// The JWT's `kid`: 10 characters A–Z, 0–9.
    public let keyID: String
    /// The JWT's `iss`: 10 characters A–Z, 0–9.
    public let teamID: String

    public init(key: ProviderKey, keyID: String, teamID: String) throws(SigningError) {
        try Self.check(keyID, "key id")
        try Self.check(teamID, "team id")
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    private static func check(_ text: String, _ what: String) throws(SigningError) {
        let isRight = text.utf8.count == 10 && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
        guard isRight else {
            throw SigningError("\(what) \"\(text)\": expected 10 characters of A-Z and 0-9, as in ABC123DEFG")
        }
    }
}
