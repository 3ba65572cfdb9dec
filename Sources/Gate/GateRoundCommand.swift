import Analysis
import ArgumentParser
import Flags
import Foundation
import Glibc
import Harness
import Networking
import Reference
import Results
import Settings

/// What a gate's process tells that of a round, which may be of another version: it leaves alone what it does not know.
struct GateRoundOrder: Codable {
    /// By the names a result has the settings under; what is not among them is as it is without being asked for.
    var scenario: [String: JSONValue]
    /// ns a push.
    var injectedCPU: UInt64
    var onOneCore: Bool
}

/// One round of a gate: the order on standard input, the round on standard output, as JSON.
package struct GateRoundCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(commandName: "gate-round", shouldDisplay: false)

    /// About 16 ms.
    private static let records = 1000

    package init() {}

    package func run() async throws {
        let order = try JSONDecoder().decode(
            GateRoundOrder.self, from: FileHandle.standardInput.readDataToEndOfFile())
        // The last one: interrupts are seldom there. The mock inherits it.
        if order.onOneCore, let core = CoreAffinity.allowed().last { CoreAffinity.keep(pid: getpid(), to: [core]) }
        let scenario = try ScenarioSettings.read(order.scenario, origin: "gate-round")
        let kernel: ReferenceKernel
        do throws(ReferenceKernel.Failure) { kernel = try ReferenceKernel() } catch {
            throw HarnessError("the reference kernel cannot run: \(error)", .failed)
        }
        let run = try Run(scenario, identity: try scenario.identity(), injectedCPU: order.injectedCPU)
        // Memory and caches find their place first.
        _ = kernel.measure(records: Self.records / 4)
        let before = kernel.measure(records: Self.records)
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        guard let result = try await series.execute(run) else { throw ExitCode(1) }
        let after = kernel.measure(records: Self.records)
        let verdict = RunVerdict(result)
        guard verdict.isGood else { throw HarnessError(verdict.problems.joined(separator: "\n"), .failed) }
        let answer = GateRoundAnswer(
            schema: GateRoundAnswer.currentSchema, values: GateMetric.values(result), kernelBefore: before,
            kernelAfter: after)
        Console.output(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
    }
}
