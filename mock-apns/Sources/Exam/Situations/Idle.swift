import HTTP2

extension Situation {
    static let idle = Situation(
        name: "idle",
        title: "one stream at a time; after the fifth answer the connection is closed, nothing being open",
        criteria: [
            .arrived("idle", source: Source.goAwayRetry), .once("idle"), .noStorm("idle"),
        ]
    ) { IdlePlay($0) }
}

private final class IdlePlay: Play {
    private var answered = 0

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 1)] }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        connection.session.answer(push, .accepted)
        answered += 1
        guard answered == 5 else { return }
        stage.mark()
        connection.session.goAway(last: connection.session.lastStream, reason: "IdleTimeout")
        connection.leave()
    }
}
