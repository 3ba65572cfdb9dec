/// What Apple may do to a client, and what the client is judged by meanwhile.
package struct Situation: Sendable {
    /// As `--only` names it.
    package let name: String
    /// What the server does, in a sentence.
    package let title: String
    package let criteria: [Criterion]
    let play: @Sendable (Stage) -> Play

    /// - Parameter criteria: what is judged beside what is in every situation: that pushes come, and that the client ends.
    init(name: String, title: String, criteria: [Criterion], play: @escaping @Sendable (Stage) -> Play) {
        self.name = name
        self.title = title
        self.criteria = [.came(name)] + criteria + [.ended(name)]
        self.play = play
    }

    /// In the order in which they are played.
    package static let all = [
        oneStream, settingsShrink, refusedStreams, stalledWindow, goAway, idle, silent, cut, down, unavailable,
        retryAfter,
        tooManyRequests, unregistered, expiredToken, tokenUpdates, ping, slow, farAway, trickle,
    ]
}
