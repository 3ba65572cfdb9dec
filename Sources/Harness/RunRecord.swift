import Foundation
import Measurement
import Results
import Settings

/// Writes what a run has into its folder while it goes on (`RunOutput`), so that a run that is killed leaves it there and none of
/// it has to be kept in memory. What cannot be written is said once, and the run goes on without.
///
/// Unchecked: belongs to the run's watcher.
final class RunRecord: @unchecked Sendable {
    /// Between partial results, ns; the first is written with the first point of the series. What a worker among several has done
    /// since is not known when it is lost.
    private var pause: UInt64 { output.isShard ? 2_000_000_000 : 5_000_000_000 }
    /// Points of a partial result's series: it is to cost little, however long the run.
    static let mostPoints = 64

    private let inputs: RunInputs
    private let started: Date
    private let target: String
    let output: RunOutput
    private let log: HistogramLogFile
    /// End of the last interval in the log, seconds since the start.
    private var logEnd = 0.0
    private(set) var notes: [String] = []
    /// Of a shard: what its workers share, whose ledger and push times are kept too.
    var state: RunState?
    /// When the next partial result is due, ns since the start.
    private var nextResult: UInt64 = 0
    private var hasWarnedOfResult = false

    init(inputs: RunInputs, started: Date, target: String, output: RunOutput) {
        self.inputs = inputs
        self.started = started
        self.target = target
        self.output = output
        log = HistogramLogFile(path: output.folder + "/latency.hlog", startTime: started.timeIntervalSince1970)
    }

    func warn(_ problem: String) { output.warn(problem) }
    var tell: @Sendable (String) -> Void { output.tell }

    /// Adds an interval to the log.
    ///
    /// - Parameters:
    ///   - totals: latencies within it.
    ///   - start, end: seconds since the start of the run.
    func add(_ totals: TotalLatencies, from start: Double, to end: Double) {
        guard output.isCurrent() else { return }
        for (tag, histogram) in [("total", totals.answered), ("unanswered", totals.unanswered ?? .empty)]
        where histogram.count > 0 {
            log.append(.init(start: start, length: max(0, end - start), tag: tag, histogram: histogram))
        }
        lookAtLog(end)
    }

    /// The run is over: there is a log, even of nothing.
    func end() {
        guard output.isCurrent() else { return }
        log.begin()
        lookAtLog(logEnd)
        guard output.isShard, let state else { return }
        do throws(BinaryFileFailure) {
            try AcceptedFile.write(
                state.accepted, run: inputs.run.rawValue, to: output.folder + "/" + RunOutput.accepted)
            if let times = state.times {
                try PushTimesFile.write(times, run: inputs.run.rawValue, to: output.folder + "/" + RunOutput.times)
            }
        } catch {
            output.warn(error.description)
            notes.append(error.description)
        }
    }

    /// A ledger of more than that is written at the end only, bytes.
    private static let mostOften = 1 << 26

    /// Accepted pushes so far: whoever takes the run up again goes on with them.
    private func keepAccepted() {
        guard output.isShard, output.isCurrent(), let accepted = state?.accepted.copy(atMost: Self.mostOften) else {
            return
        }
        try? AcceptedFile.write(accepted, run: inputs.run.rawValue, to: output.folder + "/" + RunOutput.accepted)
    }

    private func lookAtLog(_ end: Double) {
        guard let problem = log.problem else {
            logEnd = end
            return
        }
        guard notes.isEmpty else { return }
        output.warn("\(problem); the run goes on without it")
        notes = ["latency.hlog ends \(Units.fixed(logEnd, places: 0)) s after the start: \(problem)"]
    }

    /// - Parameter elapsed: ns since the start.
    func isDue(_ elapsed: UInt64) -> Bool { elapsed >= nextResult }

    /// Writes a partial result, in the place of the last one.
    func write(_ outcome: LoadOutcome) {
        var outcome = outcome
        let elapsed = UInt64(outcome.run.durationSeconds * 1e9)
        nextResult = elapsed + pause
        outcome.notes =
            [
                ResultDocument.partialMark
                    + "written while the run went on, \(Units.fixed(outcome.run.durationSeconds, places: 0)) s after its start; it is "
                    + "still going on, or was killed"
            ] + notes
        guard output.isCurrent() else { return }
        keepAccepted()
        let document = RunDocument(inputs: inputs, outcome: outcome, started: started, target: target)
        do throws(ResultError) {
            try ResultFile.write(
                try ResultFile.encode(document.result), to: output.folder + "/result.json", isSynced: false)
        } catch {
            if !hasWarnedOfResult { output.warn("\(error); the run goes on without a partial result") }
            hasWarnedOfResult = true
        }
    }
}
