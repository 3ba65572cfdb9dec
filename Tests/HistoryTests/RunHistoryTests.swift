import Reports
import Results
import SampleRuns
import Settings
import Testing

@testable import History

@Suite struct RunHistoryTests {
    /// Runs a minute apart, one a factor, newest first, as a folder may list them.
    private func runs(_ factors: [Double], engine: String = "wire") -> [(path: String, result: ResultDocument)] {
        factors.enumerated().map { index, factor in
            var result = SampleRun.make("\(engine)\(index)", factor)
            result.run.engine = engine
            result.run.startedAt = "2026-11-21T10:\(index < 10 ? "0" : "")\(index):00Z"
            result.environment.versions["pushload"] = factor > 1.1 ? "0.2.0" : "0.1.0"
            result.environment.commit = "c\(index)"
            return ("\(engine)/\(index)", result)
        }.reversed()
    }

    private let calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005, 1.015, 0.985]

    private func message(_ make: () throws(RunHistory.Failure) -> HistoryDocument) -> String {
        do throws(RunHistory.Failure) {
            _ = try make()
            return "made"
        } catch { return error.description }
    }

    @Test("What was taken back is over, though the same comes again")
    func again() throws {
        let twelve = calm + calm.prefix(4)
        let slow = twelve.map { $0 * 0.5 }
        let history = try RunHistory.make(runs(twelve + slow + twelve + slow))
        let rate = try #require(history.series[0].metrics.first { $0.name == "rate" })
        #expect(rate.changes.map(\.isWorse) == [false, false, true], "\(rate.changes)")
    }

    @Test("A server that stops answering is slower; of pushes without an answer there is no cost")
    func silent() throws {
        let history = try RunHistory.make(
            runs(calm + calm).enumerated().map { index, run in
                guard index < 8 else { return run }
                var silent = run.result
                (silent.pushes.accepted, silent.pushes.failed) = (0, 9)
                silent.throughput = .init(windowSeconds: 1, offered: nil, answered: 0)
                silent.cost.clientCPU = 0
                return (run.path, silent)
            })
        let rate = try #require(history.series[0].metrics.first { $0.name == "rate" })
        let change = try #require(rate.changes.first)
        #expect(change.run == 8 && change.verdict == .slower && change.isWorse && change.after == 0, "\(rate)")
        let cost = try #require(history.series[0].metrics.first { $0.name == "client CPU a push" })
        #expect(cost.changes.isEmpty && cost.values.suffix(8).allSatisfy { $0 == nil })
        #expect(history.leftOut.contains { $0.reason == "client CPU a push is not known, no push was answered" })
        #expect(HistoryReport.text(history, .plain).contains("slower"))
    }

    @Test("A planted change is found in every figure, with both medians, their ratio and what it means")
    func change() throws {
        let history = try RunHistory.make(runs(calm + calm.map { $0 * 1.5 }))
        #expect(history.leftOut.isEmpty && history.series.count == 1 && history.series[0].facts.isEmpty)
        let series = history.series[0]
        #expect(series.runs.map(\.path) == (0..<16).map { "wire/\($0)" })
        #expect(series.runs[8].version == "0.2.0" && series.runs[8].commit == "c8")
        #expect(series.metrics.map(\.name) == RunHistory.usualMetrics)
        for metric in series.metrics {
            let change = try #require(metric.changes.first)
            #expect(metric.changes.count == 1 && change.run == 8 && !metric.isTooShort)
            #expect(abs(change.before - 1002.5) < 1 && abs(change.after - 1503.75) < 1)
            #expect(abs(change.ratio! - 1.5) < 1e-3 && change.low! > 1.4 && change.high! < 1.6 && change.p <= 0.01)
            #expect(metric.segments.map(\.first) == [0, 8] && metric.segments.map(\.last) == [7, 15])
        }
        #expect(series.metrics.map { $0.changes[0].verdict } == [.faster, .more, .slower, .slower])
    }

    @Test("A change is for the worse when higher means so, and over when later runs have taken half of it back")
    func worse() throws {
        func changes(_ factors: [Double]) throws -> [String: [Bool]] {
            let history = try RunHistory.make(runs(factors), metrics: ["rate", "total p99"])
            return Dictionary(
                uniqueKeysWithValues: history.series[0].metrics.map { ($0.name, $0.changes.map(\.isWorse)) })
        }
        let (calm, more) = (calm, calm.map { $0 * 1.5 })
        #expect(try changes(calm + more) == ["rate": [false], "total p99": [true]])
        #expect(try changes(more + calm) == ["rate": [true], "total p99": [false]])
        let (long, longer) = (calm + calm, more + more)
        // The rate has risen and fallen: the fall is a change for the worse that is still there.
        #expect(try changes(long + longer + long) == ["rate": [false, true], "total p99": [false, false]])
        #expect(
            try changes(calm + more + calm.map { $0 * 1.3 }) == ["rate": [false, true], "total p99": [true, false]])
    }

    @Test(
        "A server that rejects everything quickly is no faster one: goodput is shown, falls and alerts, and a doubt says why"
    )
    func rejections() throws {
        var all = runs(calm + calm.map { $0 * 3 })
        // The newest eight.
        for index in 0..<8 {
            (all[index].result.pushes.accepted, all[index].result.pushes.rejected) = (0, 9)
            all[index].result.throughput.accepted = 0
        }
        let series = try RunHistory.make(all).series[0]
        #expect(series.metrics.map(\.name) == ["rate", "goodput", "client CPU a push", "total p50", "total p99"])
        let change = try #require(series.metrics[1].changes.first)
        #expect(change.run == 8 && change.verdict == .slower && change.isWorse && change.ratio == nil)
        #expect(series.doubts == ["pushes were rejected, failed or not sent in 8 of 16 runs"])
        let text = HistoryReport.text(try RunHistory.make(all), TextPicture(width: 160, isUnicode: true))
        #expect(text.contains("\n  warning: pushes were rejected, failed or not sent in 8 of 16 runs\n"), "\(text)")
        // Asked for by name it is as asked for.
        #expect(try RunHistory.make(all, metrics: ["rate"]).series[0].metrics.map(\.name) == ["rate"])
        #expect(try RunHistory.make(runs(calm)).series[0].doubts == [])
    }

    @Test("Runs that started in one second are ordered by when their folders were made, then by their numbers")
    func order() throws {
        let names = [
            "b/20261128T115218Z-run", "a/20261128T115218Z-run-2", "a/20261128T115218Z-run-10", "a/20261128T115219Z-run",
            "a/20261128T115219Z-run-2",
        ]
        let all = names.reversed().enumerated().map { index, name in
            var result = SampleRun.make("\(index)", 1)
            result.run.startedAt = "2026-11-28T11:52:19Z"
            return (path: "\(name)/result.json", result: result)
        }
        // Milliseconds tell more, and come after the whole seconds of older versions.
        for (times, order) in [
            (["19.700", "19.020", "18.999"], [2, 1, 0]), (["19.020", "19", "20"], [1, 0, 2]),
        ] as [([String], [Int])] {
            let runs = times.enumerated().map { index, time in
                var result = SampleRun.make("\(index)", 1)
                result.run.startedAt = "2026-11-28T11:52:\(time)Z"
                return (path: "\(index)", result: result)
            }
            #expect(try RunHistory.make(runs).series[0].runs.map(\.path) == order.map { "\($0)" })
        }
        let paths = try RunHistory.make(all).series[0].runs.map(\.path)
        #expect(paths == names.map { $0 + "/result.json" }, "\(paths)")
    }

    @Test("Acknowledged changes are known by figure, way and run, a few runs more or less; the others stay alerts")
    func acknowledged() throws {
        let slow = runs(calm + calm.map { $0 * 1.5 })
        let metrics = ["total p50", "total p99"]
        var history = try RunHistory.make(slow, metrics: metrics)
        #expect(history.alerts.map(\.metric) == [0, 1])
        func alerts(_ run: String, metric: String = "total p99", _ verdict: FigureVerdict = .slower) throws -> [Int] {
            var marked = try RunHistory.make(slow, metrics: metrics)
            var known = AcknowledgedChanges()
            known.changes = [
                .init(run: run, metric: metric, verdict: verdict, series: "n", startedAt: "", ratio: 1.5)
            ]
            known.mark(&marked)
            return marked.alerts.map(\.metric)
        }
        // The change is at the run wire8.
        for run in ["wire8", "wire3", "wire13"] { #expect(try alerts(run) == [0], "\(run)") }
        for run in ["wire2", "wire14", "other"] { #expect(try alerts(run) == [0, 1], "\(run)") }
        #expect(try alerts("wire8", .faster) == [0, 1] && alerts("wire8", metric: "rate") == [0, 1])
        var known = AcknowledgedChanges()
        #expect(known.add(history) == 2)
        known.mark(&history)
        #expect(history.alerts.isEmpty && known.add(history) == 0 && known.changes.map(\.run) == ["wire8", "wire8"])
    }

    @Test("One acknowledged change is one change, the nearest")
    func acknowledgedOnce() throws {
        var history = try RunHistory.make(
            runs(calm + calm.map { $0 * 1.5 } + calm.map { $0 * 2.5 }), metrics: ["total p99"])
        var change = try #require(history.series[0].metrics[0].changes.first)
        change.isAcknowledged = false
        let first = change.run
        var second = change
        second.run = first + 4
        history.series[0].metrics[0].changes = [change, second]
        var known = AcknowledgedChanges()
        known.changes = [
            .init(
                run: history.series[0].runs[first + 1].id, metric: "total p99", verdict: change.verdict, series: "n",
                startedAt: "", ratio: 1.5)
        ]
        known.mark(&history)
        #expect(history.series[0].metrics[0].changes.map(\.isAcknowledged) == [true, false])
    }

    @Test("Runs that answer other questions are other series; single ones are left out, and why")
    func apart() throws {
        var all = runs(calm) + runs([1, 1.1, 1], engine: "nghttp2")
        var other = SampleRun.make("o", 1)
        other.scenario["streams"] = .integer(7)
        all.append(("other", other))
        let history = try RunHistory.make(all, metrics: ["rate"])
        #expect(history.series.map { $0.runs.count } == [8, 3])
        #expect(history.series[1].facts == ["engine": "nghttp2", "streams": "100"])
        #expect(history.series[1].metrics[0].isTooShort)
        #expect(history.leftOut == [.init(path: "other", reason: "the only run of its series (streams 7)")])
        for (name, value, text) in [
            ("push_timeout", 5_000_000_000, "timeout 5s"), ("warmup_pushes", 30, "warmup 30 pushes"),
        ] as [(String, Int64, String)] {
            var odd = SampleRun.make("p", 1)
            odd.scenario[name] = .integer(value)
            let history = try RunHistory.make(runs(calm) + [("odd", odd)], metrics: ["rate"])
            #expect(history.leftOut == [.init(path: "odd", reason: "the only run of its series (\(text))")])
        }
        let parts = (runs(calm) + [("whole", SampleRun.make("w", 1))]).map { run in
            var result = run.result
            result.scenario["by"] = .array(run.path == "whole" ? [] : [.string("status")])
            return (path: run.path, result: result)
        }
        let kept = try RunHistory.make(parts, metrics: ["rate"])
        #expect(kept.leftOut == [.init(path: "whole", reason: "the only run of its series (by none)")])
        let across = try RunHistory.make(all, metrics: ["rate"], across: ["engine", "streams"])
        #expect(across.series.map { $0.runs.count } == [12] && across.leftOut.isEmpty)
    }

    @Test("A condition that was changed does not end a series: it changes nothing of what is sent")
    func conditions() throws {
        for (name, value) in [
            ("thresholds", .array([.string("p99 < 50ms")])), ("budget", .integer(9)), ("abort_on_fail", .bool(true)),
            ("expected_reasons", .array([.string("Unregistered")])),
        ] as [(String, JSONValue)] {
            let tightened = runs(calm + calm.map { $0 * 1.5 }).enumerated().map { index, run in
                var result = run.result
                if index < 8 { result.scenario[name] = value }
                return (path: run.path, result: result)
            }
            let history = try RunHistory.make(tightened, metrics: ["client CPU a push"])
            #expect(history.series.count == 1 && history.leftOut.isEmpty, "\(name)")
            #expect(history.series[0].metrics[0].changes.map(\.isWorse) == [true], "\(name)")
        }
    }

    @Test("What was taken back by half, and is still told from before, is not over")
    func half() throws {
        let twelve = calm + calm.prefix(4)
        let history = try RunHistory.make(
            runs(twelve + twelve.map { $0 * 0.5 } + twelve.map { $0 * 0.76 }), metrics: ["rate"])
        #expect(history.series[0].metrics[0].changes.map(\.isWorse) == [true, false])
        // An outage between: what is left of it is little of it, and 50 times what was.
        func p99(_ factors: [Double]) throws -> [Bool] {
            try RunHistory.make(runs(factors), metrics: ["total p99"]).series[0].metrics[0].changes.map(\.isWorse)
        }
        #expect(try p99(twelve + twelve.map { $0 * 1000 } + twelve.map { $0 * 50 }) == [true, false])
        #expect(try p99(twelve + twelve.map { $0 * 20 } + twelve.map { $0 * 1.01 }) == [false, false])
    }

    @Test("To 0 there is no ratio: what is left is told from before where all of it is worse")
    func fromZero() throws {
        func allocations(_ factors: [Double]) throws -> [Bool] {
            let results = runs(factors).map { run in
                var result = run.result
                let place = Int(run.path.split(separator: "/")[1]) ?? 0
                result.cost.clientAllocations = factors[place]
                return (path: run.path, result: result)
            }
            return try RunHistory.make(results, metrics: ["allocations a push"]).series[0].metrics[0].changes.map(
                \.isWorse)
        }
        let (most, half) = (calm.map { $0 * 2 }, calm.map { $0 * 0.9 })
        #expect(try allocations([0] + calm.dropFirst().map { $0 * 0.02 } + most + half) == [true, false])
        #expect(try allocations(calm.map { _ in 0 } + most + calm.map { _ in 0 }) == [false, false])
    }

    @Test("Until a figure is known: the budget, which is the duration then, does not divide a series")
    func budgets() throws {
        let results = runs(calm + calm).enumerated().map { index, run in
            var result = run.result
            result.scenario["until"] = .string("p99 +- 5 %")
            for name in ["budget", "duration"] { result.scenario[name] = .integer(index < 8 ? 3 : 4) }
            return (path: run.path, result: result)
        }
        #expect(try RunHistory.make(results, metrics: ["rate"]).series.count == 1)
    }

    @Test("A series cannot go across what is no fact of a run")
    func unknownFact() {
        let all = [1.0, 1].enumerated().map { (path: "\($0)", result: SampleRun.make("\($0)", $1)) }
        var message = ""
        do throws(RunHistory.Failure) { _ = try RunHistory.make(all, across: ["hosst"]) } catch {
            message = error.description
        }
        #expect(message == "across \"hosst\": no fact of these runs; did you mean \"host\"?")
    }

    @Test("Interrupted and incomplete runs are left out by name; figures that some runs lack are gaps")
    func leftOut() throws {
        var all = runs(calm)
        all[0].result.run.interrupted = true
        all[1].result.run.complete = false
        all[3].result.cost.mockCPU = 500
        let unread = LeftOutResult(path: "x.json", reason: "no result")
        let history = try RunHistory.make(all, unread: [unread], metrics: ["mock CPU a push", "allocations a push"])
        #expect(
            history.leftOut.map { "\($0.path): \($0.reason)" } == [
                "x.json: no result", "wire/6: the run is incomplete",
                "wire/7: the run was interrupted",
            ])
        let metrics = history.series[0].metrics
        #expect(metrics.map(\.name) == ["mock CPU a push", "allocations a push"])
        #expect(metrics[0].values == [nil, nil, nil, nil, 500, nil])
        #expect(metrics[0].segments == [.init(first: 4, last: 4, median: 500)])
    }

    @Test("A latency that is only known from below is a gap, and said to be one")
    func censored() throws {
        var all = runs(calm)
        all[0].result.latency[.total].unanswered = 3
        all[0].result.latency[.total].censored = ["mean", "p99", "p99_9", "max"]
        let history = try RunHistory.make(all)
        let metrics = Dictionary(uniqueKeysWithValues: history.series[0].metrics.map { ($0.name, $0.values) })
        #expect(metrics["total p99"]?.last == .some(nil) && metrics["total p50"]?.last == 985)
        #expect(
            history.leftOut == [
                .init(
                    path: "wire/7",
                    reason: "total p99 is not known, more than 985 ns: 3 of 9 pushes got no answer")
            ])
    }

    @Test("Unknown metrics, impossible levels and folders without runs are refused in one line")
    func refused() {
        #expect(
            message { () throws(RunHistory.Failure) in try RunHistory.make(runs(calm), metrics: ["speed"]) }.hasPrefix(
                "metric \"speed\": expected one of rate, goodput, client CPU a push, "))
        #expect(
            message { () throws(RunHistory.Failure) in try RunHistory.make(runs(calm), level: 0.5) }
                == "level 0.5: expected 0.001 to 0.2")
        #expect(
            message { () throws(RunHistory.Failure) in try RunHistory.make([]) }
                == "no result.json found; expected result files or folders of runs")
        #expect(
            message { () throws(RunHistory.Failure) in
                try RunHistory.make([], unread: [.init(path: "x", reason: "truncated")])
            } == "no run to show: x: truncated")
    }
}
