/// What Apple may do to a client, and what the client is judged by meanwhile.
package struct Situation: Sendable {
    /// As `--only` names it.
    package let name: String
    /// What the server does, in a sentence.
    package let title: String
    package let criteria: [Criterion]
    /// The least time, ns, in which a client that does everything right can come to its end.
    package let needs: UInt64
    let play: @Sendable (Stage) -> Play

    /// - Parameter criteria: what is judged beside what is in every situation: that pushes come, and that the client ends.
    init(
        name: String, title: String, criteria: [Criterion], needs: UInt64 = leastTimeLimit,
        play: @escaping @Sendable (Stage) -> Play
    ) {
        self.name = name
        self.title = title
        self.criteria = [.came(name)] + criteria + [.ended(name)]
        self.needs = needs
        self.play = play
    }

    /// What answers are held back for is done by then, ns, before `patience`.
    package static let leastTimeLimit: UInt64 = 1_000_000_000

    /// In the order in which they are played.
    package static let all = [
        oneStream, settingsShrink, refusedStreams, stalledWindow, goAway, idle, silent, cut, down, unavailable,
        retryAfter,
        tooManyRequests, unregistered, expiredToken, tokenUpdates, ping, slow, farAway, trickle,
    ]
}
