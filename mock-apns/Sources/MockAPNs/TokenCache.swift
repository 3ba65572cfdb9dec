import Signing

/// Provider tokens already judged, so that each distinct one is verified once. Bounded: emptied when it is full.
final class TokenCache {
    private static let limit = 4096
    private let verifier: TokenVerifier
    private var verdicts: [[UInt8]: TokenVerdict] = [:]

    init(_ identities: [ProviderIdentity]) { verifier = TokenVerifier(identities) }

    func verdict(_ jwt: UnsafeRawBufferPointer) -> TokenVerdict {
        guard jwt.count <= TokenVerifier.longestToken else { return .invalid(.malformed) }
        let key = Array(jwt)
        if let known = verdicts[key] { return known }
        if verdicts.count >= Self.limit { verdicts.removeAll(keepingCapacity: true) }
        let verdict = verifier.verify(jwt)
        verdicts[key] = verdict
        return verdict
    }
}
