import Foundation
import Glibc

/// A server certificate that ends soon, or is not for all names its server is called by, is made anew for the same key by the
/// authority that signed it: clients that trust the authority need nothing new. Only `server.pem` changes, at once.
extension Credentials {
    /// A certificate that ends within so many seconds is made anew.
    static let renewalTime: Int64 = 30 * 86_400

    /// These credentials with a server certificate that lasts and is for all hosts, as far as it can be made; `note` says why
    /// it could not.
    ///
    /// - Returns: the credentials, and the names of the files made.
    /// - Throws: one line when the certificate has ended and no other can be made.
    func withLastingCertificate(
        _ directory: String, hosts: [String]
    ) throws(SigningError) -> (credentials: Credentials, created: [String]) {
        let now = Int64(time(nil))
        guard let server, let reason = Self.reasonToRenew(server, hosts: hosts, now: now) else { return (self, []) }
        do throws(SigningError) {
            guard Self.has("ca.key", directory) else {
                throw SigningError(
                    "there is no ca.key to sign another with; remove ca.pem, server.pem and server.key to have new ones made"
                )
            }
            return try Self.renewed(directory, hosts: hosts, now: now)
        } catch {
            let line = "\(directory)/server.pem \(reason), and was not made anew: \(error)"
            if let end = server.end, end <= now { throw SigningError(line) }
            var noted = self
            noted.note = line
            return (noted, [])
        }
    }

    private static func renewed(
        _ directory: String, hosts: [String], now: Int64
    ) throws(SigningError) -> (credentials: Credentials, created: [String]) {
        let lock = try locked(directory)
        defer { close(lock) }
        // Another program may have done it meanwhile.
        let present = try load(directory: directory)
        guard let server = present.server, reasonToRenew(server, hosts: hosts, now: now) != nil else {
            return (present, [])
        }
        let key = try ProviderKey(pem: server.key, origin: directory + "/server.key")
        let issued = try authority(directory).issueServer(hosts: server.hosts + hosts, key: key)
        // It is valid no longer than its authority.
        let isNoBetter = server.end == issued.end && hosts.allSatisfy(server.isFor)
        if let reason = reasonToRenew(issued, hosts: hosts, now: now), isNoBetter || issued.end ?? 0 <= now {
            throw SigningError("\(directory)/ca.pem itself \(reason)")
        }
        try write(issued.certificate, to: directory + "/server.pem", mode: 0o644)
        return (try load(directory: directory), ["server.pem"])
    }

    /// Why a server certificate should be made anew; nil when it need not be, or is none, which TLS says better.
    private static func reasonToRenew(_ server: CertificateAuthority.Issued, hosts: [String], now: Int64) -> String? {
        guard let end = server.end else { return nil }
        if end <= now { return "ended on \(day(end))" }
        if let host = hosts.first(where: { !server.isFor($0) }) { return "is not for \(host)" }
        return end - now < renewalTime ? "ends on \(day(end))" : nil
    }

    private static func day(_ unixTime: Int64) -> String {
        Date(timeIntervalSince1970: Double(unixTime)).formatted(.iso8601.year().month().day())
    }
}
