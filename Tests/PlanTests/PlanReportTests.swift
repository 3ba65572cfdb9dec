import Results
import Testing

@testable import Plan

@Suite struct PlanReportTests {
    private var plan: PlanDocument {
        PlanDocument(
            question: .init(
                devices: 100_000_000, pushes: 100_000_000, within: 60e9, roundTrip: 80e6, serverTime: 0, streams: 1000,
                utilisation: 0.8,
                payload: 313, request: 414, answer: 56, wire: 441, bandwidth: nil, linkRate: nil, window: 1_048_576),
            measured: .init(
                origin: "runs", runs: 27, settings: 9, clientCPU: .init(918, low: 884, high: 958), serverCPU: nil,
                overhead: .init(436_000), memoryBase: .init(40e6), memoryPerConnection: .init(80_000),
                contention: .init(0.01),
                crosstalk: .init(0), workerCounts: 2),
            needed: .init(
                perSecond: 1_675_615, inFlight: .init(134_779), connections: .init(168.47),
                cores: .init(1.92, low: 1.85, high: 2.01), machines: .init(0.12), memory: .init(83.8e6),
                bandwidth: .init(742e6), shortest: .init(47.9e9)),
            configuration: .init(machines: 1, workers: 2, connections: 169, streams: 1000),
            bounds: [
                .init(name: .streams, perSecond: .init(2_101_055)),
                .init(name: .clientCPU, perSecond: .init(2_177_870, low: 2_088_181, high: 2_263_162)),
                .init(name: .window, perSecond: .init(3_487_751)),
            ],
            simulation: .init(
                seed: 1, workers: 1, connections: 85, pushes: 1_500_000, formula: 1_056_744, simulated: 1_046_177,
                difference: -0.01,
                latency: .init(
                    count: 9, min: 1, mean: 80.4e6, p50: 80_500_000, p90: 80_500_000, p99: 81_500_000, p999: 82_500_000,
                    max: 83_500_000)),
            goals: [
                .init(text: "p99 < 1s", value: 81.5e6, held: true),
                .init(text: "p50 < 1ms", value: 80.5e6, held: false),
            ],
            sensitivities: [.init(input: "devices", connections: 1, cores: 1, memory: 0.69, bandwidth: 0)],
            assumptions: ["a thing"], warnings: ["another thing"])
    }

    @Test("The text answers the question, names what binds and what is next, and hides nothing that was assumed")
    func text() {
        let text = PlanReport.text(plan)
        for part in [
            "100,000,000 devices within 60.0 s at a round trip of 80.0 ms", "1,675,615", "168.5", "1.9 - 2.0",
            "1 with 2 workers", "5.94 Gbit/s", "47.9 s", "81.5 ms", "−1.0 %", "goal p99 < 1s: reached",
            "goal p50 < 1ms: missed", "assumed: a thing\n", "warning: another thing\n",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let lines = text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("  streams over round trip") && $0.hasSuffix("binds") }, "\(text)")
        #expect(lines.contains { $0.hasPrefix("  CPU of the client") && $0.hasSuffix("next") }, "\(text)")
        #expect(lines.contains { $0.hasPrefix("  devices") && $0.contains("+1.00 %") && $0.hasSuffix("-") }, "\(text)")
    }

    @Test("Where connections are ended all the time, the bounds that are a connection's own name GOAWAY")
    func goAway() {
        var ended = plan
        #expect(!PlanReport.text(ended).contains("GOAWAY"))
        (ended.question.goAwayEvery, ended.question.endsConnections) = (500, true)
        let lines = PlanReport.text(ended).split(separator: "\n")
        for (start, end) in [
            ("  streams over round trip and GOAWAY ", "binds"), ("  CPU of the client ", "next"),
            ("  window over round trip and GOAWAY ", "1"),
        ] {
            #expect(lines.contains { $0.hasPrefix(start) && $0.hasSuffix(end) }, "\(start) in \(lines)")
        }
        // Without a round trip it is all that binds a connection's streams.
        ended.question.roundTrip = 0
        let text = PlanReport.text(ended)
        #expect(text.contains("\n  connections made anew (GOAWAY) ") && !text.contains("streams over"), "\(text)")
    }

    @Test("Where there are fewer streams at times, their bound says so, with GOAWAY too")
    func fewerStreams() {
        var fewer = plan
        fewer.question.fewerStreams = FewerStreams(streams: 10, time: 1e9, every: 1e10)
        #expect(PlanReport.text(fewer).contains("\n  streams over round trip, fewer at times "))
        (fewer.question.goAwayEvery, fewer.question.endsConnections) = (500, true)
        #expect(PlanReport.text(fewer).contains("\n  streams over round trip, fewer at times and GOAWAY "))
    }

    @Test("Of devices with several registrations pushes and devices are said, each as many as there are")
    func pushesAndDevices() {
        var several = plan
        (several.question.pushes, several.question.devices) = (3, 2)
        #expect(PlanReport.text(several).contains("\n3 pushes to 2 devices within 60.0 s"))
        (several.question.pushes, several.question.devices) = (3, 1)
        #expect(PlanReport.text(several).contains("\n3 pushes to 1 device within 60.0 s"))
    }

    @Test("Devices that are not reached in time are said to be missed, with or without a goal")
    func missed() {
        var late = plan
        #expect(!PlanReport.text(late).contains("within 60.0 s: missed"))
        late.goals = []
        late.needed?.inTime = false
        late.needed?.shortest = .init(80.3e9)
        late.simulation.latency = nil
        #expect(!late.isReached)
        for text in [PlanReport.text(late), PlanReport.markdown(late)] {
            #expect(
                text.contains("within 60.0 s: missed, the devices take 80.3 s; what is due waits ever longer"),
                "\(text)")
            #expect(!text.contains("due to answered"), "\(text)")
        }
    }

    @Test("Markdown has the same rows; without devices only what the configuration can do is said")
    func markdown() {
        let markdown = PlanReport.markdown(plan)
        #expect(markdown.hasPrefix("# 100,000,000 devices"))
        #expect(markdown.contains("| connections | 168.5 |  | 169 |\n"), "\(markdown)")
        #expect(markdown.contains("- warning: another thing\n"))
        var judged = plan
        (judged.question.devices, judged.question.pushes) = (nil, nil)
        judged.needed = nil
        judged.simulation.latency = nil
        judged.sensitivities = []
        let text = PlanReport.text(judged)
        #expect(text.contains("what 169 connections can do at a round trip of 80.0 ms"), "\(text)")
        #expect(!text.contains("needed") && !text.contains("due to answered") && text.contains("binds"), "\(text)")
    }
}
