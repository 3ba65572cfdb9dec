extension Situation {
    static let ping = Situation(
        name: "ping", title: "PING at the beginning of each connection, and answers only once it was acknowledged",
        criteria: [acknowledged, .arrived("ping", source: Source.own), .once("ping")]
    ) { PingPlay($0) }

    private static let acknowledged = Criterion(
        "ping.acknowledged", .must, "acknowledges each PING with its eight bytes", source: Source.ping
    ) { journal in
        guard journal.connections.contains(where: { !$0.pings.isEmpty }) else { return .notShown("no PING was sent") }
        let wait = Pace(patience: journal.patience).milliseconds(PingPlay.wait)
        // Who closes the connection while the exam still waits may never have read it.
        let pings = journal.connections.flatMap { connection in
            connection.pings.filter { ping in
                let closed = connection.isClosedByClient ? connection.closedAt ?? .max : .max
                return ping.acknowledgedAt != nil || closed >= ping.sentAt + wait
            }
        }
        guard !pings.isEmpty else { return .notShown("the client closed its connections first") }
        let count = pings.count { $0.acknowledgedAt != nil }
        return .of(count == pings.count, "\(count) of \(pings.count) acknowledged")
    }
}

/// Answers wait for the acknowledgement, but not for ever.
private final class PingPlay: Play {
    /// Milliseconds that answers wait for the acknowledgement.
    static let wait = 1000.0
    private var held: [(push: Int, connection: ExamConnection)] = []
    private var patient: Set<Int> = []

    override func didBegin(_ connection: ExamConnection) {
        stage.mark()
        patient.insert(connection.number)
        connection.session.ping()
        stage.after(stage.pace.milliseconds(Self.wait)) { [self] in release(connection) }
    }

    override func didAcknowledgePing(_ connection: ExamConnection) { release(connection) }

    private func release(_ connection: ExamConnection) {
        patient.remove(connection.number)
        for (push, other) in held where other === connection { connection.session.answer(push, .accepted) }
        held.removeAll { $0.connection === connection }
    }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        if patient.contains(connection.number) {
            held.append((push, connection))
        } else {
            connection.session.answer(push, .accepted)
        }
    }
}
