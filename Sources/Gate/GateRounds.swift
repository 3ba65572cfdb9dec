import Flags
import Foundation
import Glibc
import Harness
import Results
import Scenarios

/// Rounds of a gate, each in a process of its own (`GateRoundCommand`): where a process's memory happens to lie makes up to 4 %
/// of what a push costs, for as long as it lives.
struct GateRounds {
    private let order: GateRoundOrder
    private let series: RunSeries
    private let ifStopped: String

    /// - Parameters:
    ///   - series: may stop them.
    ///   - ifStopped: what it means that they were stopped.
    ///   - injectedCPU: ns a push.
    ///   - onOneCore: client and mock are kept to one core.
    init(
        _ scenario: Scenario, in series: RunSeries, ifStopped: String, injectedCPU: UInt64, onOneCore: Bool
    ) throws(HarnessError) {
        self.series = series
        self.ifStopped = ifStopped
        order = GateRoundOrder(
            scenario: ScenarioSettings.write(scenario), injectedCPU: injectedCPU, onOneCore: onOneCore)
        // Before anything is sent: what cannot be run is found out now.
        _ = try Run(scenario, identity: try scenario.identity())
    }

    func next() throws -> GateDocument.Round {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["gate-round"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch {
            throw HarnessError("cannot start a process for a round: \(error)", .failed)
        }
        let pid = process.processIdentifier
        if !series.begin(stopping: { kill(pid, SIGINT) }) { kill(pid, SIGINT) }
        defer { series.end() }
        try? input.fileHandleForWriting.write(contentsOf: try JSONEncoder().encode(order))
        try? input.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if series.isStopped { throw HarnessError("interrupted: \(ifStopped)", .failed) }
        // Its own line has said why.
        guard process.terminationStatus == 0, let round = try? JSONDecoder().decode(GateDocument.Round.self, from: data)
        else { throw HarnessError("a round went wrong, so that costs mean nothing", .failed) }
        return round
    }
}
