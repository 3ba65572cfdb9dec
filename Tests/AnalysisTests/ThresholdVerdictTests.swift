import Results
import SampleRuns
import Scenarios
import Testing

@testable import Analysis

@Suite struct ThresholdVerdictTests {
    private func verdict(_ text: String, _ result: ResultDocument) throws -> ThresholdVerdict {
        ThresholdVerdict(try Threshold(parsing: text), result)
    }

    @Test("A percentile within the answered pushes is known; one among the others holds no threshold, and says why")
    func censored() throws {
        let result = UnansweredRun.make()
        for text in ["p99 < 50ms", "p99{stage=hold} < 50ms", "min > 1ms", "p50 >= 4ms", "total_accepted.max < 6ms"] {
            let verdict = try verdict(text, result)
            #expect(verdict.isHeld, "\(verdict.description)")
        }
        #expect(try verdict("p99 < 10ms", result).description == "p99 5.00 ms < 10 ms")
        #expect(try verdict("rate >= 199.45", result).description == "rate 199.5/s >= 199.45")
        #expect(try verdict("rate >= 199.5", result).description == "rate 199.5/s >= 199.5")
        #expect(try verdict("rate > 199.5", result).description == "rate 199.5/s, not > 199.5")
        #expect(
            try verdict("rate >= 199.55", result).description == "rate 199.5/s, not >= 199.55 (just below the limit)")
        #expect(
            try verdict("accepted > 99.9%", result).description
                == "accepted 99.750 %, not > 99.9 % (0.2 % below the limit)")
        #expect(try verdict("rate >= 0.9 * target", result).description == "rate 0.9975 * target >= 0.9 * target")
        #expect(try verdict("rss < 200MB", result).description.hasSuffix(" < 200 MB"))
        let why = "not known, more than 20.0 s (3 of 1,200 pushes got no answer)"
        for text in ["p99.9 < 50ms", "p99.9 > 10s", "max >= 1s", "p99.9{stage=hold} < 1m", "p100 < 30s"] {
            let verdict = try verdict(text, result)
            #expect(!verdict.isHeld && verdict.description == "\(text): \(why)")
        }
        let mean = try verdict("mean < 1s", result)
        #expect(!mean.isHeld && mean.description.hasPrefix("mean < 1s: not known, more than 55.0 ms ("))
    }

    @Test("What is far above its limit is a multiple of it, not thousands of percent")
    func factor() throws {
        let result = UnansweredRun.make()
        #expect(try verdict("p99 < 1us", result).description == "p99 5.00 ms, not < 1 us (5,001 times the limit)")
        #expect(try verdict("p99 < 1ms", result).description == "p99 5.00 ms, not < 1 ms (5.0 times the limit)")
        #expect(try verdict("p99 < 4ms", result).description == "p99 5.00 ms, not < 4 ms (25.0 % above the limit)")
        #expect(try verdict("failed == 0", result).description == "failed 3, not == 0")
    }

    @Test("A run without one answer has no known latency, not even the shortest")
    func nothing() throws {
        let result = UnansweredRun.make(accepted: 0, unanswered: 2)
        let verdict = try verdict("min < 1h", result)
        #expect(!verdict.isHeld && verdict.description.hasSuffix("(2 of 2 pushes got no answer)"))
        #expect(try self.verdict("total_accepted.p99 < 1h", result).value == nil)
    }

    @Test("A threshold that names pushes of which there were none is held, whatever it names and compares")
    func none() throws {
        var result = UnansweredRun.make()
        let part = try #require(result.breakdown["stage"]?["hold"])
        result.breakdown["status"] = ["200": part]
        result.echo = .init(backend: "bundled")
        for text in [
            "total_rejected.p99 < 5ms", "total_rejected.max <= 1us", "total_rejected.p50 > 1us",
            "p99{status=500} < 50ms",
            "p99{status=500} > 50ms",
        ] {
            let verdict = try verdict(text, result)
            #expect(verdict.isHeld && verdict.description == "\(text): no such push", "\(verdict.description)")
        }
        for text in ["echo.p99 < 1s", "echo.failed < 1%"] {
            let verdict = try verdict(text, result)
            #expect(verdict.isHeld && verdict.description == "\(text): no such request", "\(verdict.description)")
        }
        // What may be among the others, was not kept apart, or was not measured is not known.
        var others = result
        others.breakdown["status"]?["(other)"] = result.breakdown["stage"]?["hold"]
        others.pushes.rejected = 1
        var cut = result
        cut.run.complete = false
        for (text, result) in [
            ("p99{status=500} < 50ms", others), ("total_rejected.p99 < 5ms", others),
            ("p99{connection=3} < 1s", result),
            ("p99{status=500} < 50ms", cut), ("in_mock.p99 < 1s", result),
        ] {
            let verdict = try verdict(text, result)
            #expect(
                !verdict.isHeld && verdict.description == "\(text): the run has no such figure",
                "\(verdict.description)")
        }
        // Where nothing was measured there is nothing to hold.
        var empty = result
        empty.latency[.total] = .init()
        empty.histograms = [:]
        #expect(try !verdict("total_rejected.p99 < 5ms", empty).isHeld && !verdict("p99 < 5ms", empty).isHeld)
    }

    @Test("Of a span too short for a rate there is none to judge")
    func noRates() throws {
        var result = UnansweredRun.make()
        result.throughput = .init(windowSeconds: 0, offered: 0, answered: 0)
        for text in ["rate >= 1", "rate < 1", "goodput >= 0.98 * target", "offered == 0"] {
            let verdict = try verdict(text, result)
            #expect(!verdict.isHeld && verdict.description == "\(text): the run has no such figure")
        }
    }

    @Test("A run's only send is the run; one of several, and one of some parts of a merged result, is not")
    func onlySend() throws {
        var result = UnansweredRun.make()
        let planned = result.pushes.planned
        result.sends = [.init(name: "news", audience: "*", devices: planned, pushes: planned, start: 0)]
        #expect(try verdict("p99{send=news} < 50ms", result).value == verdict("p99 < 50ms", result).value)
        #expect(try verdict("p99{send=other} < 50ms", result).value == nil)
        result.sends?[0].pushes = planned - 1
        #expect(try verdict("p99{send=news} < 50ms", result).value == nil)
        result.sends?.append(.init(name: "more", audience: "*", devices: 1, pushes: 1, start: 0))
        #expect(try verdict("p99{send=news} < 50ms", result).value == nil)
    }

    @Test("Each rate can be judged, alone or as a share of what was offered")
    func rates() throws {
        let result = UnansweredRun.make(accepted: 1080, rejected: 117)
        for (text, isHeld) in [
            ("rate >= 0.98 * target", true), ("goodput >= 0.98 * target", false), ("goodput >= 0.9 * target", true),
            ("sent_rate >= 100% * target", true), ("offered == 200", true), ("rate == 199.5", true),
            ("goodput > 180", false), ("goodput >= 180", true),
        ] {
            let verdict = try verdict(text, result)
            #expect(verdict.isHeld == isHeld, "\(verdict.description)")
        }
        #expect(try verdict("rate >= 190", result).description == "rate 199.5/s >= 190")
        var closed = result
        closed.throughput.offered = nil
        for text in ["rate >= 0.98 * target", "offered > 1"] {
            #expect(try verdict(text, closed).description == "\(text): the run has no such figure")
        }
        closed.throughput.offered = 0
        #expect(try !verdict("rate >= 0.98 * target", closed).isHeld)
    }

    @Test("Where no push was answered none has a cost, and no threshold for it holds")
    func costs() throws {
        var result = UnansweredRun.make(accepted: 0, unanswered: 1200)
        result.cost.clientCPU = 0
        #expect(try verdict("cpu < 2us", result).description == "cpu < 2us: the run has no such figure")
        result.pushes.rejected = 1
        #expect(try verdict("cpu < 2us", result).isHeld)
    }

    @Test("What a partial result does not know holds no threshold")
    func partial() throws {
        var result = UnansweredRun.make()
        result.notes = [ResultDocument.partialMark + "so far"]
        for text in ["cpu < 1s", "rss < 900GB"] {
            #expect(try verdict(text, result).description == "\(text): the run has no such figure")
        }
        #expect(try verdict("p99 < 50ms", result).isHeld)
        #expect(RunVerdict(result).problems.first == "the result is partial: so far")
    }

    @Test("Pushes that were not sent are counted apart from those that failed")
    func counts() throws {
        var result = UnansweredRun.make()
        result.pushes.notSent = 12
        result.notSent = ["overflowed": 10, "interrupted": 2]
        for text in ["not_sent == 12", "overflowed == 10", "failed == 3"] {
            #expect(try verdict(text, result).isHeld, "\(text)")
        }
    }

    @Test(
        "A search wants 98 % accepted; answered is enough where rejections are spoken of",
        arguments: [
            ("p99 < 50ms", "goodput"), ("p99 < 50ms && failed == 0", "goodput"), ("sent_rate > 5", "goodput"),
            ("accepted >= 90%", "rate"), ("accepted >= 10", "goodput"), ("p99 < 1s && rejected < 10%", "rate"),
            ("goodput > 5k", "rate"),
            ("rate > 5k", "goodput"), ("rate >= 0.98 * target", "goodput"),
        ])
    func sustained(_ goal: String, _ rate: String) throws {
        let goals = try Threshold.list(parsing: goal)
        #expect(SustainedRate.text(beside: goals, expectsRejections: false) == "\(rate) >= 0.98 * target")
        #expect(SustainedRate.text(beside: goals, expectsRejections: true) == "rate >= 0.98 * target")
        #expect(throws: Never.self) {
            try Threshold(parsing: SustainedRate.text(beside: goals, expectsRejections: false))
        }
    }
}
