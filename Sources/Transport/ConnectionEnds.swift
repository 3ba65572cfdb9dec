/// How many connections ended, by why. Bounded, because peers choose the words: at most `limit` labels, the rest is `other`.
public struct ConnectionEnds: Sendable, Equatable {
    public static let limit = 64
    public static let other = "(other)"
    public private(set) var counts: [String: UInt64] = [:]

    package init() {}

    public mutating func add(_ end: ConnectionEnd) { add(end.description, 1) }

    public mutating func add(_ ends: ConnectionEnds) {
        for (label, count) in ends.counts.sorted(by: { $0.key < $1.key }) { add(label, count) }
    }

    private mutating func add(_ label: String, _ count: UInt64) {
        let isKnown = counts[label] != nil || counts.count < Self.limit
        counts[isKnown ? label : Self.other, default: 0] += count
    }
}
