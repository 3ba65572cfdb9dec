extension Situation {
    static let slow = Situation(
        name: "slow", title: "the answers to three devices take 1.5 s",
        criteria: [
            .arrived("slow", source: Source.own), .once("slow"), .parallel("slow"),
        ], needs: 2_000_000_000
    ) { SlowPlay($0) }

    static let farAway = Situation(
        name: "far-away", title: "a round trip takes 200 ms",
        criteria: [
            .arrived("far-away", source: Source.own), .once("far-away"), .parallel("far-away"),
        ]
    ) { FarAwayPlay($0) }

    static let trickle = Situation(
        name: "trickle", title: "every byte of the server's comes by itself",
        criteria: [.arrived("trickle", source: Source.own), .once("trickle")]
    ) { TricklePlay($0) }
}

private final class SlowPlay: Play {
    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        let isSlow = stage.journal.devices.prefix(3).contains(stage.journal.pushes[push].device)
        guard isSlow else { return connection.session.answer(push, .accepted) }
        stage.mark()
        stage.after(1_500_000_000) { connection.session.answer(push, .accepted) }
    }
}

private final class FarAwayPlay: Play {
    override func didConnect(_ connection: ExamConnection) {
        stage.mark()
        connection.oneWay = 100_000_000
        super.didConnect(connection)
    }

    /// Not at once: else no two streams would be open at the same time.
    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        stage.after(stage.pace.milliseconds(50)) { connection.session.answer(push, .accepted) }
    }
}

private final class TricklePlay: Play {
    override func didConnect(_ connection: ExamConnection) {
        stage.mark()
        connection.isTrickling = true
        super.didConnect(connection)
    }
}
