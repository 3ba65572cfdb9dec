import Results
import SampleRuns
import Scenarios
import Statistics
import Testing

@testable import Sweep

@Suite struct SweepAnalysisTests {
    /// A run with these figures.
    private func result(
        _ id: String, rate: Double, p99: UInt64 = 1000, cpu: Double = 100, failed: UInt64 = 0,
        thresholds: [String] = []
    ) -> ResultDocument {
        let total = ResultDocument.Latency(
            count: 9, min: 1, mean: 1, p50: p99 / 2, p90: p99, p99: p99, p999: p99, max: p99)
        var result = SampleRun.make(id, 1)
        result.scenario = ["thresholds": .array(thresholds.map { .string($0) })]
        (result.pushes.planned, result.pushes.accepted, result.pushes.failed) = (10, 10 - failed, failed)
        result.throughput = .init(offered: nil, answered: rate)
        result.latency = .init()
        result.latency[.total] = total
        result.failures = failed > 0 ? ["push_timeout": failed] : [:]
        result.cost.clientCPU = cpu
        return result
    }

    private func outcome(_ rows: [[ResultDocument?]], _ search: (inout SweepSearch) -> Void = { _ in }) throws
        -> SweepDocument
    {
        let values = (1...rows.count).map(String.init).joined(separator: ",")
        let plan = try SweepScheduleTests.plan(["streams=\(values)"]) {
            $0.repeats = rows[0].count
            search(&$0)
        }
        var runs = SweepRuns()
        for (point, results) in rows.enumerated() {
            for (index, result) in results.enumerated() {
                guard let result else { continue }
                runs.add(.result(result), of: SweepJob(point: point, repetition: index + 1))
            }
        }
        return SweepAnalysis.make(plan, SweepSchedule(plan), runs, isFinished: true)
    }

    private func runs(_ rates: [Double], p99: UInt64 = 1000, cpu: Double = 100) -> [ResultDocument?] {
        rates.map { result("\($0)", rate: $0, p99: p99, cpu: cpu) }
    }

    @Test("The best point is that of the best median, and points whose runs overlap with its are not told from it")
    func best() throws {
        let outcome = try outcome([
            runs([100, 104, 110]), runs([120, 126, 130]), runs([118, 125, 131]), runs([121, 90, 80]),
        ])
        #expect(outcome.best == .init(point: 1, alike: [2, 3]))
        #expect(
            outcome.points[1].rate == .init(median: 126, low: 120, high: 130, coverage: 0.75, values: [120, 126, 130]))
        #expect(outcome.points[0].rate?.spread == 10 / 104.0)
    }

    @Test("With goal p99 or cpu less is better; of one run no point can be told from another")
    func goals() throws {
        let rows = [runs([1], p99: 30, cpu: 5), runs([2], p99: 20, cpu: 6), runs([3], p99: 40, cpu: 7)]
        #expect(try outcome(rows) { $0.goal = .p99 }.best == .init(point: 1, alike: [0, 2]))
        #expect(try outcome(rows) { $0.goal = .cpu }.best?.point == 0)
        let byRate = try outcome(rows)
        #expect(byRate.best?.point == 2 && byRate.points[0].rate?.low == nil)
        #expect(byRate.notes.contains { $0.hasPrefix("one run a point") })
    }

    @Test("The front is of rate up, p99 down and client CPU down, ordered by rate")
    func front() throws {
        let outcome = try outcome([
            runs([100, 100], p99: 10, cpu: 50), runs([200, 200], p99: 20, cpu: 50), runs([150, 150], p99: 20, cpu: 50),
            runs([90, 90], p99: 10, cpu: 40),
        ])
        #expect(outcome.front == [1, 0, 3])
    }

    @Test("Points that cannot be run, whose runs failed, lost pushes or crossed a threshold stay, with the reason")
    func problems() throws {
        let plan = try SweepScheduleTests.plan(["streams=1..6+1"]) { $0.repeats = 2 }
        var sweep = SweepRuns(impossible: [0: "no such engine\nreally"])
        func add(_ outcome: SweepRuns.Outcome, _ point: Int, _ repetition: Int) {
            sweep.add(outcome, of: SweepJob(point: point, repetition: repetition))
        }
        add(.failure("the mock did not start"), 1, 1)
        add(.result(result("a", rate: 900)), 1, 2)
        add(.result(result("b", rate: 900, failed: 1)), 2, 1)
        add(.result(result("c", rate: 900, failed: 2)), 2, 2)
        add(.result(result("d", rate: 900, thresholds: ["rate > 950"])), 3, 1)
        add(.result(result("e", rate: 960, thresholds: ["rate > 950"])), 3, 2)
        add(.result(result("f", rate: 900)), 4, 1)
        add(.result(result("g", rate: 5)), 5, 1)
        add(.result(result("h", rate: 6)), 5, 2)
        let outcome = SweepAnalysis.make(plan, SweepSchedule(plan), sweep, isFinished: false)
        let problems = outcome.points.map(\.problem)
        #expect(problems[0] == "cannot be run: no such engine; really")
        #expect(problems[1] == "the mock did not start")
        #expect(problems[2] == "1 push failed: push_timeout 1 (and 1 more)")
        #expect(
            problems[3]?.hasPrefix("threshold crossed: rate 900/s, not > 950") == true
                && problems[3]?.contains("more)") == false,
            "\(problems)")
        #expect(problems[4] == nil && problems[5] == nil)
        #expect(outcome.points.map(\.runsMissing) == [0, 0, 0, 0, 1, 0])
        #expect(outcome.best == .init(point: 5, alike: []) && outcome.front == [5])
        #expect(outcome.points[1].rate?.values == [900] && outcome.runsMade == 9 && outcome.runsPlanned == 10)
        #expect(outcome.notes.first == "the sweep is not finished: 9 of 10 runs are made")
    }

    @Test("Of halving each point has the figures of its longest runs, and only the last rung is compared")
    func rungs() throws {
        let plan = try SweepScheduleTests.plan(["streams=1,2,3"]) { ($0.method, $0.repeats) = (.halving, 1) }
        var sweep = SweepRuns()
        for (point, rate) in [(0, 900.0), (1, 500), (2, 600)] {
            sweep.add(.result(result("\(point)", rate: rate)), of: SweepJob(point: point, repetition: 1))
        }
        for (point, rate) in [(0, 400.0), (2, 700)] {
            sweep.add(.result(result("\(point)+", rate: rate)), of: SweepJob(point: point, repetition: 1, rung: 1))
        }
        let outcome = SweepAnalysis.make(plan, SweepSchedule(plan), sweep, isFinished: true)
        #expect(outcome.points.map(\.rung) == [1, 0, 1])
        #expect(outcome.points.map(\.rate?.median) == [400, 500, 700])
        #expect(outcome.best == .init(point: 2, alike: [0]))
    }

    @Test(
        "While the last rung is not finished, or where all of it went wrong, no point is the best: none that was dropped"
    )
    func unfinishedRung() throws {
        let plan = try SweepScheduleTests.plan(["streams=1,2,3"]) { ($0.method, $0.repeats) = (.halving, 1) }
        var sweep = SweepRuns()
        for (point, rate) in [(0, 900.0), (1, 500), (2, 600)] {
            sweep.add(.result(result("\(point)", rate: rate)), of: SweepJob(point: point, repetition: 1))
        }
        // Of one of both there is a run, and it failed.
        sweep.add(.failure("gone"), of: SweepJob(point: 0, repetition: 1, rung: 1))
        let outcome = SweepAnalysis.make(plan, SweepSchedule(plan), sweep, isFinished: false)
        #expect(outcome.points.map(\.rung) == [1, 0, 0] && outcome.best == nil, "\(outcome.points)")
        #expect(
            SweepReport.best(outcome) == [
                "best by rate (answered): none, no point of the last rung has all its runs without a problem"
            ])
        // Nor is one that is ready the best while the other is not.
        sweep = SweepRuns()
        for (point, rate) in [(0, 900.0), (1, 500), (2, 600), (3, 800)] {
            sweep.add(.result(result("\(point)", rate: rate)), of: SweepJob(point: point, repetition: 1))
        }
        sweep.add(.result(result("again", rate: 700)), of: SweepJob(point: 3, repetition: 1, rung: 1))
        let four = try SweepScheduleTests.plan(["streams=1,2,3,4"]) { ($0.method, $0.repeats) = (.halving, 1) }
        #expect(SweepAnalysis.make(four, SweepSchedule(four), sweep, isFinished: false).best == nil)
    }

    @Test("A point whose p99 is only known from below is not the best by it, nor on the front, and a note says why")
    func censored() throws {
        let unanswered = (1...3).map { number -> ResultDocument? in
            var result = result("u\(number)", rate: 2000, p99: 10, failed: 1, thresholds: ["accepted >= 50%"])
            result.latency[.total].unanswered = 1
            result.latency[.total].censored = ["mean", "p99", "p99_9", "max"]
            return result
        }
        let document = try outcome([unanswered, runs([1000, 1001, 1002])]) { $0.goal = .p99 }
        #expect(document.points[0].problem == nil && document.points[0].p99 == nil && document.points[0].p50 != nil)
        #expect(document.best?.point == 1 && document.front == [1])
        #expect(
            document.notes.contains(
                "total p99 is not known in 3 of 6 runs, in which pushes got no answer: their points have none"),
            "\(document.notes)")
    }
}
