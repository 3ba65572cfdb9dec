import Foundation
import Harness
import Networking
import Scenarios
import Signing

extension Scenario {
    /// The provider key given by itself; nil when none is.
    package func provider() throws(HarnessError) -> ProviderIdentity? {
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

    /// Everything about the sender, read from its files; of a target that may not be sent to nothing more is asked.
    package func identity() throws(HarnessError) -> Run.Identity {
        if let target {
            let allowed = AllowedTargets(allowedTargets, ProcessInfo.processInfo.environment)
            for url in target.urls { try allowed.check(url) }
        }
        guard idle.isEmpty else {
            throw HarnessError(RunInputs.problems(withDefaultTopic).joined(separator: "\n"))
        }
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
            }
            if let cacert {
                identity.trusted = try Credentials.read(cacert)
                identity.trustedOrigin = cacert
            }
        } catch {
            throw HarnessError(error.description)
        }
        if target != nil, authentication == "token", key == nil, credentials == nil {
            throw HarnessError(
                "--target needs to know how to authenticate: give --credentials, --key with --key-id and --team-id, "
                    + "--cert with --cert-key, or --no-auth")
        }
        try Self.checkTLS(identity)
        var isFolder: ObjCBool = false
        if let credentials, FileManager.default.fileExists(atPath: credentials, isDirectory: &isFolder),
            !isFolder.boolValue
        {
            throw HarnessError("credentials \(credentials): expected a folder, this is a file")
        }
        if target != nil, let credentials {
            do throws(SigningError) { _ = try Credentials.load(directory: credentials) } catch {
                throw HarnessError(error.description)
            }
        } else if let credentials, !FileManager.default.fileExists(atPath: credentials) {
            let place = URL(fileURLWithPath: credentials).path
            Console.error("credentials: there is no \(place); new ones for the bundled mock are made there")
        }
        return identity
    }

    /// - Throws: one line: a certificate, its key or who is trusted, that cannot be used.
    private static func checkTLS(_ identity: Run.Identity) throws(HarnessError) {
        guard identity.certificate != nil || identity.trusted != nil else { return }
        var options = TLSOptions()
        options.identity = identity.certificate
        options.trustedCertificates = identity.trusted
        options.trustedOrigin = identity.trustedOrigin
        do throws(NetworkError) { _ = try TLSContext(.client, options) } catch {
            throw HarnessError(error.description)
        }
    }
}
