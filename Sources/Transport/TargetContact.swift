/// When a target was reached, as one worker or several know it.
package struct TargetContact: Sendable, Equatable {
    /// When a connection that is not doubtful could be used last, ns; later by as long as the thread stood still since.
    var lastOpen: UInt64
    /// A connection was open at some time.
    package internal(set) var hasOpened = false
    /// A connection was lost, could not be made, or at the end let nothing be sent.
    var hasProblem = false
    /// When a worker ended that had missed it for a while, ns; 0: none did.
    private var missedAt: UInt64 = 0
    /// Longer than a server that is there leaves a worker without a connection, ns.
    static let cutOffAfter: UInt64 = 200_000_000

    package init(lastOpen: UInt64 = 0) { self.lastOpen = lastOpen }

    /// It was lost, or never there, and not reached again before the end.
    package var isMissing: Bool { missedAt > lastOpen }

    mutating func end(isOpen: Bool, now: UInt64) {
        if isOpen { lastOpen = now } else if hasProblem, now > lastOpen &+ Self.cutOffAfter { missedAt = now }
    }

    /// With what another worker knows of it.
    package mutating func add(_ other: TargetContact) {
        lastOpen = max(lastOpen, other.lastOpen)
        hasOpened = hasOpened || other.hasOpened
        hasProblem = hasProblem || other.hasProblem
        missedAt = max(missedAt, other.missedAt)
    }
}
