import Settings

/// How far a run is.
public struct Progress: Sendable, Equatable {
    /// Pushes that ended, one way or the other.
    public var done: UInt64
    /// nil when the number is not known beforehand.
    public var planned: UInt64?
    /// Ended pushes a second over the last interval.
    public var perSecond: Double
    public var inFlight: Int
    /// Intended time to answer over the last interval, ns.
    public var p50: UInt64
    public var p99: UInt64
    /// Ended pushes that were not accepted.
    public var errors: UInt64
    /// Seconds left, nil when that cannot be said.
    public var secondsLeft: Double?

    public init(
        done: UInt64, planned: UInt64?, perSecond: Double, inFlight: Int, p50: UInt64, p99: UInt64, errors: UInt64,
        secondsLeft: Double?
    ) {
        self.done = done
        self.planned = planned
        self.perSecond = perSecond
        self.inFlight = inFlight
        self.p50 = p50
        self.p99 = p99
        self.errors = errors
        self.secondsLeft = secondsLeft
    }

    /// One line, cut to `width` characters.
    public func line(width: Int) -> String {
        var text = Units.grouped(done)
        if let planned {
            let share = planned > 0 ? Double(done) / Double(planned) * 100 : 100
            text += " of \(Units.grouped(planned)) (\(Units.fixed(share, places: 0))%)"
        }
        text += "  \(Units.grouped(UInt64(max(0, perSecond).rounded())))/s"
        text += "  in flight \(inFlight)"
        if p99 > 0 {
            text += "  p50 \(Units.duration(nanoseconds: Double(p50)))  p99 \(Units.duration(nanoseconds: Double(p99)))"
        }
        text += "  errors \(Units.grouped(errors))"
        if let secondsLeft, secondsLeft.isFinite { text += "  ETA \(Units.clock(seconds: secondsLeft))" }
        return String(text.prefix(max(width, 1)))
    }
}
