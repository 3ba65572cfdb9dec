import ArgumentParser
import Flags
import Harness
import Networking
import Payloads
import Signing

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a provider token for another client: the value of its authorization header.")

    @Option(name: .customLong("credentials"), help: .shown("credentials", "folder"))
    var credentials: String?

    @Option(name: .customLong("key"), help: .shown("key", "file"))
    var key: String?

    @Option(name: .customLong("key-id"), help: .shown("key_id", "text"))
    var keyID: String?

    @Option(name: .customLong("team-id"), help: .shown("team_id", "text"))
    var teamID: String?

    @Option(
        help: ArgumentHelp(
            "Time of issue, UNIX seconds: an old one is refused as expired. Default: now.", valueName: "time"))
    var issuedAt: Int64?

    func run() throws {
        let scenario = try ScenarioArguments.scenario(
            file: nil, settings: [],
            flags: [
                ("credentials", credentials.map { [$0] }), ("key", key.map { [$0] }), ("key_id", keyID.map { [$0] }),
                ("team_id", teamID.map { [$0] }),
            ])
        var provider = try scenario.provider()
        if provider == nil, let folder = scenario.credentials {
            do throws(SigningError) { provider = try Credentials.load(directory: folder).identity } catch {
                throw HarnessError(error.description)
            }
        }
        guard let provider else { throw HarnessError("give --credentials, or --key with --key-id and --team-id") }
        do throws(SigningError) {
            Console.output(try TokenSigner.bearer(provider, unixTime: issuedAt ?? MonotonicClock.unixSeconds()) + "\n")
        } catch {
            throw HarnessError(error.description, .failed)
        }
    }
}

struct DeviceTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-token",
        abstract: "Print the token of a device of the synthetic population.")

    @Argument(help: ArgumentHelp("The device's number, from 0, such as 5 or 10k.", valueName: "number"))
    var device: String

    @Option(help: ArgumentHelp("Seed of the population.", valueName: "number"))
    var seed = "1"

    @Option(
        help: ArgumentHelp(
            "How many devices, from this number on, one a line; at least 1, such as 1k.", valueName: "count")
    )
    var count = "1"

    func run() throws {
        do throws(PayloadError) {
            try DeviceTokens(device: device, seed: seed, count: count).forEach { Console.output($0 + "\n") }
        } catch {
            throw HarnessError(error.description)
        }
    }
}
