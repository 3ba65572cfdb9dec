/// The span over which one worker's pushes are measured, and what happened in it: the counts behind the four rates of a result
/// (`results/README.md`, `throughput`).
///
/// Answers are counted in the span moved by the shortest total latency so far: the time that the way there and back takes is
/// no time in which nothing was answered.
struct RateWindow: Sendable {
    /// Where the span ends.
    enum End {
        /// With the schedule, or the run's time: ns of the monotonic clock.
        case at(UInt64)
        /// With the last answer: a closed loop for a number of pushes. What is measured counts, whenever it was answered.
        case lastAnswer
    }

    /// Begin of the span, ns; `.max` before it is known.
    private(set) var from = UInt64.max
    /// End of the span, ns; `.max` while only the last answer will tell.
    private(set) var to = UInt64.max
    private var endsWithAnswers = true
    /// Pushes that came due, attempts handed to the kernel, and answers, in it.
    private(set) var offered: UInt64 = 0
    private(set) var sent: UInt64 = 0
    /// Of these, attempts of pushes that had been sent before.
    private(set) var sentAgain: UInt64 = 0
    var answered: UInt64 { endsWithAnswers ? measuredAnswers : answeredInside }
    var accepted: UInt64 { endsWithAnswers ? measuredAcceptances : acceptedInside }
    private var answeredInside: UInt64 = 0
    private var acceptedInside: UInt64 = 0
    private var measuredAnswers: UInt64 = 0
    private var measuredAcceptances: UInt64 = 0
    /// When the last measured push was answered, ns; 0 before.
    private(set) var lastAnswer: UInt64 = 0
    /// Shortest total latency of an accepted push so far, or, while there is none, of any, ns.
    private var shortest = UInt64.max
    private var hasAccepted = false

    mutating func begin(_ time: UInt64) { if from == .max { from = time } }

    mutating func end(_ end: End) {
        switch end {
        case .at(let time):
            to = time
            endsWithAnswers = false
        case .lastAnswer:
            to = .max
            endsWithAnswers = true
        }
    }

    /// The run was ended early: the span ends there, if it has not before.
    mutating func cut(_ time: UInt64) {
        endsWithAnswers = false
        to = min(to, time)
    }

    /// A measured push came due. One at the very end of the span, such as those of a last burst, is not of it.
    @inline(__always)
    mutating func noteDue(_ due: UInt64) { if due < to { offered &+= 1 } }

    mutating func noteDue(count: UInt64) { offered &+= count }

    @inline(__always)
    mutating func noteSent(_ time: UInt64, isAgain: Bool = false) {
        guard time >= from, time < to else { return }
        sent &+= 1
        if isAgain { sentAgain &+= 1 }
    }

    @inline(__always)
    mutating func noteAnswer(_ time: UInt64, total: UInt64, isAccepted: Bool, isMeasured: Bool) {
        if isAccepted, !hasAccepted {
            hasAccepted = true
            shortest = total
        } else if isAccepted || !hasAccepted {
            shortest = min(shortest, total)
        }
        if isMeasured {
            lastAnswer = max(lastAnswer, time)
            measuredAnswers &+= 1
            if isAccepted { measuredAcceptances &+= 1 }
        }
        let moved = time &- shortest
        guard moved >= from, moved < to else { return }
        answeredInside &+= 1
        if isAccepted { acceptedInside &+= 1 }
    }
}
