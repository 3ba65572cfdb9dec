extension Situation {
    static let unavailable = Situation(
        name: "unavailable", title: "503 ServiceUnavailable for a moment, without Retry-After",
        criteria: [
            .calm("unavailable"),
            .pause(
                "unavailable", after: 503, "waits 100 ms or more before it sends a push again", source: Source.later,
                least: 100_000_000),
            .again("unavailable", after: 503, source: Source.later), .once("unavailable"),
        ], needs: 2_000_000_000
    ) { UnavailablePlay($0, length: 600_000_000, retryAfter: nil) }

    static let retryAfter = Situation(
        name: "retry-after", title: "503 ServiceUnavailable for a moment, with Retry-After: 1",
        criteria: [
            .calm("retry-after"),
            .pause(
                "retry-after", after: 503, "waits for the second it was told before it sends a push again",
                source: Source.retryAfter, least: 990_000_000),
            .again("retry-after", after: 503, source: Source.later), .once("retry-after"),
        ], needs: 3_000_000_000
    ) { UnavailablePlay($0, length: 900_000_000, retryAfter: 1) }
}

/// From the first push on, for so long, ns.
private final class UnavailablePlay: Play {
    private let length: UInt64
    private let retryAfter: Int?

    init(_ stage: Stage, length: UInt64, retryAfter: Int?) {
        self.length = length
        self.retryAfter = retryAfter
        super.init(stage)
    }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        stage.mark()
        if stage.now - (stage.journal.turningPoint ?? 0) >= length {
            connection.session.answer(push, .accepted)
        } else {
            connection.session.answer(
                push, .rejected(status: 503, reason: "ServiceUnavailable"), retryAfter: retryAfter)
        }
    }
}
