import Networking

/// Spends CPU time for every push: a slowdown of known size, for finding out what would be noticed (`gate --inject-cpu-ns`).
///
/// What is owed is spent in pieces of about 2 us, so that the clock's own steps (some 10 ns) do not add to it.
struct TimeBurner {
    private static let piece: Int64 = 2000

    private let perPush: Int64
    private var owed: Int64 = 0
    private let clock = CycleClock.shared

    /// - Parameter perPush: ns.
    init(perPush: UInt64) { self.perPush = Int64(clamping: perPush) }

    mutating func burn() {
        owed &+= perPush
        guard owed >= Self.piece else { return }
        let begin = clock.now()
        var spent: Int64
        repeat { spent = Int64(clock.nanoseconds(from: begin, to: clock.now())) } while spent < owed
        // Time in which the thread was put aside is not its own.
        owed = max(owed &- spent, -100)
    }
}
