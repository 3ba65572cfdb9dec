import ArgumentParser
import Foundation
import MockAPNs
import Networking
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
    var tlsMin = "1.2"

    @Option(help: ArgumentHelp("Newest TLS version, 1.2 or 1.3.", valueName: "version"))
    var tlsMax = "1.3"

    /// - Returns: names of the files that were made.
    func apply(
        to configuration: inout MockConfiguration, host: String, plaintext: Bool
    ) throws -> [String] {
        if !topics.isEmpty { configuration.topics = Set(topics) }
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
        if !plaintext { configuration.tls = try makeTLS(loaded) }
        return created
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
