import HTTP2

extension Situation {
    static let oneStream = Situation(
        name: "one-stream", title: "one stream until a provider token was found good, then 1,000",
        criteria: [
            .withinLimit("one-stream", source: Source.oneStream), .arrived("one-stream", source: Source.refused),
            .once("one-stream"), .parallel("one-stream"),
        ]
    ) { OneStreamPlay($0) }
}

/// What is beyond the one stream is refused, also of a client that does not know the limit yet.
private final class OneStreamPlay: Play {
    private var openedUp: Set<Int> = []

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 1)] }

    override func didBeginPush(_ push: Int, _ connection: ExamConnection) {
        if !openedUp.contains(connection.number), connection.session.openStreams > 1 { connection.session.refuse(push) }
    }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        let isOpenedUp = openedUp.contains(connection.number)
        stage.after(stage.pace.milliseconds(isOpenedUp ? 50 : 100)) { [self] in
            connection.session.answer(push, .accepted)
            guard openedUp.insert(connection.number).inserted else { return }
            stage.mark()
            connection.session.announce([(Frame.Setting.maxConcurrentStreams, 1000)])
        }
    }
}
