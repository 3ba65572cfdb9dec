import Settings

/// The server allows each connection fewer streams for a part of every period (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113, section
/// 6.5.2): those of one connection begin when they happen to, whatever the others do.
struct FewerStreams: Codable, Sendable, Equatable {
    /// Meanwhile, at least 1.
    var streams: Double
    /// How long, and from one such time to the next, ns.
    var time: Double
    var every: Double

    enum CodingKeys: String, CodingKey {
        case streams
        case time = "for_ns"
        case every = "every_ns"
    }

    init(streams: Double, time: Double, every: Double) {
        (self.streams, self.time, self.every) = (streams, time, every)
    }

    /// `100:1s/10s`: 100 streams, for one second of every ten.
    init?(parsing text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let times = (parts.last ?? "").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, times.count == 2, let streams = try? Units.count(String(parts[0])), streams > 0,
            let time = try? Units.duration(times[0]), let every = try? Units.duration(times[1]), time > 0, time < every
        else { return nil }
        self.init(streams: Double(streams), time: Double(time), every: Double(every))
    }

    /// Streams on average, as far as they are felt.
    func mean(usual: Double, cycle: Double) -> Double {
        time < cycle ? usual : (usual * (every - time) + min(streams, usual) * time) / every
    }

    /// Pushes a second that streams carry, averaged over a period. What is under way when there are to be fewer is still answered,
    /// within a cycle: that may be as much more as `usual` − `streams` pushes a period, and is left out, but where there are more streams
    /// for less than a cycle, and so many are all there is. Times of fewer that are shorter than a cycle are hardly felt, and are left out.
    ///
    /// - Parameters:
    ///   - usual: streams at all other times; where they are not more than `streams`, nothing changes.
    ///   - cycle: from a push being put on a stream to the stream being free again, ns; above 0.
    ///   - most: pushes a second by what else is a connection's own.
    ///   - burst: pushes that can be begun before the first answers: so many at once, then so many a second as the window opens again, and
    ///     at most so many a second.
    func rate(
        usual: Double, cycle: Double, most: Double,
        burst: (pushes: Double, reopened: Double, perSecond: Double) = (.infinity, .infinity, .infinity)
    ) -> Double {
        func rate(_ streams: Double) -> Double { min(streams / cycle * 1e9, most) }
        guard time >= cycle else { return rate(usual) }
        let (few, more) = (min(streams, usual), every - time)
        if more < cycle {
            let begun = min(
                usual, burst.pushes + burst.reopened * more / 1e9, few + burst.perSecond * more / 1e9)
            return min(most, (begun + rate(few) * (every - cycle) / 1e9) / every * 1e9)
        }
        return (rate(usual) * (every - time) + rate(min(streams, usual)) * time) / every
    }
}
