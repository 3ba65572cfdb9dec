import Results
import Transport

extension NoConnection {
    /// As a result has it.
    var section: ResultDocument.NoConnection {
        .init(
            seconds: Double(total) / 1e9, longest: Double(longest) / 1e9, cause: cause?.description,
            wait: Double(wait) / 1e9)
    }
}

/// What became of connections.
struct ConnectionCounts: Sendable {
    var opened: UInt64 = 0
    var lost: UInt64 = 0
    var connectFailures: UInt64 = 0
    var goAways: UInt64 = 0
    var reconnects: UInt64 = 0
    /// Those that ended before the run did, by why.
    var ends = ConnectionEnds()

    mutating func note(_ event: ConnectionEvent) {
        switch event {
        case .opened: opened += 1
        case .lost: lost += 1
        case .connectFailed: connectFailures += 1
        case .goAway: goAways += 1
        case .reconnecting: reconnects += 1
        case .ended(let end): ends.add(end)
        }
    }

    mutating func add(_ other: ConnectionCounts) {
        opened += other.opened
        lost += other.lost
        connectFailures += other.connectFailures
        goAways += other.goAways
        reconnects += other.reconnects
        ends.add(other.ends)
    }

    /// As a result has them.
    ///
    /// - Parameter late: those of them once the measured span of an open loop was over.
    func section(late: ConnectionCounts) -> ResultDocument.Connections {
        var section = ResultDocument.Connections()
        section.opened = opened
        section.lost = lost
        section.connectFailures = connectFailures
        section.goAways = goAways
        section.reconnects = reconnects
        section.ends = ends.counts
        section.afterWindow = .init(
            opened: late.opened, lost: late.lost, connectFailures: late.connectFailures, ends: late.ends.counts)
        return section
    }
}
