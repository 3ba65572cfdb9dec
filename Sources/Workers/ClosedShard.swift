import Measurement
import Results

/// What a worker that was lost had written last, with its books closed: what it had reserved and no figure knows may have been sent,
/// and counts as failed; the rest of its part was not sent.
enum ClosedShard {
    /// As results spell why.
    static let cause = "worker_lost"
    /// What the ends of pushes are called that a partial result makes up.
    private static let madeUp = "interrupted"

    /// - Parameters:
    ///   - partial: what it wrote while it went on; nil: nothing.
    ///   - planned: pushes of its part; nil: not known beforehand.
    ///   - reserved: how many of them it may have sent at most, as its journal says.
    ///   - left: of its part, what is still sent by whoever takes it up.
    static func close(
        _ partial: ResultDocument?, planned: UInt64?, reserved: UInt64, left: UInt64 = 0
    ) -> ResultDocument {
        var result = partial ?? ResultDocument()
        // Where nothing was planned beforehand, what may have been sent was.
        let planned = planned ?? max(result.pushes.planned, reserved)
        let open = result.failures[madeUp] ?? 0
        // Some that waited for a stream have been counted so, without being in the books.
        let waited = result.latency[.total].unanswered
        let ended = result.pushes.failed &+ result.notSent.filter { $0.key != madeUp }.values.reduce(0, &+)
        let waiting = waited - min(waited, ended)
        result.failures[madeUp] = nil
        result.notSent[madeUp] = nil
        result.pushes.notSent = result.notSent.values.reduce(0, &+)
        result.pushes.planned = planned - min(planned, left)
        let known = result.pushes.accepted &+ result.pushes.rejected &+ result.pushes.failed &+ result.pushes.notSent
        let rest = result.pushes.planned - min(result.pushes.planned, known)
        // Of those that no figure knows as many may have been sent as were reserved; the others were not.
        let unknown = min(rest, reserved - min(reserved, known))
        let unsent = rest - unknown
        result.pushes.failed &+= unknown
        result.pushes.notSent &+= unsent
        if open &+ unknown > 0 { result.failures[cause] = open &+ unknown }
        if unsent > 0 { result.notSent[cause] = unsent }
        // None of them got an answer; how long they had waited is not known.
        let isMeasured = partial.map { $0.latency[.total].count > 0 || $0.throughput.windowSeconds > 0 } ?? true
        if isMeasured { addUnanswered(unknown - min(unknown, waiting), to: &result) }
        // What it did not say of its answers, but for what they must have been.
        if result.statuses.isEmpty, result.pushes.accepted > 0 { result.statuses = ["200": result.pushes.accepted] }
        result.run.complete = false
        result.run.interrupted = false
        result.notes.removeAll { $0.hasPrefix(ResultDocument.partialMark) }
        return result
    }

    private static func addUnanswered(_ count: UInt64, to result: inout ResultDocument) {
        guard count > 0, var all = try? result.censoredHistogram("total") else { return }
        all.unanswered.record(1, count: count)
        result.histograms["total_unanswered"] = HistogramCodec.encodeForLog(all.unanswered)
        result.latency[.total] = .init(all)
    }
}
