import ArgumentParser
import Echo
import MockAPNs
import Networking
import Settings
import Signing

/// Whom the devices of a model ask for content, and how.
struct EchoOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The backend that devices ask: http://[name:password@]host:port[/path], or https. Without credentials device:device. Default: none, so that every fetch fails.",
            valueName: "url"))
    var deviceBackend: String?

    @Option(
        help: ArgumentHelp(
            "Requests of devices under way at once, 1 to 50000 (default 1000). More wait for a place until their deadline.",
            valueName: "count"))
    var deviceRequests: String?

    @Option(
        help: ArgumentHelp(
            "HTTP of devices: 1.1, 2, or auto (default): 2 where TLS agrees on it, else 1.1. With 2, requests share connections.",
            valueName: "version"))
    var deviceBackendHTTP: String?

    @Option(
        name: .customLong("device-backend-ca"),
        help: ArgumentHelp(
            "Certificates to trust in a backend with https, PEM. Default: ca.pem of --credentials, or the system's.",
            valueName: "file"))
    var deviceBackendCA: String?

    @Flag(help: "Each request of a device on a connection of its own, as of different phones. Default: shared ones.")
    var deviceFreshConnections = false

    @Option(
        help: ArgumentHelp(
            "A host other than this machine that devices may ask, because it is yours to load. Repeatable.",
            valueName: "host"))
    var allowDeviceBackend: [String] = []

    /// - Parameter credentials: the folder of `--credentials`.
    func apply(to configuration: inout MockConfiguration, credentials: String?) throws {
        guard let deviceBackend else {
            for (flag, isGiven) in [
                ("--device-requests", deviceRequests != nil), ("--device-backend-http", deviceBackendHTTP != nil),
                ("--device-backend-ca", deviceBackendCA != nil),
                ("--device-fresh-connections", deviceFreshConnections),
                ("--allow-device-backend", !allowDeviceBackend.isEmpty),
            ] where isGiven {
                throw Misuse("\(flag) needs --device-backend")
            }
            return
        }
        guard configuration.deviceModel != nil else { throw Misuse("--device-backend needs --device-model") }
        var echo = EchoConfiguration(try EchoTarget(deviceBackend, allowed: allowDeviceBackend))
        if let deviceRequests {
            let count = try reading("--device-requests", deviceRequests, Units.count)
            guard (1...50_000).contains(count) else {
                throw Misuse("--device-requests \(deviceRequests): expected 1 to 50000")
            }
            echo.places = Int(count)
        }
        if let deviceBackendHTTP {
            guard let version = EchoConfiguration.Version(rawValue: deviceBackendHTTP) else {
                throw Misuse("--device-backend-http \(deviceBackendHTTP): expected 1.1, 2 or auto")
            }
            echo.version = version
        }
        if deviceBackendCA != nil, !echo.target.isSecure {
            throw Misuse("--device-backend-ca needs a backend with https")
        }
        if let deviceBackendCA { try checkCertificates(deviceBackendCA) }
        if echo.target.isSecure { echo.certificates = deviceBackendCA ?? credentials.map { $0 + "/ca.pem" } }
        echo.hasFreshConnections = deviceFreshConnections
        echo.seed = configuration.delivery.seed
        configuration.deviceBackend = echo
    }

    /// - Throws: when the file cannot be read, or has no certificate.
    private func checkCertificates(_ file: String) throws {
        var options = TLSOptions()
        options.trustedCertificates = try Credentials.read(file)
        options.trustedOrigin = "--device-backend-ca \(file)"
        do throws(NetworkError) { _ = try TLSContext(.client, options) } catch { throw Misuse("\(error)") }
    }
}
