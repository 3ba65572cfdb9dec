/// Finds the highest value (a rate) at which a goal is still reached, or the lowest (connections) at which it is: by growing
/// steps until it tips over, then by halving what lies between, then by confirming the answer.
///
/// A goal is taken to be monotone; noise is met by confirming, and by stepping back when confirming fails.
public struct LimitSearch: Sendable {
    public enum Direction: Sendable {
        /// The goal holds for small values.
        case highest
        /// The goal holds for large values.
        case lowest
    }

    /// One probe.
    public struct Probe: Sendable, Equatable {
        public let value: Double
        public let isReached: Bool
        /// Made to confirm the answer.
        public let isConfirmation: Bool
    }

    public struct Answer: Sendable, Equatable {
        /// The best value that was confirmed; nil when the goal was never reached.
        public let value: Double?
        /// The nearest value at which the goal was not reached; nil when it was reached everywhere.
        public let beyond: Double?
        public let probes: [Probe]
    }

    let direction: Direction
    let start: Double
    let range: ClosedRange<Double>
    /// Ends when what lies between is less than this share of the value.
    let precision: Double
    /// Only whole numbers.
    let isWhole: Bool
    static let confirmations = 2

    public init(
        _ direction: Direction, from start: Double, in range: ClosedRange<Double>, precision: Double, isWhole: Bool
    ) {
        self.direction = direction
        self.start = min(max(start, range.lowerBound), range.upperBound)
        self.range = range
        self.precision = precision
        self.isWhole = isWhole
    }

    /// - Parameter probe: tries a value; true when the goal is reached.
    public func run(_ probe: (Double) async throws -> Bool) async throws -> Answer {
        var probes: [Probe] = []
        func reached(_ value: Double, confirming: Bool = false) async throws -> Bool {
            let isReached = try await probe(value)
            probes.append(Probe(value: value, isReached: isReached, isConfirmation: confirming))
            return isReached
        }
        // `easy` reaches the goal, `hard` does not.
        var easy: Double?
        var hard: Double?
        var value = whole(start)
        while true {
            if try await reached(value) { easy = value } else { hard = value }
            if easy != nil && hard != nil { break }
            let next = whole(clamped(easy == nil ? towardsEasy(value) : towardsHard(value)))
            if next == value { break }
            value = next
        }
        guard var best = easy else { return Answer(value: nil, beyond: hard, probes: probes) }
        while let beyond = hard, abs(beyond - best) > max(abs(best) * precision, isWhole ? 1 : 0) {
            let middle = whole((best + beyond) / 2)
            if middle == best || middle == beyond { break }
            if try await reached(middle) { best = middle } else { hard = middle }
        }
        // What was reached once may have been luck.
        var left = Self.confirmations
        while left > 0 {
            if try await reached(best, confirming: true) {
                left -= 1
                continue
            }
            hard = best
            let back = whole(
                clamped(direction == .highest ? best * (1 - precision) : max(best * (1 + precision), best + 1)))
            if back == best { return Answer(value: nil, beyond: hard, probes: probes) }
            best = back
            left = Self.confirmations
        }
        return Answer(value: best, beyond: hard, probes: probes)
    }

    private func towardsHard(_ value: Double) -> Double { direction == .highest ? value * 2 : value / 2 }
    private func towardsEasy(_ value: Double) -> Double { direction == .highest ? value / 2 : value * 2 }
    private func clamped(_ value: Double) -> Double { min(max(value, range.lowerBound), range.upperBound) }
    private func whole(_ value: Double) -> Double { isWhole ? value.rounded() : value }
}
