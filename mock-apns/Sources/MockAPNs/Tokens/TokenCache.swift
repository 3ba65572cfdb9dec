import Signing

/// Provider tokens already judged, so that each distinct one is verified once. Bounded: emptied when it is full.
final class TokenCache {
    private static let limit = 4096
    private let verifier: TokenVerifier
    private var verdicts: [[UInt8]: TokenVerdict] = [:]
    private let accounts: [String: ProviderAccount]
    /// Bundle ids that some key or team is said to be for.
    private let namedTopics: Set<String>
    let updates: TokenUpdates
    /// Tokens of any key and team are taken, as far as they can be judged without their keys.
    let takesAnyKey: Bool

    init(_ accounts: [ProviderAccount], updates: TokenUpdates, takesAnyKey: Bool = false) {
        self.takesAnyKey = takesAnyKey
        verifier = TokenVerifier(accounts.map(\.identity))
        namedTopics = accounts.reduce(into: []) {
            $0.formUnion($1.topics ?? [])
            $0.formUnion($1.teamTopics ?? [])
        }
        self.accounts = Dictionary(accounts.map { ($0.identity.keyID, $0) }, uniquingKeysWith: { first, _ in first })
        self.updates = updates
    }

    /// No key is known, so that nothing can be verified and nothing is demanded.
    var isOff: Bool { accounts.isEmpty }

    func account(_ keyID: String) -> ProviderAccount? { accounts[keyID] }

    /// Some key or team is said to be for this bundle id.
    func names(_ topic: String) -> Bool { namedTopics.contains(topic) }

    /// Whether a token of the second key may come where the connection's first was of the first.
    func areRelated(_ first: String, _ second: String) -> Bool {
        guard let first = accounts[first], let second = accounts[second] else { return false }
        return first.isRelated(to: second)
    }

    func verdict(_ jwt: UnsafeRawBufferPointer) -> TokenVerdict {
        guard jwt.count <= TokenVerifier.longestToken else { return .invalid(.malformed) }
        let key = Array(jwt)
        if let known = verdicts[key] { return known }
        if verdicts.count >= Self.limit { verdicts.removeAll(keepingCapacity: true) }
        let verdict = takesAnyKey ? verifier.verifyShape(jwt) : verifier.verify(jwt)
        verdicts[key] = verdict
        return verdict
    }

    /// What is wrong with a token; nil when nothing is.
    func problem(_ jwt: UnsafeRawBufferPointer) -> String? { verifier.problem(jwt, isAnyKey: takesAnyKey) }
}
