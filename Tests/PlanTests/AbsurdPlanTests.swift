import Foundation
import Results
import Testing

@testable import Plan

/// What nobody can have meant makes one line, or a plan of numbers: it stops nothing.
@Suite struct AbsurdPlanTests: MeasuredCosts {
    private func plan(_ change: (inout PlanQuestion) -> Void) throws -> PlanDocument {
        var question = question
        change(&question)
        return try Planner.plan(question, samples: samples, origin: "x")
    }

    @Test("One device, in a minute or in a year, takes one connection of one machine")
    func few() throws {
        for within in [60e9, 365 * 86_400e9] {
            let plan = try plan { ($0.pushes, $0.within) = (1, within) }
            #expect(plan.configuration == .init(machines: 1, workers: 1, connections: 1, streams: 1000))
            #expect(plan.isReached && (1e-9...1).contains(plan.needed?.perSecond ?? 0), "\(plan)")
            // A tenth more or less than one device is none.
            #expect(!plan.sensitivities.contains { $0.input == "devices" }, "\(plan.sensitivities)")
            #expect(try !PlanFile.encode(plan).isEmpty && !PlanReport.text(plan).isEmpty)
        }
    }

    @Test("What a given connection cannot do, however much it is, has finite figures and is said to be missed")
    func missed() throws {
        for (pushes, within, roundTrip) in [(1_000_000_000_000_000_000, 10e9, 100e6), (1_000_000_000_000, 1, 0)]
            as [(UInt64, Double, Double)]
        {
            let plan = try plan {
                ($0.pushes, $0.within, $0.roundTrip) = (pushes, within, roundTrip)
                ($0.connections, $0.machines) = (1, 1)
            }
            #expect(!plan.isReached && plan.simulation.latency == nil)
            let warning = plan.warnings.first { $0.hasPrefix("1 connection on 1 machine does ") }
            #expect(warning?.contains("/s needed: the devices take ") == true, "\(plan.warnings)")
            // Numbers that are none cannot be written.
            #expect(try !PlanFile.encode(plan).isEmpty)
            #expect(PlanReport.text(plan).contains(": missed, the devices take "))
        }
    }

    @Test("What takes more than a million machines or connections, no time, or nobody, is one line")
    func refused() throws {
        let most = "a million of each are the most: give it more time or more streams"
        for (start, change) in [
            ("it would take ", { $0.pushes = 1_000_000_000_000_000_000 }),
            ("it would take ", { ($0.pushes, $0.within, $0.roundTrip) = (1_000_000_000_000, 1, 0) }),
            ("it would take ", { ($0.utilisation, $0.machines) = (.leastNormalMagnitude, 1) }),
            (
                "it would take 1 machine, and 4,096,000,000 connections a worker; ",
                { ($0.connections, $0.machines, $0.cores) = (4_096_000_000, 1, 1) }
            ),
            (
                "it would take 1 machine, and 1,000,000,000 connections; ",
                { ($0.connections, $0.machines, $0.cores, $0.mockThreads) = (1_000_000_000, 1, 4096, 1) }
            ),
            ("within 1.00 ns: connecting and the last answers alone take 888 ms; expected more", { $0.within = 1 }),
            ("0 devices: expected at least 1 to plan for", { $0.pushes = 0 }),
        ] as [(String, (inout PlanQuestion) -> Void)] {
            #expect {
                _ = try plan(change)
            } throws: {
                let line = "\($0)"
                return line.hasPrefix(start) && !line.contains("\n") && (line == start || line.hasSuffix(most))
            }
        }
    }
}
