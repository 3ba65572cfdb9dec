import Settings

extension Situation {
    static let tooManyRequests = Situation(
        name: "too-many-requests", title: "429 TooManyRequests for one device, for a moment",
        criteria: [
            .arrived("too-many-requests", source: Source.own, sparing: true),
            .pause(
                "too-many-requests", after: 429, "waits 100 ms or more before it sends the push again",
                source: Source.withDelay, least: 100_000_000),
            .calm("too-many-requests"), .again("too-many-requests", after: 429, source: Source.withDelay),
        ]
    ) { OneDevicePlay($0, [2: .rejected(status: 429, reason: "TooManyRequests")], length: 500_000_000) }

    static let unregistered = Situation(
        name: "unregistered", title: "410 Unregistered for one device, 400 BadDeviceToken for another",
        criteria: [
            notAgain, .arrived("unregistered", source: Source.own, sparing: true), .once("unregistered"),
        ]
    ) {
        OneDevicePlay(
            $0,
            [1: .rejected(status: 410, reason: "Unregistered"), 3: .rejected(status: 400, reason: "BadDeviceToken")],
            length: nil)
    }

    private static let notAgain = Criterion(
        "unregistered.not-again", .must, "does not send again what can never arrive", source: Source.never
    ) { journal in
        let told = journal.special.filter { !journal.tries($0).isEmpty }
        guard !told.isEmpty else { return .notShown("no push to these devices came") }
        let again = told.count { journal.tries($0).count > 1 }
        return .of(again == 0, "\(again) of \(Units.counted(told.count, "push")) sent again")
    }
}

/// Devices, by their place in the list, that are answered otherwise, for so long after the first of these answers, ns; nil: always.
private final class OneDevicePlay: Play {
    private var answers: [String: PushFate] = [:]
    private let length: UInt64?

    init(_ stage: Stage, _ answers: [Int: PushFate], length: UInt64?) {
        self.length = length
        for (place, answer) in answers where stage.journal.devices.indices.contains(place) {
            self.answers[stage.journal.devices[place]] = answer
        }
        stage.journal.special = self.answers.keys.sorted()
        super.init(stage)
    }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        guard let answer = answers[stage.journal.pushes[push].device] else {
            return connection.session.answer(push, .accepted)
        }
        stage.mark()
        let since = stage.now - (stage.journal.turningPoint ?? 0)
        connection.session.answer(push, length.map { since >= $0 } == true ? .accepted : answer)
    }
}
