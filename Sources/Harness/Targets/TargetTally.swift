import Results
import Transport

/// What one worker knows of pushes and connections at each of several targets. Connection c of the run goes to target c modulo
/// their number.
///
/// Cost a push: a division and an addition.
final class TargetTally {
    private(set) var counts: [TargetCounts]

    init(targets: Int) { counts = Array(repeating: TargetCounts(), count: targets) }

    func answered(connection: Int, isAccepted: Bool) {
        let target = connection % counts.count
        if isAccepted { counts[target].accepted &+= 1 } else { counts[target].rejected &+= 1 }
    }

    /// - Parameter connection: -1: it was on none when it failed, and counts for no target.
    func failed(connection: Int) {
        if connection >= 0 { counts[connection % counts.count].failed &+= 1 }
    }

    func note(_ connection: Int, _ event: ConnectionEvent) {
        counts[connection % counts.count].connections.note(event)
    }
}

/// What became of pushes and connections at one of several targets.
struct TargetCounts: Sendable {
    var accepted: UInt64 = 0
    var rejected: UInt64 = 0
    var failed: UInt64 = 0
    var connections = ConnectionCounts()
    var contact = TargetContact()

    mutating func add(_ other: TargetCounts) {
        accepted += other.accepted
        rejected += other.rejected
        failed += other.failed
        connections.add(other.connections)
        contact.add(other.contact)
    }

    /// As a result has them.
    func section(_ url: String) -> ResultDocument.Target {
        var section = ResultDocument.Target(target: url)
        (section.accepted, section.rejected, section.failed) = (accepted, rejected, failed)
        section.reachedAtEnd = contact.hasOpened && !contact.isMissing
        section.connections.opened = connections.opened
        section.connections.lost = connections.lost
        section.connections.connectFailures = connections.connectFailures
        section.connections.goAways = connections.goAways
        section.connections.reconnects = connections.reconnects
        section.connections.ends = connections.ends.counts
        return section
    }
}
