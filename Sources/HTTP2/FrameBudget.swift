/// How many frames that achieve nothing a peer may send (RFC 9113 section 10.5): 1,000 at once, 33 a second after that, and what is
/// allowed besides.
public struct FrameBudget {
    /// What there is at first, and what time makes good.
    static let atOnce = 1000.0
    private var left = FrameBudget.atOnce
    private var last = 0.0

    public init() {}

    /// One more came.
    ///
    /// - Parameters:
    ///   - now: seconds since an arbitrary point, never going back.
    ///   - cost: how many frames it counts as.
    /// - Returns: false when it is one too many.
    public mutating func take(now: Double, cost: Double = 1) -> Bool {
        if last > 0, left < Self.atOnce { left = min(Self.atOnce, left + (now - last) * 33) }
        last = now
        left -= cost
        return left >= 0
    }

    /// The peer may send so many more, but never more than `most` at once.
    mutating func add(_ count: Double, most: Double) { left = max(left, min(most, left + count)) }

    /// The peer may send so many beyond 1,000 again.
    mutating func fill(beyond count: Double) { left = max(left, Self.atOnce + count) }
}
