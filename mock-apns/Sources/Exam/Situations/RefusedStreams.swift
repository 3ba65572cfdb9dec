extension Situation {
    static let refusedStreams = Situation(
        name: "refused-streams", title: "every third push is refused with REFUSED_STREAM the first time",
        criteria: [
            .arrived("refused-streams", source: Source.refused), .once("refused-streams"), .calm("refused-streams"),
        ]
    ) { RefusedStreamsPlay($0) }
}

private final class RefusedStreamsPlay: Play {
    private var seen: Set<String> = []

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        guard seen.insert(stage.journal.pushes[push].device).inserted, seen.count % 3 == 0 else {
            return connection.session.answer(push, .accepted)
        }
        stage.mark()
        connection.session.refuse(push)
    }
}
