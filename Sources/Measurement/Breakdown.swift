/// Outcomes and total latency apart by something: the stage of the scenario, the push type, the status, the connection.
///
/// Cost: one more histogram record a push (3 ns), 270 KB a label, and as much again where pushes have no answer.
public final class Breakdown {
    public struct Outcome: Sendable {
        public var accepted: UInt64 = 0
        public var rejected: UInt64 = 0
        public var failed: UInt64 = 0
        /// Came due and was never begun.
        public var notSent: UInt64 = 0
        /// Intended send time to answer, of what is measured.
        public var total = LatencyHistogram()
        /// Of what is measured and has no answer: intended send time to its being given up; nil while there is none.
        public var unanswered: LatencyHistogram?

        mutating func add(_ other: Outcome) {
            accepted += other.accepted
            rejected += other.rejected
            failed += other.failed
            notSent += other.notSent
            total.add(other.total)
            if let others = other.unanswered {
                if unanswered == nil { unanswered = others } else { unanswered!.add(others) }
            }
        }
    }

    public let dimension: String
    public private(set) var labels: [String]
    private let outcomes: UnsafeMutablePointer<Outcome>
    /// Labels there may be; the last is then `other`, for all beyond.
    public static let most = 64
    public static let other = "(other)"

    public init(_ dimension: String, labels: [String]) {
        self.dimension = dimension
        self.labels = labels.count >= Self.most ? labels.prefix(Self.most - 1) + [Self.other] : labels
        outcomes = .allocate(capacity: Self.most)
        for place in 0..<self.labels.count { (outcomes + place).initialize(to: Outcome()) }
    }

    deinit {
        outcomes.deinitialize(count: labels.count)
        outcomes.deallocate()
    }

    /// The place of a label that may be new.
    public func place(_ label: String) -> Int {
        if let known = labels.firstIndex(of: label) { return known }
        guard labels.count < Self.most else { return Self.most - 1 }
        (outcomes + labels.count).initialize(to: Outcome())
        labels.append(labels.count == Self.most - 1 ? Self.other : label)
        return labels.count - 1
    }

    /// The place of the label given as number `number` at init.
    public func place(number: Int) -> Int { min(number, Self.most - 1) }

    @inline(__always)
    public func answered(_ place: Int, isAccepted: Bool, total time: UInt64, isMeasured: Bool) {
        if isAccepted { outcomes[place].accepted &+= 1 } else { outcomes[place].rejected &+= 1 }
        if isMeasured { outcomes[place].total.record(time) }
    }

    /// - Parameters:
    ///   - isBegun: else it was never sent.
    ///   - time: from the intended send time to its being given up.
    public func unanswered(_ place: Int, isBegun: Bool, after time: UInt64, isMeasured: Bool) {
        if isBegun { outcomes[place].failed &+= 1 } else { outcomes[place].notSent &+= 1 }
        guard isMeasured else { return }
        if outcomes[place].unanswered == nil { outcomes[place].unanswered = LatencyHistogram() }
        outcomes[place].unanswered!.record(time)
    }

    public var byLabel: [(label: String, outcome: Outcome)] { labels.enumerated().map { ($1, outcomes[$0]) } }
}

/// Several workers' breakdowns, added up: by dimension, then by label.
///
/// A worker that met more labels than it may keep has some in `(other)`: only labels that all such workers kept are whole, and
/// only those stand by themselves.
public struct MergedBreakdowns: Sendable {
    private var parts: [String: [[String: Breakdown.Outcome]]] = [:]

    public init() {}

    public mutating func add(_ breakdown: Breakdown) {
        // A label may be called as what is left over is.
        let labels = Dictionary(breakdown.byLabel) { first, second in
            var both = first
            both.add(second)
            return both
        }
        parts[breakdown.dimension, default: []].append(labels)
    }

    public var outcomes: [String: [String: Breakdown.Outcome]] { parts.mapValues(Self.merged) }
    package var dimensions: [String] { parts.keys.sorted() }

    private static func merged(_ parts: [[String: Breakdown.Outcome]]) -> [String: Breakdown.Outcome] {
        var counts: [String: UInt64] = [:]
        for part in parts {
            for (label, outcome) in part {
                counts[label, default: 0] += outcome.accepted + outcome.rejected + outcome.failed + outcome.notSent
            }
        }
        let full = parts.filter { $0[Breakdown.other] != nil }
        var kept = counts.keys.filter { label in label != Breakdown.other && full.allSatisfy { $0[label] != nil } }
        if kept.count >= Breakdown.most || kept.count < counts.count {
            // With the most pushes first.
            kept.sort { (counts[$1]!, $0) < (counts[$0]!, $1) }
            kept = Array(kept.prefix(Breakdown.most - 1))
        }
        let names = Set(kept)
        var merged: [String: Breakdown.Outcome] = [:]
        for part in parts {
            for (label, outcome) in part {
                merged[names.contains(label) ? label : Breakdown.other, default: Breakdown.Outcome()].add(outcome)
            }
        }
        return merged
    }
}
