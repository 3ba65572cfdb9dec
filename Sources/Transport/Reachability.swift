/// Whether the target can still be reached, for one worker: when it must be given up, and why.
struct Reachability {
    /// When a connection that is not doubtful could be used last, ns; later by as long as this thread stood still since.
    private var lastOpen: UInt64
    private var lastTick: UInt64
    /// A connection was open at some time.
    private(set) var hasOpened = false
    private(set) var lastCause = FailureCause.connectFailed
    /// Why the last connection was lost or not made; empty when none was.
    private(set) var lastProblem = ""
    /// Longer than a server that is there leaves a worker without a connection, ns.
    private static let cutOffAfter: UInt64 = 200_000_000
    /// Between ticks, ns; in more this thread stood still, and no time without a connection is over.
    private static let longestPause: UInt64 = 100_000_000

    init(now: UInt64) {
        lastOpen = now
        lastTick = now
    }

    mutating func note(_ cause: FailureCause) { lastCause = cause }
    mutating func note(_ cause: FailureCause, _ problem: String) {
        lastCause = cause
        lastProblem = problem
    }

    /// A connection can be used.
    mutating func didOpen(isDoubtful: Bool, now: UInt64) {
        hasOpened = true
        if !isDoubtful { lastOpen = now }
    }

    /// Called at every tick.
    mutating func tick(_ now: UInt64) {
        let pause = now - min(lastTick, now)
        if pause > Self.longestPause { lastOpen = min(now, lastOpen &+ (pause - Self.longestPause)) }
        lastTick = now
    }

    /// A connection that is not doubtful can be used now.
    mutating func isTrusted(_ now: UInt64) { lastOpen = now }

    /// No connection could be used for so long, ns.
    func isLost(_ now: UInt64, for limit: UInt64) -> Bool { now > lastOpen &+ limit }

    /// Connections were lost or could not be made, and for a while none could be used: when the run's time is over now, that is
    /// not why the rest is not sent.
    func isCutOff(_ now: UInt64) -> Bool { !lastProblem.isEmpty && isLost(now, for: Self.cutOffAfter) }
}
