import Signing

/// The provider tokens of one situation: which there were, and whether they are good.
final class ProviderTokens {
    private let verifier: TokenVerifier
    private var places: [String: Int] = [:]
    /// Tokens that are kept apart; what a client shows beyond them counts as the last.
    private static let most = 1000

    init(_ identity: ProviderIdentity) { verifier = TokenVerifier([identity]) }

    /// The place of an `authorization` value among those of the journal, which it is added to when it is new.
    func place(_ authorization: String, in journal: inout Journal, unixSeconds: Int64) -> Int {
        if let place = places[authorization] { return place }
        if places.count == Self.most { return Self.most - 1 }
        let place = journal.providerTokens.count
        places[authorization] = place
        journal.providerTokens.append(problem(authorization, unixSeconds: unixSeconds))
        return place
    }

    private func problem(_ authorization: String, unixSeconds: Int64) -> String? {
        guard authorization.lowercased().hasPrefix("bearer ") else { return "not \"bearer\" and a token" }
        let jwt = Array(authorization.utf8.dropFirst(7))
        return jwt.withUnsafeBytes { bytes in
            switch verifier.verify(bytes) {
            case .valid(let issuedAt, _):
                let (age, isFar) = unixSeconds.subtractingReportingOverflow(issuedAt)
                return isFar || !(-3600...3600).contains(age) ? "issued more than an hour from now" : nil
            case .invalid(.malformed): return "not three Base64url parts of JSON objects"
            case .invalid(.wrongAlgorithm): return "alg is not ES256"
            case .invalid(.unknownKey): return "kid is not EXAM_KEY_ID"
            case .invalid(.wrongTeam): return "iss is not EXAM_TEAM_ID"
            case .invalid(.noIssueTime): return "iat is missing or no number"
            case .invalid(.badSignature): return "not signed with EXAM_KEY"
            }
        }
    }
}
