/// How a worker waits for a push to be due.
public enum Pacing: String, Sendable, CaseIterable {
    /// Lets the core go, but for as long as a sleep mostly lasts too long. Where many pushes are due in a short time, they leave
    /// together (`Pace`).
    case sleep
    /// Keeps the core busy for the last 100 µs of each wait: punctual, at the price of the core.
    case spin

    /// By how much longer pushes may wait at one time of a run than at another because of it, ns, where a worker has so many a second:
    /// those that leave together do so when answers come, or when their quantum is over.
    public func spread(rate: Double) -> UInt64 {
        self == .sleep && rate * Double(Pace.quantum) / 1e9 >= Double(Pace.denseFrom) ? Pace.quantum - Pace.least : 0
    }
}
