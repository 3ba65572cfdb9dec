import ArgumentParser
import Harness
import Networking
import Scenarios
import Signing

/// Who sends, and whom we trust.
struct IdentityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder with AuthKey.p8, credentials.json and ca.pem, as mock-apns --credentials makes it.",
            valueName: "folder"))
    var credentials: String?

    @Option(help: ArgumentHelp("Provider key (.p8).", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Key id of --key, 10 characters.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("Team id of --key, 10 characters.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp("Client certificate (PEM): certificate authentication instead of tokens.", valueName: "file")
    )
    var cert: String?

    @Option(help: ArgumentHelp("Key of --cert (PEM).", valueName: "file"))
    var certKey: String?

    @Option(help: ArgumentHelp("Trust the certificate authorities in this file (PEM).", valueName: "file"))
    var cacert: String?

    @Flag(help: "Send no authorization at all.")
    var noAuth = false

    @Option(help: "When provider tokens are signed: cached[:50m], per-connection, every:N or per-push.")
    var signPolicy = "cached"

    func provider() throws(HarnessError) -> ProviderIdentity? {
        guard let key else {
            if keyID != nil || teamID != nil { throw HarnessError("--key-id and --team-id go with --key") }
            return nil
        }
        guard let keyID, let teamID else { throw HarnessError("--key needs --key-id and --team-id") }
        do throws(SigningError) {
            return try ProviderIdentity(
                key: try ProviderKey(pem: try Credentials.read(key), origin: key), keyID: keyID, teamID: teamID)
        } catch {
            throw HarnessError(error.description)
        }
    }

    func apply(to scenario: inout Scenario) throws(HarnessError) -> Run.Identity {
        var identity = Run.Identity()
        identity.credentials = credentials
        identity.provider = try provider()
        identity.providerFile = key
        do throws(SigningError) {
            if let cert {
                guard let certKey else { throw SigningError("--cert needs --cert-key") }
                identity.certificate = TLSIdentity(
                    certificate: try Credentials.read(cert), key: try Credentials.read(certKey),
                    certificateOrigin: cert, keyOrigin: certKey)
            } else if certKey != nil {
                throw SigningError("--cert-key goes with --cert")
            }
            if let cacert {
                identity.trusted = try Credentials.read(cacert)
                identity.trustedOrigin = cacert
            }
        } catch {
            throw HarnessError(error.description)
        }
        scenario.signPolicy = signPolicy
        scenario.authentication = noAuth ? "none" : cert != nil ? "certificate" : "token"
        if scenario.target != nil, scenario.authentication == "token", key == nil, credentials == nil {
            throw HarnessError(
                "--target needs to know how to authenticate: give --credentials, --key with --key-id and --team-id, "
                    + "--cert with --cert-key, or --no-auth")
        }
        return identity
    }
}
