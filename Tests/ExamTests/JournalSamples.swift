@testable import Exam

/// Journals made by hand.
extension Journal {
    static let millisecond: UInt64 = 1_000_000

    /// Twenty pushes on one connection, all accepted, 10 ms apart; the server did its part after 50 ms.
    static func good() -> Journal {
        var journal = Journal(devices: ExamDevices.tokens(20))
        journal.connections = [ConnectionRecord(openedAt: 0)]
        journal.connections[0].begunAt = 1
        journal.connections[0].mostOpen = 5
        journal.connections[0].settingsSent = 2
        journal.connections[0].settingsAcknowledged = 2
        journal.providerTokens = [nil]
        journal.turningPoint = 50 * millisecond
        journal.clientEnd = .exited(0)
        journal.duration = 5000 * millisecond
        for place in 0..<20 { journal.add(place, at: UInt64(place) * 10) }
        return journal
    }

    /// The same, changed.
    static func good(_ change: (inout Journal) -> Void) -> Journal {
        var journal = good()
        change(&journal)
        return journal
    }

    /// A request for the device at a place of the list, answered 1 ms later.
    mutating func add(
        _ device: Int, at milliseconds: UInt64, _ fate: PushFate = .accepted, connection: Int = 0, token: Int = 0
    ) {
        var push = PushRecord(
            connection: connection, stream: Int32(pushes.count * 2 + 1), device: devices[device],
            begunAt: milliseconds * Self.millisecond)
        push.completeAt = push.begunAt + 1
        push.endedAt = push.begunAt + Self.millisecond
        push.providerToken = token
        push.fate = fate
        pushes.append(push)
    }

    /// A second connection, opened at a time.
    mutating func connect(at milliseconds: UInt64) {
        connections.append(ConnectionRecord(openedAt: milliseconds * Self.millisecond))
    }
}
