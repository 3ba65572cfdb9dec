import HTTP2
import Settings

extension Situation {
    static let goAway = Situation(
        name: "goaway", title: "GOAWAY with pushes in flight, above and below its last stream",
        criteria: [
            newStreams, .arrived("goaway", source: Source.goAwayRetry), .once("goaway"), below, waits,
            .noStorm("goaway"),
        ]
    ) { GoAwayPlay($0) }

    private static let newStreams = Criterion(
        "goaway.new-streams", .must, "opens no stream on a connection that it knows is going away",
        source: Source.goAway
    ) { journal in
        let known = journal.connections.indices.filter { journal.connections[$0].goAwayKnownAt != nil }
        guard !known.isEmpty else {
            return .notShown(
                journal.turningPoint == nil ? "no GOAWAY was sent" : "closed before it had answered a PING")
        }
        // What was on its way when the client read it.
        let grace = Pace(patience: journal.patience).milliseconds(50)
        let late = journal.pushes.count { push in
            guard known.contains(push.connection), let since = journal.connections[push.connection].goAwayKnownAt
            else { return false }
            return push.begunAt > since + grace
        }
        return .of(late == 0, "\(Units.counted(late, "stream")) opened after it knew")
    }

    /// Pushes at or below the last stream of GOAWAY that the client did not wait for.
    private static func abandoned(_ journal: Journal) -> [PushRecord] {
        journal.pushes.filter { push in
            journal.connections[push.connection].goAwayAt != nil
                && journal.connections[push.connection].isClosedByClient
                && push.fate == .unanswered
        }
    }

    private static let below = Criterion(
        "goaway.below", .must, "does not send again what is at or below the last stream, and will be answered",
        source: Source.notIdempotent
    ) { journal in
        guard journal.turningPoint != nil else { return .notShown("no GOAWAY was sent") }
        let last = journal.lastTries { $0.device }
        let again = abandoned(journal).count { last[$0.device] ?? 0 > $0.begunAt }
        return .of(again == 0, "\(Units.counted(again, "push")) sent again without their answer")
    }

    private static let waits = Criterion(
        "goaway.waits", .should, "keeps the connection until all at or below the last stream is answered",
        source: Source.goAway
    ) { journal in
        guard journal.turningPoint != nil else { return .notShown("no GOAWAY was sent") }
        let count = abandoned(journal).count
        return .of(count == 0, "\(Units.counted(count, "answer")) not waited for")
    }
}

/// The first connection with pushes is told to go away once four of them wait, or a moment after the first.
private final class GoAwayPlay: Play {
    private var going: ExamConnection?
    private var held: [Int] = []
    private var hasStruck = false

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 8)] }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        if going == nil {
            going = connection
            stage.after(stage.pace.milliseconds(300)) { [self] in strike() }
        }
        guard connection === going, !hasStruck else { return connection.session.answer(push, .accepted) }
        held.append(push)
        if held.count == 4 { strike() }
    }

    private func strike() {
        guard let connection = going, !hasStruck, !connection.isClosed else { return }
        hasStruck = true
        stage.mark()
        let streams = held.map { stage.journal.pushes[$0].stream }.sorted()
        // Half of them are answered; of a single push none.
        let last = streams.count > 1 ? streams[streams.count / 2 - 1] : streams[0] - 2
        connection.session.goAway(last: max(last, 0), reason: "Shutdown")
        // Not at once: what comes in one piece with GOAWAY some clients no longer read.
        stage.after(stage.pace.milliseconds(50)) { connection.session.probeGoAway() }
        stage.after(stage.pace.milliseconds(200)) { [self] in
            for push in held { connection.session.answer(push, .accepted) }
        }
        stage.after(stage.pace.milliseconds(1200)) { connection.leave() }
    }
}
