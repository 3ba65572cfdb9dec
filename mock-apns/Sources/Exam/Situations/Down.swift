import Settings

extension Situation {
    static let down = Situation(
        name: "down", title: "for a second every connection is closed as soon as it is made",
        criteria: [
            .arrived("down", source: Source.own), .noStorm("down"), backOff,
        ], needs: 2_000_000_000
    ) { DownPlay($0) }

    private static let backOff = Criterion(
        id: "down.back-off", .should, "waits between its attempts: at most 10 while the server is down",
        source: Source.connections
    ) { journal in
        let count = journal.connections.count(where: \.isTurnedAway)
        guard count > 0 else { return .notShown("no connection was opened") }
        return .of(count <= 10, "\(Units.counted(count, "attempt")) while it was down")
    }
}

private final class DownPlay: Play {
    override func takes(connection: Int) -> Bool {
        stage.mark()
        return stage.now - (stage.journal.turningPoint ?? 0) >= 1_000_000_000
    }
}
