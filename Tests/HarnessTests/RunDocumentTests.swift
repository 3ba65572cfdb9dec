import Results
import Scenarios
import Settings
import Testing

@testable import Harness

@Suite struct RunDocumentTests {
    /// Parts of a result are filled field by field: none may stay what it is of nothing.
    @Test("A result says which run it is, where it was made, and what measuring costs, whatever came of the pushes")
    func filled() throws {
        var scenario = Scenario()
        (scenario.name, scenario.pushes, scenario.plaintext) = ("evening", 10, true)
        let observed = try ObservedRun(scenario)
        observed.drivers[0].abandon(.connectTimeout, now: 1)
        let result = observed.run.result()
        let (run, machine, cost) = (result.run, result.environment, result.cost)
        #expect(run.id.count == 16 && run.name == "evening" && run.engine == "wire" && run.target == "by hand")
        #expect(run.startedAt.hasSuffix("Z") && !run.complete && !run.interrupted)
        #expect(
            run.startedAt.count == "2026-11-29T05:58:56.123Z".count && run.start?.lowerBound == run.start?.upperBound)
        for text in [machine.host, machine.cpu, machine.kernel, machine.system] { #expect(!text.isEmpty) }
        #expect(machine.cores > 0 && machine.memoryBytes > 0 && machine.versions["pushload"] != nil)
        #expect(cost.clientMemory > 0 && cost.clockReading > 0 && cost.histogramRecord > 0 && cost.measuring > 0)
        #expect(result.scenario["pushes"] == .integer(10) && result.latency[.total].count == 0)
        #expect(result.throughput.windowSeconds == 0 && result.throughput.offered == nil)
    }

    @Test("A result says so where not all connections were open before the run ended")
    func unopened() throws {
        var scenario = Scenario()
        (scenario.pushes, scenario.connections, scenario.plaintext) = (10, 3, true)
        let observed = try ObservedRun(scenario)
        func notes() -> [String] { observed.run.result().notes.filter { $0.contains("were open before") } }
        #expect(notes().isEmpty, "none was open")
        observed.drivers[0].connection(0, .opened)
        #expect(notes().first?.hasPrefix("1 of 3 connections were open before the run ended") == true)
        for index in 1...2 { observed.drivers[0].connection(index, .opened) }
        #expect(notes().isEmpty)
    }
}
