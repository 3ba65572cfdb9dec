import HTTP2
import Settings

extension Situation {
    static let silent = Situation(
        name: "silent",
        title: "with the fifth push its connection dies silently: nothing comes back any more, not even an end",
        criteria: [noticed, others, .once("silent"), .noStorm("silent")]
    ) { SilentPlay($0) }

    private static let noticed = Criterion(
        "silent.noticed", .should, "gives up a connection from which nothing comes", source: Source.health
    ) { journal in
        guard let dead = journal.connections.firstIndex(where: { $0.silentFrom != nil }),
            let since = journal.connections[dead].silentFrom
        else { return .notShown("fewer than 5 pushes came") }
        if journal.connections[dead].isClosedByClient, let closed = journal.connections[dead].closedAt {
            return .passed("closed it after \(Units.duration(nanoseconds: Double(closed - since)))")
        }
        // A connection that was there before goes on whether the dead one is noticed or not.
        let caught = caught(journal, dead)
        let others = journal.pushes.count { push in
            push.connection != dead && push.begunAt > since
                && (journal.connections[push.connection].openedAt > since || caught.contains(push.device))
        }
        return .of(
            others > 0, "did not close it; \(Units.counted(others, "push")) sent again or on connections opened since")
    }

    /// The devices whose pushes got no answer on the dead connection.
    private static func caught(_ journal: Journal, _ dead: Int) -> Set<String> {
        Set(journal.pushes.filter { $0.connection == dead && $0.fate != .accepted }.map(\.device))
    }

    private static let others = Criterion(
        "silent.others", .must, "every push that was not on the dead connection is accepted", source: Source.own
    ) { journal in
        guard let dead = journal.connections.firstIndex(where: { $0.silentFrom != nil }) else {
            return .notShown("fewer than 5 pushes came")
        }
        let caught = caught(journal, dead)
        let others = journal.devices.filter { !caught.contains($0) }
        let lost = others.count { journal.acceptances($0) == 0 }
        return .of(
            lost == 0, "\(others.count - lost) of \(others.count) accepted, \(caught.count) on the dead connection")
    }
}

private final class SilentPlay: Play {
    private var complete = 0

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 6)] }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        complete += 1
        if complete == 5 {
            stage.mark()
            connection.fallSilent()
        }
        if !connection.isSilent { connection.session.answer(push, .accepted) }
    }
}
