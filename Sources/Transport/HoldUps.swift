/// What keeps pushes from leaving on open connections, of about fifty looks a second at each.
package struct HoldUps: Sendable {
    package private(set) var looks: UInt64 = 0
    /// For each look the share of the streams in use whose payload the peer's windows kept from being sent (RFC 9113 section
    /// 5.2), added up; 1 where the connection's own window was used up and a push was due.
    package private(set) var windowLimited = 0.0
    /// Looks at which the socket took no more bytes.
    package private(set) var writeBlocked: UInt64 = 0

    package init() {}

    mutating func look(_ connection: PushConnection, isSomethingDue: Bool) {
        looks += 1
        if connection.isWriteBlocked {
            writeBlocked += 1
        } else if connection.session.sendWindow <= 0, isSomethingDue {
            windowLimited += 1
        } else if connection.session.heldBack > 0 {
            windowLimited += Double(connection.session.heldBack) / Double(max(1, connection.inFlight))
        }
    }

    package mutating func add(_ other: HoldUps) {
        looks += other.looks
        windowLimited += other.windowLimited
        writeBlocked += other.writeBlocked
    }
}
