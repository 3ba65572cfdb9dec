import HTTP2

extension Situation {
    static let settingsShrink = Situation(
        name: "settings-shrink", title: "6 streams, and 2 from the fourth push of a connection on",
        criteria: [
            .withinLimit("settings-shrink"), acknowledged, .arrived("settings-shrink", source: Source.refused),
            .once("settings-shrink"),
        ]
    ) { SettingsShrinkPlay($0) }

    private static let acknowledged = Criterion(
        "settings-shrink.acknowledged", .must, "acknowledges each SETTINGS", source: Source.settings
    ) { journal in
        guard journal.turningPoint != nil else { return .notShown("fewer than 4 pushes came on a connection") }
        let begun = journal.connections.filter { $0.begunAt != nil }
        let missing = begun.filter { $0.settingsAcknowledged < $0.settingsSent }
        guard !missing.isEmpty else {
            return .passed("\(begun.reduce(0) { $0 + $1.settingsSent }) acknowledged")
        }
        guard missing.contains(where: { !$0.isClosedByClient }) else {
            return .notShown("the client closed its connection first")
        }
        let count = missing.reduce(0) { $0 + $1.settingsSent - $1.settingsAcknowledged }
        return .failed("\(count) not acknowledged")
    }
}

private final class SettingsShrinkPlay: Play {
    private var counts: [Int: Int] = [:]

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 6)] }

    override func didBeginPush(_ push: Int, _ connection: ExamConnection) {
        counts[connection.number, default: 0] += 1
        if counts[connection.number] == 4 {
            stage.mark()
            connection.session.announce([(Frame.Setting.maxConcurrentStreams, 2)])
        }
        if connection.session.acknowledgedLimit == 2, connection.session.openStreams > 2 {
            connection.session.refuse(push)
        }
    }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        stage.after(stage.pace.milliseconds(60)) { connection.session.answer(push, .accepted) }
    }
}
