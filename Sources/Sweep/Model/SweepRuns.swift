import Analysis
import Results
import Scenarios
import Statistics

/// What a sweep's runs gave so far.
struct SweepRuns: Sendable {
    /// What a run gave.
    enum Outcome: Sendable {
        case result(ResultDocument)
        /// There is no result: why.
        case failure(String)
    }

    private(set) var outcomes: [SweepJob: Outcome] = [:]
    /// Points that cannot be run at all: why.
    let impossible: [Int: String]

    /// Points whose target could not be reached now: why. What is missing of them is to be made another time.
    private(set) var unreached: [Int: String] = [:]

    init(impossible: [Int: String] = [:]) { self.impossible = impossible }

    mutating func add(_ outcome: Outcome, of job: SweepJob) { outcomes[job] = outcome }

    mutating func add(unreached reason: String, point: Int) { unreached[point] = Self.oneLine(reason) }

    /// What is wrong with the runs of a point, in one line; nil when nothing is.
    func problem(_ point: Int, rung: Int, repeats: Int) -> String? {
        if let reason = impossible[point] { return "cannot be run: \(Self.oneLine(reason))" }
        var problems: [String] = []
        for repetition in 1...repeats {
            switch outcomes[SweepJob(point: point, repetition: repetition, rung: rung)] {
            case nil: break
            case .failure(let reason): problems.append(Self.oneLine(reason))
            case .result(let result):
                var thresholds: [Threshold] = []
                if case .array(let texts)? = result.scenario["thresholds"] {
                    thresholds = texts.flatMap { (try? Threshold.list(parsing: $0.description)) ?? [] }
                }
                let verdict = RunVerdict(result, thresholds: thresholds)
                problems += verdict.problems
                problems += verdict.thresholds.filter { !$0.isHeld }.map { "threshold crossed: \($0.description)" }
            }
        }
        guard let first = problems.first else {
            // With runs of another time it is only unfinished.
            return missing(point, rung: rung, repeats: repeats) == repeats ? unreached[point] : nil
        }
        return problems.count == 1 ? first : "\(first) (and \(problems.count - 1) more)"
    }

    /// Runs of a point that are not made yet.
    func missing(_ point: Int, rung: Int, repeats: Int) -> Int {
        guard impossible[point] == nil else { return 0 }
        return (1...repeats).count { outcomes[SweepJob(point: point, repetition: $0, rung: rung)] == nil }
    }

    func results(_ point: Int, rung: Int, repeats: Int) -> [ResultDocument] {
        (1...repeats).compactMap { repetition in
            guard case .result(let result) = outcomes[SweepJob(point: point, repetition: repetition, rung: rung)] else {
                return nil
            }
            return result
        }
    }

    /// The goal's median over the runs of a point; nil when something is wrong with them, or it is not known of all.
    func value(of goal: SweepSearch.Goal, _ point: Int, rung: Int, repeats: Int) -> Double? {
        guard problem(point, rung: rung, repeats: repeats) == nil, missing(point, rung: rung, repeats: repeats) == 0
        else {
            return nil
        }
        let values = results(point, rung: rung, repeats: repeats).map(goal.value)
        return values.contains(nil) ? nil : Quantile.median(values.compactMap { $0 })
    }

    private static func oneLine(_ text: String) -> String { text.split(separator: "\n").joined(separator: "; ") }
}

extension SweepSearch.Goal {
    /// nil when the run has no such figure.
    func value(_ result: ResultDocument) -> Double? {
        let total = result.latency[.total]
        switch self {
        case .rate: return result.throughput.answered > 0 ? result.throughput.answered : nil
        case .p50: return total.known(.p50)
        case .p99: return total.known(.p99)
        case .cpu: return result.hasAnswers ? result.cost.clientCPU : nil
        }
    }

    /// The same figure of a point.
    func figure(_ point: SweepDocument.Point) -> SweepDocument.Figure? {
        switch self {
        case .rate: point.rate
        case .p50: point.p50
        case .p99: point.p99
        case .cpu: point.clientCPU
        }
    }
}
