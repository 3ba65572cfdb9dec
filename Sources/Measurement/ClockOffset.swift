/// Four moments of one push, as NTP has them of one message and its answer (RFC 5905, section 8): T1 and T4 by the client's clock, T2
/// and T3 by the mock's. Nanoseconds, less than 2^60 (36 years), so that their sums are numbers.
package struct PushStamps: Sendable {
    package var sent: Int64
    package var received: Int64
    package var answered: Int64
    package var read: Int64

    /// - Returns: nil when a moment was not seen, or cannot be one.
    package init?(sent: UInt64, received: UInt64, answered: UInt64, read: UInt64) {
        let times = [sent, received, answered, read]
        guard times.allSatisfy({ $0 > 0 && $0 < 1 << 60 }) else { return nil }
        (self.sent, self.received) = (Int64(sent), Int64(received))
        (self.answered, self.read) = (Int64(answered), Int64(read))
    }

    /// On the way there and back, ns.
    var delay: Int64 { (read - sent) - (answered - received) }
    /// No push is received before it is sent, at either end: what the mock's clock is ahead by is in this range, ns.
    var possibleOffsets: (lowest: Int64, highest: Int64) { (answered - read, received - sent) }
    /// False when the moments are not of one message: it was sent more than once.
    var isPossible: Bool { sent <= read && received <= answered && delay >= 0 }
}

/// What a mock's clock is ahead of a client's, found from the pushes between them.
///
/// As in RFC 5905: offset = ((T2 - T1) + (T3 - T4)) / 2 of the sample with the least delay, wrong by half that delay at most. Clocks
/// drift by 10 to 100 ppm, so each span of time has its own; between them it is interpolated.
package struct ClockOffset: Sendable {
    /// What was found in a span of time.
    package struct Span: Sendable {
        /// When by the client's clock, ns.
        package let time: Int64
        /// The mock's clock minus the client's, ns.
        package let offset: Int64
        /// How far that may be wrong, ns.
        package let bound: Int64
    }

    /// A span has at least so many samples, and lasts so long, ns.
    static let leastSamples = 32
    static let leastLength: Int64 = 1_000_000_000
    /// What clocks drift apart, at most, of the time between two samples.
    private static let mostDrift = 100e-6
    /// Samples of a span that are tried: each is held against all others.
    private static let mostTries = 32

    /// At least one, in order of time.
    package let spans: [Span]

    /// - Returns: nil when no sample says anything.
    package init?(_ samples: [PushStamps]) {
        let samples = samples.filter(\.isPossible).sorted { $0.sent < $1.sent }
        var spans: [Span] = []
        var start = 0
        while start < samples.count {
            var end = start
            while end < samples.count,
                end - start < Self.leastSamples || samples[end].sent - samples[start].sent < Self.leastLength
            {
                end += 1
            }
            // What is left is too little for another one.
            if samples.count - end < Self.leastSamples { end = samples.count }
            if let span = Self.span(samples[start..<end]) { spans.append(span) }
            start = end
        }
        guard !spans.isEmpty else { return nil }
        self.spans = spans
    }

    /// Of the sample with the least delay that most of the others agree with: one whose moments are of two attempts does not.
    private static func span(_ samples: ArraySlice<PushStamps>) -> Span? {
        for candidate in samples.sorted(by: { $0.delay < $1.delay }).prefix(mostTries) {
            let range = candidate.possibleOffsets
            let agreeing = samples.count { other in
                let theirs = other.possibleOffsets
                let drift = Int64(Double(abs(other.sent - candidate.sent)) * mostDrift)
                return theirs.lowest - drift <= range.highest && range.lowest <= theirs.highest + drift
            }
            if agreeing * 2 > samples.count {
                return Span(
                    time: candidate.sent, offset: range.lowest + candidate.delay / 2,
                    bound: (candidate.delay + 1) / 2)
            }
        }
        return nil
    }

    /// The mock's clock minus the client's at a time of the client's clock, and how far that may be wrong, ns: between two spans on
    /// the line from one to the other, before the first and after the last one as they drift.
    package func at(_ time: Int64) -> (offset: Int64, bound: Int64) {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        guard low > 0, low < spans.count else {
            let nearest = spans[max(0, low - 1)]
            let drifted = Double(time - nearest.time) * (drift ?? 0) / 1e6
            return (nearest.offset + (Int64(exactly: drifted.rounded()) ?? 0), nearest.bound)
        }
        let (before, after) = (spans[low - 1], spans[low])
        let share = Double(time - before.time) / Double(max(1, after.time - before.time))
        let offset = before.offset + Int64((Double(after.offset - before.offset) * share).rounded())
        return (offset, max(before.bound, after.bound))
    }

    /// The span that is known best.
    package var best: Span { spans.min { $0.bound < $1.bound } ?? spans[0] }

    /// What the mock's clock gains on the client's, ppm; nil where it is less than what can be told.
    package var drift: Double? {
        guard let first = spans.first, let last = spans.last, last.time > first.time else { return nil }
        let change = last.offset - first.offset
        guard abs(change) > first.bound + last.bound else { return nil }
        return Double(change) / Double(last.time - first.time) * 1e6
    }
}
