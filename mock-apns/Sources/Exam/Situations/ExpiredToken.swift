import HTTP2
import Settings

extension Situation {
    static let expiredToken = Situation(
        name: "expired-token", title: "after five pushes the provider token has expired: 403 ExpiredProviderToken",
        criteria: [
            renewed, notAgain, old, .again("expired-token", after: 403, source: Source.fixed), updates,
            .once("expired-token"),
        ]
    ) { ExpiredTokenPlay($0) }

    private static let notReached = Finding.notShown("fewer than 6 pushes came")

    private static func isExpired(_ journal: Journal) -> Bool {
        journal.pushes.contains { $0.fate.reason == ExpiredTokenPlay.reason }
    }

    private static let renewed = Criterion(
        "expired-token.renewed", .must, "goes on with a new token", source: Source.hour
    ) { journal in
        guard isExpired(journal), let since = journal.turningPoint else { return notReached }
        let accepted = journal.pushes.count { $0.fate == .accepted && $0.begunAt > since }
        return .of(accepted > 0, "\(Units.counted(accepted, "push")) accepted with a new token")
    }

    private static let notAgain = Criterion(
        "expired-token.not-again", .must, "sends no push again with the token that was refused", source: Source.fixed
    ) { journal in
        guard isExpired(journal) else { return notReached }
        let kind = { (push: PushRecord) in "\(push.providerToken ?? -1) \(push.device)" }
        let last = journal.lastTries(by: kind)
        let again = journal.pushes.count { push in
            push.fate.reason == ExpiredTokenPlay.reason && last[kind(push)] ?? 0 > push.endedAt ?? .max
        }
        return .of(again == 0, "\(Units.counted(again, "push")) sent again with it")
    }

    private static let old = Criterion(
        "expired-token.old", .should, "stops using the old token soon: at most 8 pushes more", source: Source.hour
    ) { journal in
        guard isExpired(journal) else { return notReached }
        let rejected = journal.pushes.count { $0.fate.reason == ExpiredTokenPlay.reason }
        return .of(rejected <= 8, "\(Units.counted(rejected, "push")) with the old token")
    }

    private static let updates = Criterion(
        "expired-token.updates", .must, "makes no more than one new token for a connection",
        source: Source.twentyMinutes
    ) { journal in
        guard isExpired(journal) else { return notReached }
        let most = mostTokens(journal)
        return .of(most <= 2, "at most \(Units.counted(most, "token")) on a connection")
    }

    /// Most provider tokens that were shown on one connection.
    static func mostTokens(_ journal: Journal) -> Int {
        journal.connections.indices.map { place in
            Set(journal.pushes.filter { $0.connection == place }.compactMap(\.providerToken)).count
        }.max() ?? 0
    }
}

private final class ExpiredTokenPlay: Play {
    static let reason = "ExpiredProviderToken"
    private var accepted = 0
    private var expired: Set<Int> = []

    override var opening: [ServerFrames.Setting] { [(Frame.Setting.maxConcurrentStreams, 4)] }

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        if let token = stage.journal.pushes[push].providerToken, expired.contains(token) {
            return connection.session.answer(push, .rejected(status: 403, reason: Self.reason))
        }
        connection.session.answer(push, .accepted)
        accepted += 1
        guard accepted == 5 else { return }
        stage.mark()
        expired = Set(stage.journal.providerTokens.indices)
    }
}
