/// Finds the highest value (a rate) at which a goal is still reached, or the lowest (connections) at which it is: by growing
/// steps until it tips over, then by halving what lies between, then by confirming the answer.
///
/// A goal is taken to be monotone, a probe to be wrong now and then. A miss excludes everything beyond it, so the one that
/// would do so is tried again first: it counts when it is missed twice in a row. What was reached by luck is found out at the
/// end: the answer must be reached in two of at most three probes more; where it is not, the search goes on between it and
/// the next value that was reached. Held against known limits in `LimitSearchTests`.
package struct LimitSearch: Sendable {
    package enum Direction: Sendable {
        /// The goal holds for small values.
        case highest
        /// The goal holds for large values.
        case lowest
    }

    /// What a probe is made for.
    package enum Purpose: Sendable {
        /// To find the limit.
        case searching
        /// To see whether a miss repeats.
        case retrying
        /// To confirm the answer.
        case confirming
    }

    /// One probe.
    package struct Probe: Sendable, Equatable {
        let value: Double
        package let isReached: Bool
        package let purpose: Purpose
    }

    package struct Answer: Sendable, Equatable {
        /// The best value that was confirmed; nil when the goal was never reached, or nothing could be confirmed.
        package let value: Double?
        /// The nearest value at which the goal was not reached; nil when it was reached everywhere.
        package let beyond: Double?
        /// Values were reached, but `mostRefuted` of them not again: the same value's probes differ too much for an answer.
        package let isUnsteady: Bool
        package let probes: [Probe]

        /// How many of the probes at the answer missed the goal, and how many there were.
        package var misses: (count: Int, of: Int) {
            let own = probes.filter { $0.value == value }
            return (own.count { !$0.isReached }, own.count)
        }
    }

    let direction: Direction
    let start: Double
    let range: ClosedRange<Double>
    /// Ends when what lies between is less than this share of the value.
    let precision: Double
    /// Only whole numbers.
    let isWhole: Bool
    static let confirmations = 2
    /// Answers that may fail to be confirmed; with the steps of growing and halving this bounds the probes.
    static let mostRefuted = 20

    package init(
        _ direction: Direction, from start: Double, in range: ClosedRange<Double>, precision: Double, isWhole: Bool
    ) {
        self.direction = direction
        self.start = min(max(start, range.lowerBound), range.upperBound)
        self.range = range
        self.precision = precision
        self.isWhole = isWhole
    }

    /// - Parameter probe: tries a value; true when the goal is reached.
    package func run(_ probe: (Double, Purpose) async throws -> Bool) async throws -> Answer {
        var probes: [Probe] = []
        func isReached(_ value: Double, _ purpose: Purpose) async throws -> Bool {
            let isReached = try await probe(value, purpose)
            probes.append(Probe(value: value, isReached: isReached, purpose: purpose))
            return isReached
        }
        func answer(_ value: Double?, _ beyond: Double?, isUnsteady: Bool = false) -> Answer {
            Answer(value: value, beyond: beyond, isUnsteady: isUnsteady, probes: probes)
        }
        // Each harder than the one before it.
        var reached: [Double] = []
        // Missed once, each easier than the one before it; all are harder than what was reached.
        var doubtful: [Double] = []
        // The nearest value that was missed twice, or not confirmed.
        var beyond: Double?
        var refuted = 0
        while true {
            let next: Double
            if let best = reached.last {
                if let miss = doubtful.last {
                    if try await isReached(miss, .retrying) {
                        reached.append(doubtful.removeLast())
                    } else {
                        beyond = miss
                        doubtful = []
                    }
                    continue
                }
                next = between(best, beyond)
                if next == best {
                    if try await isConfirmed(best, isReached) { return answer(best, beyond) }
                    beyond = reached.removeLast()
                    refuted += 1
                    if refuted == Self.mostRefuted { return answer(nil, beyond, isUnsteady: true) }
                    continue
                }
            } else {
                let nearest = doubtful.last ?? beyond
                next = nearest.map { whole(clamped(towardsEasy($0))) } ?? whole(start)
                if next == nearest {
                    // Nothing is easier. What failed to be confirmed here needs no other try.
                    guard let miss = doubtful.popLast(), try await isReached(miss, .retrying) else {
                        return answer(nil, next)
                    }
                    reached.append(miss)
                    continue
                }
            }
            if try await isReached(next, .searching) { reached.append(next) } else { doubtful.append(next) }
        }
    }

    private func isConfirmed(
        _ value: Double, _ isReached: (Double, Purpose) async throws -> Bool
    ) async throws -> Bool {
        var hits = 0
        var misses = 0
        while hits < Self.confirmations && misses < Self.confirmations {
            if try await isReached(value, .confirming) { hits += 1 } else { misses += 1 }
        }
        return hits == Self.confirmations
    }

    /// The next value to try; `best` itself when there is none.
    private func between(_ best: Double, _ beyond: Double?) -> Double {
        guard let beyond else { return whole(clamped(towardsHard(best))) }
        guard abs(beyond - best) > max(abs(best) * precision, isWhole ? 1 : 0) else { return best }
        let middle = whole((best + beyond) / 2)
        return middle == beyond ? best : middle
    }

    private func towardsHard(_ value: Double) -> Double { direction == .highest ? value * 2 : value / 2 }
    private func towardsEasy(_ value: Double) -> Double { direction == .highest ? value / 2 : value * 2 }
    private func clamped(_ value: Double) -> Double { min(max(value, range.lowerBound), range.upperBound) }
    private func whole(_ value: Double) -> Double { isWhole ? value.rounded() : value }
}
