import ArgumentParser
import Glibc
import Payloads
import Signing

/// As `pushload token`, for who has the mock alone.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a provider token for a client: the value of its authorization header.")

    @Option(help: ArgumentHelp("Folder with AuthKey.p8 and credentials.json.", valueName: "folder"))
    var credentials: String?

    @Option(help: ArgumentHelp("Provider key (.p8), instead of the folder's.", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("Key id of --key, 10 characters, or another one than the folder's.", valueName: "id"))
    var keyID: String?

    @Option(help: ArgumentHelp("Team id of --key, 10 characters, or another one than the folder's.", valueName: "id"))
    var teamID: String?

    @Option(
        help: ArgumentHelp(
            "Time of issue, UNIX seconds: an old one is refused as expired. Default: now.", valueName: "time"),
        transform: unixSeconds)
    var issuedAt: Int64?

    func run() throws {
        let identity: ProviderIdentity
        do { identity = try provider() } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
        do throws(SigningError) {
            Output.line(try TokenSigner.bearer(identity, unixTime: issuedAt ?? Int64(time(nil))))
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(1)
        }
    }

    private func provider() throws -> ProviderIdentity {
        if let key {
            guard let keyID, let teamID else { throw Misuse("--key needs --key-id and --team-id") }
            return try ProviderIdentity(
                key: try ProviderKey(pem: try Credentials.read(key), origin: key), keyID: keyID, teamID: teamID)
        }
        guard let credentials, !credentials.isEmpty else {
            throw Misuse("give --credentials, or --key with --key-id and --team-id")
        }
        let own = try Credentials.load(directory: credentials).identity
        return try ProviderIdentity(key: own.key, keyID: keyID ?? own.keyID, teamID: teamID ?? own.teamID)
    }
}

/// As `pushload device-token`.
struct DeviceTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-token",
        abstract: "Print the token of a device of the synthetic population (--devices).")

    @Argument(help: ArgumentHelp("The device's number, from 0, such as 5 or 10k.", valueName: "number"))
    var device: String

    @Option(help: ArgumentHelp("Seed of the population (--device-seed).", valueName: "number"))
    var seed = "1"

    @Option(
        help: ArgumentHelp(
            "How many devices, from this number on, one a line; at least 1, such as 1k.", valueName: "count"))
    var count = "1"

    func run() throws {
        do throws(PayloadError) {
            try DeviceTokens(device: device, seed: seed, count: count).forEach { Output.line($0) }
        } catch {
            Output.error("mock-apns: \(error)")
            throw ExitCode(64)
        }
    }
}
