import Signing

/// The `authorization` value of a push: ready at hand, or an ES256 signature for each.
final class SignStage: Stage {
    private let signer: TokenSigner

    init(_ name: String, policy: SigningPolicy) throws {
        signer = try TokenSigner(
            identity: try ProviderIdentity(
                key: try ProviderKey.ephemeral(), keyID: "ABCDE12345", teamID: "FGHIJ67890"),
            policy: policy, shared: SharedToken(), firstConnection: 0, connections: 1)
        super.init(name, isOpenSSL: policy == .perPush)
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        var total: UInt64 = 0
        for _ in pushes {
            let value = signer.authorization(connection: 0, unixTime: 1_700_000_000)
            total &+= UInt64(value[value.count &- 1])
        }
        return total
    }
}
