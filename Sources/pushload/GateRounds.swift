import Analysis
import Glibc
import Harness
import Networking
import Reference
import Results
import Scenarios

/// Rounds of a gate: runs of one scenario with the reference kernel in between.
final class GateRounds {
    /// About 19 ms.
    private static let records = 1000

    private let scenario: Scenario
    private let injectedCPU: UInt64
    private let kernel: ReferenceKernel
    private var kernelBefore = 0.0
    /// The latest run.
    private(set) var last: ResultDocument?

    /// - Parameters:
    ///   - injectedCPU: ns a push.
    ///   - onOneCore: this process, and the mock it starts, are kept to one core.
    init(_ scenario: Scenario, injectedCPU: UInt64, onOneCore: Bool) throws(HarnessError) {
        self.scenario = scenario
        self.injectedCPU = injectedCPU
        do throws(ReferenceKernel.Failure) { kernel = try ReferenceKernel() } catch {
            throw HarnessError("the reference kernel cannot run: \(error)", isUsage: false)
        }
        // Before anything is sent: what cannot be run is found out now.
        _ = try makeRun()
        // The last one: interrupts are seldom there.
        if onOneCore, let core = CoreAffinity.allowed().last { CoreAffinity.keep(pid: getpid(), to: [core]) }
    }

    /// One round that does not count: memory, caches and clocks find their place.
    func warmUp() async throws {
        _ = kernel.measure(records: Self.records)
        _ = try await run()
        kernelBefore = kernel.measure(records: Self.records)
    }

    func next() async throws -> GateDocument.Round {
        let result = try await run()
        let after = kernel.measure(records: Self.records)
        let round = GateMetric.round(result, kernelBefore: kernelBefore, kernelAfter: after)
        kernelBefore = after
        return round
    }

    /// Waits; what the kernel measured before is measured anew.
    func pause(seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
        kernelBefore = kernel.measure(records: Self.records)
    }

    private func makeRun() throws(HarnessError) -> Run {
        try Run(scenario, identity: try scenario.identity(), injectedCPU: injectedCPU)
    }

    private func run() async throws -> ResultDocument {
        let result = try await makeRun().execute(isTerminal: false) { _ in }.result
        let verdict = RunVerdict(result, thresholds: [])
        guard verdict.isGood else {
            throw HarnessError(
                "a round went wrong, so that costs mean nothing: \(verdict.problems.joined(separator: "; "))",
                isUsage: false)
        }
        last = result
        return result
    }
}
