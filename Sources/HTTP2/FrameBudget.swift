/// How many frames that achieve nothing a peer may send (RFC 9113 section 10.5): some at once, and 33 a second after that.
public struct FrameBudget {
    private let most: Double
    private var left: Double
    private var last = 0.0

    /// - Parameter most: at once.
    public init(most: Int = 1000) {
        self.most = Double(most)
        left = Double(most)
    }

    /// One more came.
    ///
    /// - Parameter now: seconds since an arbitrary point, never going back.
    /// - Returns: false when it is one too many.
    public mutating func take(now: Double) -> Bool {
        if last > 0 { add((now - last) * 33) }
        last = now
        left -= 1
        return left >= 0
    }

    /// The peer may send so many more, but never more at once than at first.
    public mutating func add(_ count: Double) { left = min(most, left + count) }
}
