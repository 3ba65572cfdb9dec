import Settings

extension Situation {
    static let tokenUpdates = Situation(
        name: "token-updates",
        title: "a second provider token on a connection is answered 429 TooManyProviderTokenUpdates",
        criteria: [
            oneToken, form, .arrived("token-updates", source: Source.own), .once("token-updates"),
        ]
    ) { TokenUpdatesPlay($0) }

    private static let oneToken = Criterion(
        "token-updates.one", .must, "signs one token and keeps it", source: Source.twentyMinutes
    ) { journal in
        let most = mostTokens(journal)
        guard most > 0 else { return .notShown("no provider token came") }
        return .of(most == 1, "at most \(Units.counted(most, "token")) on a connection")
    }

    private static let form = Criterion(
        "token-updates.form", .must, "signs tokens that can be verified", source: Source.tokenForm
    ) { journal in
        guard !journal.providerTokens.isEmpty else { return .failed("no provider token came") }
        let problem = journal.providerTokens.compactMap { $0 }.first
        return .of(problem == nil, problem ?? "\(Units.counted(journal.providerTokens.count, "token")) verified")
    }
}

private final class TokenUpdatesPlay: Play {
    private var first: [Int: Int] = [:]

    override func didComplete(_ push: Int, _ connection: ExamConnection) {
        let token = stage.journal.pushes[push].providerToken
        let known = first[connection.number] ?? token
        first[connection.number] = known
        if token == known { return connection.session.answer(push, .accepted) }
        stage.mark()
        connection.session.answer(push, .rejected(status: 429, reason: "TooManyProviderTokenUpdates"))
    }
}
