import ArgumentParser

/// Who sends, and whom we trust. Each flag is the `ScenarioKey` of its name.
package struct IdentityOptions: ParsableArguments {
    package init() {}

    @Option(name: .customLong("credentials"), help: .of("credentials", "folder"))
    package var credentials: String?

    @Option(name: .customLong("key"), help: .of("key", "file"))
    package var key: String?

    @Option(name: .customLong("key-id"), help: .of("key_id", "text"))
    package var keyID: String?

    @Option(name: .customLong("team-id"), help: .of("team_id", "text"))
    package var teamID: String?

    @Option(name: .customLong("cert"), help: .of("cert", "file"))
    package var cert: String?

    @Option(name: .customLong("cert-key"), help: .of("cert_key", "file"))
    package var certKey: String?

    @Option(name: .customLong("cacert"), help: .of("cacert", "file"))
    package var cacert: String?

    @Flag(name: .customLong("no-auth"), help: .of("no_auth"))
    package var noAuth = false

    @Option(name: .customLong("sign-policy"), help: .of("sign_policy", "text"))
    package var signPolicy: String?

    /// The flags that were given, by key.
    package var given: [(key: String, texts: [String]?)] {
        [
            ("credentials", credentials.map { [$0] }),
            ("key", key.map { [$0] }),
            ("key_id", keyID.map { [$0] }),
            ("team_id", teamID.map { [$0] }),
            ("cert", cert.map { [$0] }),
            ("cert_key", certKey.map { [$0] }),
            ("cacert", cacert.map { [$0] }),
            ("no_auth", noAuth ? ["true"] : nil),
            ("sign_policy", signPolicy.map { [$0] }),
        ]
    }
}
