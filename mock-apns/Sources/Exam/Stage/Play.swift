import HTTP2

/// What the server does in a situation. This one, which the others change, answers every push 200 and lets 1,000 streams be open.
class Play {
    unowned let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    /// The first SETTINGS of a connection.
    var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 1000)] }

    /// A connection was accepted; false: it is closed at once.
    func takes(connection: Int) -> Bool { true }

    /// Its TLS handshake is over.
    func didConnect(_ connection: ExamConnection) { connection.session.announce(opening) }

    /// The client's preface and SETTINGS have come.
    func didBegin(_ connection: ExamConnection) {}

    /// The headers of a push have come.
    func didBeginPush(_ push: Int, _ connection: ExamConnection) {}

    /// A push is whole; it is for a device that was given to the client, and its provider token is good.
    func didComplete(_ push: Int, _ connection: ExamConnection) { connection.session.answer(push, .accepted) }

    func didAcknowledgePing(_ connection: ExamConnection) {}
}

/// How long a situation waits for the client, and holds answers back for more pushes to come. What the server itself does, such as being
/// down for a second, takes no longer for a slow client.
struct Pace: Sendable {
    let patience: Double

    /// Milliseconds as ns, times the exam's patience.
    func milliseconds(_ count: Double) -> UInt64 { UInt64(count * patience * 1e6) }
}
