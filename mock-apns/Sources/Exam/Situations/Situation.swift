/// What Apple may do to a client, and what the client is judged by meanwhile.
package struct Situation: Sendable {
    /// As `--only` names it.
    package let name: String
    /// What the server does, in a sentence.
    package let title: String
    package let criteria: [Criterion]
    let play: @Sendable (Stage) -> Play

    /// In the order in which they are played.
    package static let all = [
        oneStream, settingsShrink, refusedStreams, stalledWindow, goAway, idle, silent, cut, down, unavailable,
        retryAfter,
        tooManyRequests, unregistered, expiredToken, tokenUpdates, ping, slow, farAway, trickle,
    ]
}
