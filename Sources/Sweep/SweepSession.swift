import Analysis
import Flags
import Foundation
import Glibc
import Harness
import Results
import Scenarios
import Settings

/// One go at a sweep: makes the runs that are not there yet.
struct SweepSession {
    enum Reason {
        case finished, interrupted, limit
        /// Points' targets could not be reached: their runs are not made, and may be another time.
        case unreached
    }

    let schedule: SweepSchedule
    let runner = RunSeries()
    private let plan: SweepPlan
    private let most: Int?
    private let isQuiet: Bool
    /// Points that cannot be run: why.
    private let impossible: [Int: String]

    /// - Parameter most: runs of this go.
    /// - Throws: when no point can be run.
    init(_ plan: SweepPlan, most: Int?, isQuiet: Bool) throws(HarnessError) {
        self.plan = plan
        self.most = most
        self.isQuiet = isQuiet
        schedule = SweepSchedule(plan)
        var impossible: [Int: String] = [:]
        // Files with many lines are read for one point only.
        let isQuick = plan.scenario.deviceFile == nil && plan.scenario.trace == nil && plan.scenario.replay == nil
        for (index, point) in schedule.points.enumerated() {
            do throws(HarnessError) {
                let scenario = try Self.scenario(plan, SweepJob(point: point, repetition: 1))
                let problems = scenario.validate()
                if !problems.isEmpty { throw HarnessError(problems.joined(separator: "\n")) }
                if isQuick || index == 0 { _ = try Self.makeRun(scenario) }
            } catch { impossible[point] = error.description }
        }
        self.impossible = impossible
        if impossible.count == schedule.points.count, let first = schedule.points.first {
            throw HarnessError(impossible[first] ?? "nothing to run")
        }
    }

    private static func scenario(_ plan: SweepPlan, _ job: SweepJob) throws(HarnessError) -> Scenario {
        do throws(SettingsError) { return try plan.scenario(of: job.point, rung: job.rung) } catch {
            throw HarnessError(error.description)
        }
    }

    private static func makeRun(_ scenario: Scenario) throws(HarnessError) -> Run {
        try Run(scenario, identity: try scenario.identity())
    }

    /// The points, one a line, for `--list`.
    var listing: String {
        var text =
            "\(Units.counted(schedule.points.count, "point")), \(Units.counted(schedule.runCount, "run")), seed \(plan.scenario.seed)\n"
        for point in schedule.points {
            let problem = impossible[point].map { ": cannot be run: \($0)" } ?? ""
            text += "\(plan.description(of: point))\(problem)\n"
        }
        return text
    }

    func go(_ store: SweepStore) async throws -> (runs: SweepRuns, reason: Reason) {
        var runs = SweepRuns(impossible: impossible)
        warnOfStrangers(store)
        var pace = SweepPace(
            runs: schedule.runCount - impossible.count * plan.search.repeats,
            length: schedule.length - Double(impossible.count * plan.search.repeats))
        say(
            "\(Units.counted(pace.runs, "run")) in an order drawn with seed \(plan.scenario.seed), into \(store.folder)"
        )
        var points = schedule.points.filter { impossible[$0] == nil }
        var made = 0
        var unreached = UnreachedTargets()
        for rung in schedule.sizes.indices {
            var missing: [SweepJob] = []
            for job in schedule.jobs(rung: rung, points: points) {
                let run = try Self.makeRun(try Self.scenario(plan, job))
                let kept = try store.read(job.folder, version: plan.version, settings: run.settings) {
                    Console.diagnostic("\($0)\n")
                }
                switch kept {
                case nil: missing.append(job)
                case .result(let result): runs.add(.result(result), of: job)
                case .failure(let reason): runs.add(.failure(reason), of: job)
                }
                if kept != nil { pace.skipped(job.length) }
            }
            if pace.done > 0, rung == 0 { say("already there: \(pace.done) of \(Units.counted(pace.runs, "run"))") }
            for job in missing {
                if let most, made >= most { return (runs, runs.unreached.isEmpty ? .limit : .unreached) }
                let scenario = try Self.scenario(plan, job)
                if let why = runs.unreached[job.point] ?? unreached[scenario] {
                    runs.add(unreached: why, point: job.point)
                    pace.skipped(job.length)
                    continue
                }
                if made == 0 {
                    // Thrown away: a first run finds cold caches and a slow clock. What is wrong with it is found again.
                    let warm = try Self.makeRun(scenario)
                    if let result = try? await runner.execute(warm), RunVerdict.unreached(result) == nil {
                        say("warm-up: \(result.throughput.answeredText)")
                    }
                }
                if runner.isStopped { return (runs, .interrupted) }
                let began = Date()
                guard let outcome = try await perform(job, scenario, store) else { return (runs, .interrupted) }
                switch outcome {
                case .made(let outcome): runs.add(outcome, of: job)
                case .unreached(let why):
                    runs.add(unreached: why, point: job.point)
                    unreached.note(scenario, why)
                }
                made += 1
                pace.took(Date().timeIntervalSince(began), job.length)
                let text: String
                switch outcome {
                case .made(.result(let result)): text = result.throughput.answeredText
                case .made(.failure(let reason)), .unreached(let reason): text = "failed: \(reason)"
                }
                let length = job.rung > 0 ? ", length ×\(1 << job.rung)" : ""
                say(
                    "run \(pace.done) of \(pace.runs): \(plan.description(of: job.point)) (repetition \(job.repetition)\(length)): "
                        + "\(text); \(pace.left)")
            }
            // Which points go on cannot be said before all of them were run.
            if !runs.unreached.isEmpty { return (runs, .unreached) }
            points = schedule.survivors(
                of: rung,
                points.map {
                    ($0, runs.value(of: plan.search.goal, $0, rung: rung, repeats: plan.search.repeats))
                })
        }
        return (runs, .finished)
    }

    /// What came of a run.
    private enum Performed {
        case made(SweepRuns.Outcome)
        /// Nothing was sent, and nothing is kept: it is to be made another time.
        case unreached(String)
    }

    /// nil when it was stopped.
    private func perform(
        _ job: SweepJob, _ scenario: Scenario, _ store: SweepStore
    ) async throws(HarnessError) -> Performed? {
        let run = try Self.makeRun(scenario)
        do throws(HarnessError) {
            guard let result = try await runner.execute(run) else { return nil }
            if let why = UnreachedTargets.reason(result, of: scenario) { return .unreached(why) }
            try store.write(result, of: job.folder)
            return .made(.result(result))
        } catch {
            if runner.isStopped { return nil }
            try store.write(failure: error.description, settings: run.settings, of: job.folder)
            return .made(.failure(error.description))
        }
    }

    private func warnOfStrangers(_ store: SweepStore) {
        var known: Set<String> = []
        for rung in schedule.sizes.indices {
            for job in schedule.jobs(rung: rung, points: schedule.points) { known.insert(job.folder) }
        }
        for name in store.strangers(besides: known) {
            Console.diagnostic("\(store.folder)/\(name): nothing of this sweep, left alone\n")
        }
    }

    private func say(_ text: String) {
        if !isQuiet { Console.diagnostic(Console.picture(of: STDERR_FILENO).fitted(text + "\n")) }
    }
}

/// How far a sweep is, and how long the rest takes.
struct SweepPace {
    let runs: Int
    private(set) var done = 0
    /// In runs of the first rung.
    private var lengthLeft: Double
    private var seconds = 0.0
    private var lengthTimed = 0.0

    init(runs: Int, length: Double) {
        self.runs = runs
        lengthLeft = length
    }

    mutating func skipped(_ length: Double) {
        done += 1
        lengthLeft -= length
    }

    mutating func took(_ time: Double, _ length: Double) {
        skipped(length)
        seconds += time
        lengthTimed += length
    }

    var left: String {
        guard lengthTimed > 0, lengthLeft > 0.5 else { return "done" }
        return "about \(Units.clock(seconds: seconds / lengthTimed * lengthLeft)) left"
    }
}
