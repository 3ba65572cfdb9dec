import Foundation

/// The answers since the start, as 32 to 64 intervals, the longer the more time has passed.
struct AnswerHistory {
    private static let most = 64
    /// Fewer tell nothing.
    private static let fewest = 9

    private var intervals: [AnswerInterval] = []
    /// So many added ones make one.
    private var group = 1
    private var gathered: AnswerInterval?
    private var gatheredCount = 0

    /// - Parameter interval: has answers.
    mutating func add(_ interval: AnswerInterval) {
        gathered = gathered.map { AnswerInterval.joined($0, interval) } ?? interval
        gatheredCount += 1
        guard gatheredCount == group, let whole = gathered else { return }
        intervals.append(whole)
        gathered = nil
        gatheredCount = 0
        guard intervals.count == Self.most else { return }
        intervals = stride(from: 0, to: Self.most, by: 2).map { AnswerInterval.joined(intervals[$0...$0 + 1]) }
        group *= 2
    }

    /// Whether latency grew in the second half, from its first third to its last, more than its noise explains.
    ///
    /// - Parameters:
    ///   - growth: what is nothing, ns a second.
    ///   - floor: what is nothing however short the time, ns.
    func grew(by growth: Double, floor: Double) -> Bool {
        let half = intervals.suffix(intervals.count / 2)
        guard half.count >= Self.fewest else { return false }
        let third = half.count / 3
        let early = AnswerInterval.joined(half.prefix(third))
        let late = AnswerInterval.joined(half.suffix(third))
        let seconds = half.reduce(0) { $0 + $1.seconds } * 2 / 3
        let error = (early.variance / early.answers + late.variance / late.answers).squareRoot() * exp(late.level)
        return exp(late.level) - exp(early.level) > max(growth * seconds, 3 * error, floor)
    }
}
