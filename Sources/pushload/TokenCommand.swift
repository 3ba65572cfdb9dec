import ArgumentParser
import Harness
import Networking
import Payloads
import Signing

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a provider token for another client: the value of its authorization header.")

    @OptionGroup var identity: IdentityOptions

    func run() throws {
        var provider = try identity.provider()
        if provider == nil, let folder = identity.credentials {
            do throws(SigningError) { provider = try Credentials.load(directory: folder).identity } catch {
                throw HarnessError(error.description)
            }
        }
        guard let provider else { throw HarnessError("give --credentials, or --key with --key-id and --team-id") }
        do throws(SigningError) {
            Console.output(try TokenSigner.bearer(provider, unixTime: MonotonicClock.unixSeconds()) + "\n")
        } catch {
            throw HarnessError(error.description, isUsage: false)
        }
    }
}

struct DeviceTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device-token",
        abstract: "Print the token of a device of the synthetic population.")

    @Argument(help: "The device's number, from 0.")
    var device: UInt64

    @Option(help: "Seed of the population.")
    var seed: UInt64 = 1

    func run() throws {
        Console.output(SyntheticDevices(seed: seed, count: .max).token(device) + "\n")
    }
}
