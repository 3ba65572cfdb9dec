import Payloads

/// The points that one connection's client has got for its 4xx answers, and what follows from them.
struct Penalty {
    enum Measure: Equatable {
        case none
        /// Another MAX_CONCURRENT_STREAMS is to be announced.
        case streams(UInt32)
        case goAway
    }

    private let settings: PenaltySettings
    /// Without points.
    private let mostStreams: UInt32
    private(set) var streams: UInt32
    private var points: UInt64 = 0
    private var steps: UInt64 = 0

    /// - Parameter streams: MAX_CONCURRENT_STREAMS of a client without points.
    init(_ settings: PenaltySettings, streams: UInt32) {
        self.settings = settings
        mostStreams = streams
        self.streams = streams
    }

    /// Notes an answer. The limit falls a step at a time, and is what it was once all points are taken back.
    ///
    /// - Parameter reason: nil for an accepted push.
    mutating func note(_ reason: Reason?) -> Measure {
        guard let reason else { return forgive() }
        guard reason.status / 100 == 4 else { return .none }
        points += UInt64(reason == .badDeviceToken ? settings.badDeviceToken : settings.rejected)
        if settings.goAway > 0, points >= UInt64(settings.goAway) { return .goAway }
        let reached = points / UInt64(settings.step)
        guard reached > steps else { return .none }
        steps = reached
        return change(to: max(mostStreams >> min(reached, 31), min(settings.leastStreams, mostStreams)))
    }

    private mutating func forgive() -> Measure {
        points -= min(points, UInt64(settings.accepted))
        guard points == 0, steps > 0 else { return .none }
        steps = 0
        return change(to: mostStreams)
    }

    private mutating func change(to limit: UInt32) -> Measure {
        guard limit != streams else { return .none }
        streams = limit
        return .streams(limit)
    }
}
