/// Whether a worker's targets can still be reached: when all of them must be given up, and why.
struct Reachability {
    /// Of each target.
    private(set) var contacts: [TargetContact]
    private var lastTick: UInt64
    private(set) var lastCause = FailureCause.connectFailed
    /// Why the last connection was lost or not made; empty when none was.
    private(set) var lastProblem = ""
    /// Between ticks, ns; in more this thread stood still, and no time without a connection is over.
    static let longestPause: UInt64 = 100_000_000

    init(targets: Int, now: UInt64) {
        contacts = Array(repeating: TargetContact(lastOpen: now), count: targets)
        lastTick = now
    }

    /// A connection was open at some time.
    var hasOpened: Bool { contacts.contains(where: \.hasOpened) }

    mutating func note(_ cause: FailureCause) { lastCause = cause }
    mutating func note(_ cause: FailureCause, _ problem: String, of target: Int? = nil) {
        lastCause = cause
        lastProblem = problem
        if let target { contacts[target].hasProblem = true }
    }

    /// A connection can be used.
    mutating func didOpen(_ target: Int, isDoubtful: Bool, now: UInt64) {
        contacts[target].hasOpened = true
        if !isDoubtful { contacts[target].lastOpen = now }
    }

    /// Called at every tick.
    mutating func tick(_ now: UInt64) {
        let pause = now - min(lastTick, now)
        if pause > Self.longestPause {
            for target in contacts.indices {
                contacts[target].lastOpen = min(now, contacts[target].lastOpen &+ (pause - Self.longestPause))
            }
        }
        lastTick = now
    }

    /// A connection that is not doubtful can be used now.
    mutating func isTrusted(_ target: Int, _ now: UInt64) { contacts[target].lastOpen = now }

    /// A connection that is not doubtful was seen to be usable at this time.
    func isOpen(_ target: Int, _ now: UInt64) -> Bool { contacts[target].lastOpen == now }

    /// No connection could be used for so long, ns.
    func isLost(_ now: UInt64, for limit: UInt64) -> Bool { contacts.allSatisfy { now > $0.lastOpen &+ limit } }

    /// Connections were lost or could not be made, and for a while none could be used: when the run's time is over now, that is
    /// not why the rest is not sent.
    func isCutOff(_ now: UInt64) -> Bool { !lastProblem.isEmpty && isLost(now, for: TargetContact.cutOffAfter) }

    /// A connection is open, and the peer allows no stream on it.
    mutating func allowsNothing(_ target: Int) { contacts[target].hasProblem = true }

    /// The worker is about to say goodbye to its connections.
    mutating func end(_ target: Int, isOpen: Bool, now: UInt64) { contacts[target].end(isOpen: isOpen, now: now) }
}
