/// The one clock of a simulation, ns. Looking at it takes time, as everything does that a processor does: up to `cost`, drawn.
final class VirtualClock {
    private(set) var now: UInt64 = 1_000_000_000_000
    private let cost: UInt64
    private var random: Random

    /// - Parameter cost: most nanoseconds a reading takes.
    init(cost: UInt64, random: Random) {
        self.cost = cost
        self.random = random
    }

    /// The time as a program sees it.
    func read() -> UInt64 {
        if cost > 0 { now += random.next() % (cost + 1) }
        return now
    }

    /// Lets time pass; it never goes back.
    func advance(to time: UInt64) { now = max(now, time) }

    static let unixStart: Int64 = 1_790_000_000_000
    var unixMilliseconds: Int64 { Self.unixStart + Int64(now / 1_000_000) }
}
