import Scenarios

/// The rates of the last so many seconds of a run, from counts that only grow, looked at about once a second.
///
/// It begins with the first answer, or after a whole window without one: the time that the first answers take is no time in which
/// too few came. It keeps looks a twentieth of the window apart, for one window and a half.
struct RecentRates: Sendable {
    /// What had happened since the start of the run.
    struct Look: Sendable {
        /// Nanoseconds since the start of the run.
        let time: UInt64
        /// Measured pushes that had come due.
        let due: UInt64
        let answered: UInt64
        let accepted: UInt64
        /// Handed to the kernel, attempts counted.
        let sent: UInt64
    }

    /// Nanoseconds.
    private let window: UInt64
    private var hasBegun = false
    /// Ascending.
    private var looks: [Look]
    private var last: Look

    /// Answers that are on their way at either end of the window differ by so much at most without anything being wrong.
    private static let tolerance = 0.01
    private static let fewest = 2.0

    /// - Parameters:
    ///   - window: nanoseconds.
    ///   - first: nothing before it counts.
    init(window: UInt64, _ first: Look) {
        self.window = max(1, window)
        (looks, last) = ([first], first)
    }

    /// Nanoseconds that the rates are of.
    var length: UInt64 { length(to: last, from: looks[start]) }

    /// The look at which the window begins.
    private var start: Int { looks.lastIndex { length(to: last, from: $0) >= window } ?? 0 }

    /// Pushes that should have been answered within the window, where an answer may take a third of it: the fewest that were due
    /// within the window, or within one that ended up to a third earlier.
    private var expected: Double {
        let looksWithin = looks.count - 1 - start
        let earliest = looks.lastIndex { length(to: last, from: $0) >= window / 3 } ?? 0
        let earlier = (earliest..<looks.count).map { end in
            let first = looks[max(0, end - looksWithin)]
            // Looks are not equally far apart: the earlier window may be the longer one.
            let longer = max(1, Double(length(to: looks[end], from: first)) / Double(max(1, length)))
            return since(first, looks[end], \.due) / longer
        }
        return min(count(.offered), earlier.min() ?? .infinity)
    }

    /// - Parameter look: not before the one added last.
    mutating func add(_ look: Look) {
        if !hasBegun {
            hasBegun = look.answered > looks[0].answered || length(to: look) >= window
            if look.answered > looks[0].answered { looks = [look] }
        }
        last = look
        while looks.count > 1, length(to: look, from: looks[1]) >= window / 2 * 3 { looks.removeFirst() }
        if length(to: look, from: looks[looks.count - 1]) >= window / 20 { looks.append(look) }
    }

    private func length(to look: Look, from first: Look? = nil) -> UInt64 {
        let begin = (first ?? looks[0]).time
        return look.time - min(look.time, begin)
    }

    /// A rate that is too small, pushes a second or its share of what was due.
    ///
    /// - Parameters:
    ///   - limit: what it is to be at least, in the same unit.
    ///   - isOpenLoop: what was due within the window may be less than the limit.
    /// - Returns: nil when it is large enough, or cannot be judged yet.
    func missed(_ rate: Threshold.Rate, _ limit: Double, ofTarget: Bool, _ isOpenLoop: Bool) -> Double? {
        let seconds = Double(length) / 1e9
        guard hasBegun, length >= window / 3, seconds > 0 else { return nil }
        let (count, expected) = (count(rate), expected)
        let asked = ofTarget ? limit * expected : limit * seconds
        // A share above 1 is never reached, and is crossed at the end.
        let needed = isOpenLoop ? min(asked, expected) : asked
        let isWhole = length >= window
        guard count + Self.fewest < needed * (isWhole ? 1 - Self.tolerance : 0.5) else { return nil }
        return count / (ofTarget ? self.count(.offered) : seconds)
    }

    private func count(_ rate: Threshold.Rate) -> Double {
        let count: KeyPath<Look, UInt64> =
            switch rate {
            case .answered: \.answered
            case .accepted: \.accepted
            case .sent: \.sent
            case .offered: \.due
            }
        return since(looks[start], last, count)
    }

    private func since(_ first: Look, _ last: Look, _ count: KeyPath<Look, UInt64>) -> Double {
        Double(last[keyPath: count] - min(last[keyPath: count], first[keyPath: count]))
    }
}
