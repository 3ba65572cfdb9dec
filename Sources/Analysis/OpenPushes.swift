/// How many pushes of a run that goes on are open for longer than some time, from what was due and what had ended at each look.
///
/// Whatever has ended is taken to be what was due first. So it never says too many: pushes that are due later and have ended
/// already hide as many that are open.
struct OpenPushes: Sendable {
    private struct Mark: Sendable {
        /// Nanoseconds since the start of the run.
        let time: UInt64
        let due: UInt64
    }

    /// Ascending.
    private var marks: [Mark]
    /// Due before it began.
    private let first: UInt64
    /// Pushes that had ended when it began, and until now.
    private let endedBefore: UInt64
    private var ended: UInt64
    private var now: UInt64

    /// - Parameters:
    ///   - begin: nanoseconds since the start; pushes due before do not count.
    ///   - due: pushes due so far.
    ///   - ended: of them, those that have ended.
    init(begin: UInt64, due: UInt64, ended: UInt64) {
        marks = [Mark(time: begin, due: due)]
        endedBefore = ended
        self.ended = ended
        now = begin
        first = due
    }

    /// - Parameters:
    ///   - time: nanoseconds since the start; no less than before, like the counts.
    ///   - longest: no longer time will be asked for, ns.
    mutating func advance(to time: UInt64, due: UInt64, ended: UInt64, keeping longest: UInt64) {
        now = time
        self.ended = ended
        marks.append(Mark(time: time, due: due))
        while marks.count > 1, isOld(marks[1], longest) { marks.removeFirst() }
    }

    private func isOld(_ mark: Mark, _ age: UInt64) -> Bool { now - min(now, mark.time) >= age }

    /// Pushes that were due so long ago, ns, at a look, and are open; at least so many.
    func olderThan(_ age: UInt64) -> UInt64 {
        guard let mark = marks.last(where: { isOld($0, age) }) else { return 0 }
        let (due, over) = (mark.due - min(mark.due, first), ended - min(ended, endedBefore))
        return due - min(due, over)
    }
}
