import HTTP2
import Settings

extension Situation {
    static let stalledWindow = Situation(
        name: "stalled-window", title: "windows of 8 bytes a stream, opened some time after the first push",
        criteria: [
            window, .arrived("stalled-window", source: Source.window), .once("stalled-window"),
        ]
    ) { StalledWindowPlay($0) }

    private static let window = Criterion(
        "stalled-window.window", .must, "sends no more than the window it knows allows", source: Source.window
    ) { journal in
        let bytes = journal.connections.reduce(0) { $0 + $1.beyondWindow }
        if bytes > 0 { return .failed("\(Units.counted(bytes, "byte")) beyond a window") }
        guard let opened = journal.turningPoint else { return .notShown("the windows were never opened") }
        let held = journal.pushes.count { $0.begunAt < opened && ($0.completeAt ?? .max) >= opened }
        return held > 0
            ? .passed("\(Units.counted(held, "push")) waited") : .notShown("no push was held up by its window")
    }
}

private final class StalledWindowPlay: Play {
    private var isOpening: Set<Int> = []

    override var opening: [ServerFrames.Setting] {
        [(Frame.Setting.maxConcurrentStreams, 3), (Frame.Setting.initialWindowSize, 8)]
    }

    override func didBeginPush(_ push: Int, _ connection: ExamConnection) {
        guard isOpening.insert(connection.number).inserted else { return }
        stage.after(stage.pace.milliseconds(400)) { [self] in
            stage.mark()
            connection.session.openWindows(to: 65_535)
        }
    }
}
