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

        enum CodingKeys: String, CodingKey {
            case accepted, rejected, untracked, ledgers, allocations
            case peakMemory = "max_rss_bytes"
        }
    }

    /// A running mock.
    struct Handle: Sendable {
        let url: String
        let pid: pid_t
        let ledgerPath: String
        /// Push times of the run.
        let timesPath: String
    }

    private struct Event: Decodable {
        let event: String
        let url: String?
    }

    /// How long the mock may take to end, ns.
    private static let patience: UInt64 = 15_000_000_000
    /// And to start, ns.
    private static let patienceAtStart: UInt64 = 60_000_000_000

    let executable: String
    let arguments: [String]
    /// Some are the user's own.
    private let hasFlags: Bool
    let ledgerPath: String
    let timesPath: String

    /// - Parameters:
    ///   - folder: for the ledger and the push times; must exist.
    ///   - ledgerCapacity: pushes tracked.
    ///   - timesInterval: one push in so many has its times noted; nil: none.
    ///   - credentials: the credentials folder; what is missing is made by the mock.
    ///   - clientCA: certificates whose holders may connect, PEM file.
    ///   - provider, providerFile: a provider key given by itself.
    init(
        scenario: Scenario, folder: String, ledgerCapacity: UInt64, timesInterval: UInt64?, credentials: String,
        clientCA: String?,
        provider: ProviderIdentity?,
        providerFile: String?
    ) throws(HarnessError) {
        executable = try Self.locate()
        ledgerPath = folder + "/ledger"
        timesPath = folder + "/times"
        var arguments = [
            "--port", "0", "--json", "--until-stdin-closes", "--credentials", credentials, "--ledger-out", ledgerPath,
            "--threads", String(scenario.mockThreads), "--ledger-capacity", String(ledgerCapacity),
        ]
        if let timesInterval { arguments += ["--times-out", timesPath, "--times-every", String(timesInterval)] }
        if scenario.plaintext { arguments.append("--plaintext") }
        if let provider, let providerFile {
            arguments += ["--key", providerFile, "--key-id", provider.keyID, "--team-id", provider.teamID]
        }
        if let clientCA { arguments += ["--client-ca", clientCA] }
        if scenario.deviceFile == nil, scenario.registrations == nil {
            arguments += ["--devices", String(scenario.devices), "--device-seed", String(scenario.seed)]
        }
        // Apple refuses tokens renewed more often than every 20 minutes; such policies are measured all the same.
        if !scenario.signPolicy.hasPrefix("cached") { arguments += ["--token-updates", "off"] }
        self.arguments = arguments + scenario.mockFlags
        hasFlags = !scenario.mockFlags.isEmpty
    }

    /// Beside our own executable.
    private static func locate() throws(HarnessError) -> String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let path = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("mock-apns").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError(
                "the bundled mock is missing: expected \(path); build it (swift build) or give --target", .failed
            )
        }
        return path
    }

    /// Starts the mock, calls `body` with it, stops it, and reads what it counted.
    ///
    /// - Parameters:
    ///   - ended: called when the mock ends before `body` does.
    /// - Returns: what `body` returned, and the mock's counts, nil when it died.
    func run<Result: Sendable>(
        ended: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Handle) async throws -> Result
    ) async throws -> (Result, Counts?) {
        let mock: ChildProcess
        do { mock = try ChildProcess(executable, arguments, hasInput: true) } catch {
            throw HarnessError("the bundled mock did not start: \(error.localizedDescription)", .failed)
        }
        let starter = Task {
            try await Task.sleep(nanoseconds: Self.patienceAtStart)
            mock.send(SIGKILL)
        }
        var lines = mock.lines.makeAsyncIterator()
        guard let first = await lines.next(),
            let event = try? JSONDecoder().decode(Event.self, from: Data(first.utf8)), let url = event.url
        else {
            mock.send(SIGKILL)
            _ = await mock.end()
            starter.cancel()
            throw HarnessError(
                hasFlags ? "the bundled mock did not start: see --mock-flags" : "the bundled mock did not start",
                hasFlags ? .usage : .failed)
        }
        starter.cancel()
        let handle = Handle(url: url, pid: mock.pid, ledgerPath: ledgerPath, timesPath: timesPath)
        let work = Task { try await body(handle) }
        let stopper = Task {
            _ = await work.result
            mock.send(SIGTERM)
            // One that is frozen, or does not end for any other reason, must not hold up the result.
            try await Task.sleep(nanoseconds: Self.patience)
            mock.send(SIGKILL)
        }
        var counts: Counts?
        while let line = await lines.next() {
            if let read = try? JSONDecoder().decode(Counts.self, from: Data(line.utf8)) { counts = read }
        }
        _ = await mock.end()
        ended()
        let result = await work.result
        stopper.cancel()
        return (try result.get(), counts)
    }
}
