/// What keeps pushes from leaving on open connections, of about fifty looks a second at each, two where a worker has thousands.
package struct HoldUps: Sendable {
    private var looks = 0.0
    private var limited = 0.0
    private var blocked = 0.0

    /// The mean share, 0 to 1, of the streams in use whose payload the peer's windows kept from being sent (RFC 9113 section 5.2);
    /// 1 where the connection's own window was used up and a push was due. nil without looks.
    package var windowLimited: Double? { looks > 0 ? limited / looks : nil }
    /// The share of looks, 0 to 1, at which the socket took no more bytes; nil without looks.
    package var writeBlocked: Double? { looks > 0 ? blocked / looks : nil }

    package init() {}

    mutating func look(_ connection: PushConnection, isSomethingDue: Bool) {
        looks += 1
        if connection.isWriteBlocked {
            blocked += 1
        } else if connection.session.sendWindow <= 0, isSomethingDue {
            limited += 1
        } else if connection.session.heldBack > 0 {
            limited += Double(connection.session.heldBack) / Double(max(1, connection.inFlight))
        }
    }

    package mutating func add(_ other: HoldUps) {
        looks += other.looks
        limited += other.limited
        blocked += other.blocked
    }
}
