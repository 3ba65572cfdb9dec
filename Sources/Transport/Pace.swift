/// When an open loop looks for due pushes again.
///
/// To sleep and to wake costs several times what a push costs. Where pushes are dense, those that come due within a quantum
/// leave together: a wake-up, a write and a TLS record for all of them. That makes them late by at most a quantum. Where they
/// are not, each has its own wake-up.
struct Pace {
    /// Dense pushes leave together, at the latest so long after those before, ns.
    static let quantum: UInt64 = 500_000
    /// When answers wake the worker sooner, what is due goes with them, but not sooner than this, ns.
    static let least: UInt64 = 250_000
    /// Dense: so many come due in a quantum (30,000 a second).
    static let denseFrom: UInt64 = 15

    private let gathers: Bool
    private var taken: UInt64 = 0
    private var since: UInt64 = 0
    /// Pushes are gathered.
    private(set) var isDense = false
    /// What comes due before waits until then, ns.
    private(set) var gathersUntil: UInt64 = 0
    /// When what has been gathered leaves, ns.
    private(set) var wakeAt: UInt64 = 0

    init(_ pacing: Pacing) { gathers = pacing == .sleep }

    /// So many more pushes were taken.
    @inline(__always)
    mutating func took(_ count: UInt64) { taken &+= count }

    /// Looks how dense pushes were since the last look; a few dozen times a second.
    mutating func look(_ now: UInt64) {
        isDense = gathers && taken &* Self.quantum >= (now &- since) &* Self.denseFrom
        taken = 0
        since = now
    }

    /// All that was due by `began` is sent, and the next push is due at `due`.
    ///
    /// - Returns: when to look again.
    mutating func next(due: UInt64, began: UInt64) -> UInt64 {
        guard isDense else { return due }
        gathersUntil = began &+ Self.least
        wakeAt = max(due, began &+ Self.quantum)
        return wakeAt
    }
}
