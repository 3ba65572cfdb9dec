import ArgumentParser
import Foundation
import Glibc
import MockAPNs
import Networking
import Payloads
import Signing

/// Who the mock is, and whom it believes.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder with ca.pem, server.pem, server.key, AuthKey.p8 and credentials.json; what is missing is made.",
            valueName: "folder"))
    var credentials: String?

    @Option(
        name: [.customLong("san"), .customLong("server-name")],
        help: ArgumentHelp(
            """
            A name or address that clients call this server by, for the certificate of --credentials, beside localhost, 127.0.0.1, \
            ::1 and --host; *.name: all hosts of a domain. Repeatable.
            """, valueName: "host"))
    var serverNames: [String] = []

    @Option(help: ArgumentHelp("The server's certificate chain, PEM, instead of the folder's.", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The key of --cert, PEM.", valueName: "file"))
    var certKey: String?

    @Option(
        help: ArgumentHelp(
            "Provider key whose tokens are valid (.p8, or a PEM public key), instead of the folder's.",
            valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Key id of --key, 10 characters.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("Team id of --key, 10 characters.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp(
            "More provider keys, of several teams, with what each key and team may push to (YAML; see the README).",
            valueName: "file"))
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "Who may renew its provider token every 20 minutes only: each connection, as Apple says, each key, or off.",
            valueName: "scope"))
    var tokenUpdates = "connection"

    @Option(help: ArgumentHelp("Accept client certificates signed by these CAs, PEM.", valueName: "file"))
    var clientCA: String?

    @Flag(
        help: """
            End the TLS handshake of a client whose certificate is not trusted or has expired, instead of answering its pushes \
            403 BadCertificate.
            """)
    var refuseBadCertificates = false

    @Option(
        name: .customLong("topic"),
        help: ArgumentHelp("Bundle id a push may be for; may be given several times. Default: any.", valueName: "id"))
    var topics: [String] = []

    @Option(help: ArgumentHelp("Oldest TLS version, 1.2 or 1.3.", valueName: "version"))
    var tlsMin = oldest

    @Option(help: ArgumentHelp("Newest TLS version, 1.2 or 1.3.", valueName: "version"))
    var tlsMax = newest

    @Option(
        help: ArgumentHelp(
            "OpenSSL cipher suites for TLS 1.3, the first that a client offers is taken, as TLS_AES_128_GCM_SHA256. Default: the client's first.",
            valueName: "text"))
    var ciphersuites: String?

    private static let (oldest, newest) = ("1.2", "1.3")

    /// - Returns: names of the files that were made.
    func apply(
        to configuration: inout MockConfiguration, host: String, plaintext: Bool
    ) throws -> [String] {
        if !topics.isEmpty { configuration.topics = try bundleIDs("--topic", topics) }
        for topic in topics {
            guard let suffix = PushType.allCases.map(\.topicSuffix).first(where: { !$0.isEmpty && topic.hasSuffix($0) })
            else { continue }
            let bundleID = topic.dropLast(suffix.count)
            Output.error(
                "mock-apns: --topic \(topic): taken for a bundle id that ends so; for \(suffix) pushes to \(bundleID) give \(bundleID)"
            )
        }
        try checkCombinations(plaintext: plaintext)
        guard let scope = TokenUpdates.Scope(rawValue: tokenUpdates) else {
            throw Misuse("--token-updates \(tokenUpdates): expected connection, key or off")
        }
        configuration.tokenUpdates = scope
        var created: [String] = []
        var loaded: Credentials?
        if let credentials {
            guard !credentials.isEmpty else { throw Misuse("--credentials: expected a folder, not an empty text") }
            (loaded, created) = try Credentials.loadOrCreate(
                directory: credentials, hosts: Self.isAny(host) ? serverNames : [host] + serverNames)
        }
        for name in serverNames where cert == nil {
            guard Self.isHost(name) else {
                throw Misuse("--san \(name): expected a host name, such as mock.example.com, or an address")
            }
            guard let credentials, let server = loaded?.server else {
                throw Misuse("--san \(name) needs --credentials, whose certificate is made for it")
            }
            guard server.isFor(name) else {
                throw Misuse("--san \(name): \(loaded?.note ?? "\(credentials)/server.pem is not for it")")
            }
        }
        if cert == nil, let note = loaded?.note { Output.error("mock-apns: \(note)") }
        if let key {
            guard let keyID, let teamID else { throw Misuse("--key needs --key-id and --team-id") }
            configuration.accounts = [
                ProviderAccount(
                    try ProviderIdentity(key: try KeyFile.loadKey(key), keyID: keyID, teamID: teamID))
            ]
        } else if let loaded {
            configuration.accounts = [ProviderAccount(loaded.identity)]
        }
        if let keys {
            let file = try KeyFile(keys)
            configuration.accounts = configuration.accounts.map(file.placed)
            for account in file.accounts {
                let keyID = account.identity.keyID
                guard !configuration.accounts.contains(where: { $0.identity.keyID == keyID }) else {
                    throw Misuse("\(keys): key id \(keyID) is that of --key or --credentials already")
                }
                configuration.accounts.append(account)
            }
        }
        if keys != nil || key != nil, configuration.accounts.isEmpty {
            throw Misuse("\(keys ?? ""): keys: expected at least one, or one of --key or --credentials beside it")
        }
        if !plaintext { configuration.tls = try makeTLS(loaded) }
        return created
    }

    /// That nothing is said that would change nothing.
    private func checkCombinations(plaintext: Bool) throws(Misuse) {
        for (flag, isGiven) in [
            ("--cert", cert != nil), ("--cert-key", certKey != nil), ("--san", !serverNames.isEmpty),
            ("--client-ca", clientCA != nil), ("--tls-min", tlsMin != Self.oldest),
            ("--tls-max", tlsMax != Self.newest), ("--ciphersuites", ciphersuites != nil),
        ] where plaintext && isGiven {
            throw Misuse("\(flag) is of TLS, which --plaintext leaves out; expected one of them")
        }
        for (flag, isGiven, other, isThere) in [
            ("--cert-key", certKey != nil, "--cert", cert != nil), ("--key-id", keyID != nil, "--key", key != nil),
            ("--team-id", teamID != nil, "--key", key != nil),
            ("--refuse-bad-certificates", refuseBadCertificates, "--client-ca", clientCA != nil),
        ] where isGiven && !isThere {
            throw Misuse("\(flag) needs \(other)")
        }
    }

    /// A name, or an address; what is of digits and dots, or has a colon, is the latter.
    private static func isHost(_ text: String) -> Bool {
        var address = in6_addr()
        if text.contains(":") { return inet_pton(AF_INET6, text, &address) == 1 }
        if text.allSatisfy({ $0.isNumber || $0 == "." }) { return inet_pton(AF_INET, text, &address) == 1 }
        return text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-._*".utf8.contains($0)
        }
    }

    /// Whether a server that listens on this address is called by others, or by names a certificate has already.
    static func isAny(_ host: String) -> Bool {
        ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"].contains(host)
    }

    private func makeTLS(_ loaded: Credentials?) throws -> TLSOptions {
        var options = TLSOptions()
        guard let oldest = TLSVersion(rawValue: tlsMin), let newest = TLSVersion(rawValue: tlsMax), tlsMin <= tlsMax
        else { throw Misuse("--tls-min \(tlsMin) --tls-max \(tlsMax): expected 1.2 or 1.3, the oldest first") }
        options.minimumVersion = oldest
        options.maximumVersion = newest
        if let ciphersuites {
            guard newest == .v13 else {
                throw Misuse(
                    "--ciphersuites are of TLS 1.3, which --tls-max \(tlsMax) leaves out; expected one of them")
            }
            options.ciphersuites = ciphersuites
        }
        options.releaseIdleBuffers = true
        if let cert {
            guard let certKey else { throw Misuse("--cert needs --cert-key") }
            options.identity = TLSIdentity(
                certificate: try Credentials.read(cert), key: try Credentials.read(certKey), certificateOrigin: cert,
                keyOrigin: certKey)
        } else {
            let source = try loaded ?? Credentials.ephemeral()
            guard let server = source.server else {
                throw Misuse("\(credentials ?? ""): server.pem and server.key are missing")
            }
            let folder = credentials ?? "(made for this run)"
            options.identity = TLSIdentity(
                certificate: server.certificate, key: server.key, certificateOrigin: folder + "/server.pem",
                keyOrigin: folder + "/server.key")
        }
        if let clientCA {
            options.trustedCertificates = try Credentials.read(clientCA)
            options.trustedOrigin = clientCA
            options.acceptUntrustedClients = !refuseBadCertificates
        }
        return options
    }
}
