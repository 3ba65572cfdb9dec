import Foundation
import Glibc
import Measurement
import Scenarios
import Signing

/// The bundled mock as a child process, with a folder of its own for credentials and ledger.
struct BundledMock: Sendable {
    /// What the mock says about itself at the end.
    struct Counts: Decodable, Sendable {
        struct Ledger: Decodable, Sendable {
            let run: String
            let delivered: UInt64
            let duplicated: UInt64
        }

        let accepted: UInt64
        let rejected: UInt64
        let untracked: UInt64
        let ledgers: [Ledger]
        let peakMemory: UInt64
        let allocations: UInt64?
        /// CPU time of all handshakes, ns.
        let handshakeTime: UInt64
        /// With a device model.
        let devices: DeviceAccount.Figures?
        let echo: EchoReport?

        enum CodingKeys: String, CodingKey {
            case accepted, rejected, untracked, ledgers, allocations, devices, echo
            case peakMemory = "max_rss_bytes"
            case handshakeTime = "handshake_cpu_ns"
        }
    }

    let server: BundledServer<Counts>
    let ledgerPath: String
    /// Push times of the run.
    let timesPath: String
    /// What became of each push at its device.
    let devicesPath: String

    /// - Parameters:
    ///   - folder: for the ledger and the push times; must exist.
    ///   - ledgerCapacity: pushes tracked.
    ///   - timesInterval: one push in so many has its times noted; nil: none.
    ///   - credentials: the credentials folder; what is missing is made by the mock.
    ///   - clientCA: certificates whose holders may connect, PEM file.
    ///   - backend: whom devices ask, where there is a device model.
    ///   - provider, providerFile: a provider key given by itself.
    init(
        scenario: Scenario, folder: String, ledgerCapacity: UInt64, timesInterval: UInt64?, credentials: String,
        clientCA: String?, backend: String?,
        provider: ProviderIdentity?,
        providerFile: String?
    ) {
        ledgerPath = folder + "/ledger"
        timesPath = folder + "/times"
        devicesPath = folder + "/devices"
        var arguments = [
            "--port", "0", "--json", "--until-stdin-closes", "--credentials", credentials, "--ledger-out", ledgerPath,
            "--threads", String(scenario.mockThreads), "--ledger-capacity", String(ledgerCapacity),
        ]
        if let timesInterval { arguments += ["--times-out", timesPath, "--times-every", String(timesInterval)] }
        if scenario.plaintext { arguments.append("--plaintext") }
        if let provider, let providerFile {
            arguments += ["--key", providerFile, "--key-id", provider.keyID, "--team-id", provider.teamID]
        }
        if let clientCA, !scenario.plaintext { arguments += ["--client-ca", clientCA] }
        if scenario.deviceFile == nil, scenario.registrations == nil {
            arguments += ["--devices", String(scenario.devices), "--device-seed", String(scenario.seed)]
        }
        if let model = scenario.deviceModel {
            arguments += ["--device-model", model, "--device-log", devicesPath]
            if let backend { arguments += ["--device-backend", backend] }
            arguments += scenario.allowedTargets.flatMap { ["--allow-device-backend", $0] }
        }
        // Apple refuses tokens renewed more often than every 20 minutes; such policies are measured all the same.
        if !scenario.signPolicy.hasPrefix("cached") { arguments += ["--token-updates", "off"] }
        server = BundledServer(
            name: "the bundled mock", arguments: arguments + scenario.mockFlags,
            flag: !scenario.mockFlags.isEmpty ? "--mock-flags" : scenario.deviceModel != nil ? "--device-model" : nil)
    }
}
