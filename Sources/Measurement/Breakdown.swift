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
        self.labels = labels.count > Self.most ? labels.prefix(Self.most - 1) + [Self.other] : labels
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
public struct MergedBreakdowns: Sendable {
    public private(set) var outcomes: [String: [String: Breakdown.Outcome]] = [:]

    public init() {}

    public mutating func add(_ breakdown: Breakdown) {
        for (label, outcome) in breakdown.byLabel {
            outcomes[breakdown.dimension, default: [:]][label, default: Breakdown.Outcome()].add(outcome)
        }
    }
}
