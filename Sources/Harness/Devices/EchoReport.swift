import Measurement
import Results

/// What the mock says of its devices' requests to their backend (`echo` in its report).
struct EchoReport: Decodable, Sendable {
    struct Series: Decodable, Sendable {
        /// Of the first interval, ns of the monotonic clock.
        let start: UInt64
        let interval: UInt64
        let requests: [UInt64]
        let answered: [UInt64]

        enum CodingKeys: String, CodingKey {
            case requests, answered
            case start = "start_ns"
            case interval = "interval_ms"
        }
    }

    let requests: UInt64
    let answered: UInt64
    let failed: UInt64
    let givenUp: UInt64
    let notBegun: UInt64
    let underWay: UInt64
    let retries: UInt64
    let bytes: UInt64
    let connectionsOpened: UInt64
    let byKind: [String: ResultDocument.Echo.Kind]
    let statuses: [String: UInt64]
    let failures: [String: UInt64]
    let series: Series
    /// `latency`, `unanswered`, `wait`, as histograms of results are coded.
    let histograms: [String: String]

    enum CodingKeys: String, CodingKey {
        case requests, answered, failed, retries, bytes, statuses, failures, series, histograms
        case givenUp = "given_up"
        case notBegun = "not_begun"
        case underWay = "under_way"
        case connectionsOpened = "connections_opened"
        case byKind = "by_kind"
    }

    func histogram(_ name: String) -> LatencyHistogram {
        histograms[name].flatMap { try? HistogramCodec.decodeFromLog($0) } ?? LatencyHistogram()
    }

    /// From the device's moment to the answer.
    var latency: CensoredHistogram {
        CensoredHistogram(answered: histogram("latency"), unanswered: histogram("unanswered"))
    }

    /// From the device's moment to the first attempt.
    var wait: CensoredHistogram {
        CensoredHistogram(answered: histogram("wait"), unanswered: histogram("wait_unanswered"))
    }

    /// - Parameters:
    ///   - backend: whom devices asked.
    ///   - start: the run's, ns of the monotonic clock; 0: it had none.
    func section(backend: String, start: UInt64) -> ResultDocument.Echo {
        var echo = ResultDocument.Echo(backend: backend)
        (echo.requests, echo.answered, echo.failed) = (requests, answered, failed)
        (echo.givenUp, echo.notBegun, echo.underWay) = (givenUp, notBegun, underWay)
        (echo.retries, echo.bytes, echo.connectionsOpened) = (retries, bytes, connectionsOpened)
        (echo.byKind, echo.statuses, echo.failures) = (byKind, statuses, failures)
        echo.latency = .init(latency)
        echo.wait = .init(wait)
        let curve = EchoCurve(series, start: start)
        (echo.peakPerSecond, echo.peakAfterSeconds) = (curve.peak.count, curve.peak.after)
        echo.series = curve.points
        return echo
    }
}

/// The echo over a run's time.
struct EchoCurve {
    /// The most requests within one second, and when that begins, seconds after the run's start.
    private(set) var peak: (count: UInt64, after: Double) = (0, 0)
    private(set) var points: [ResultDocument.EchoPoint] = []

    /// - Parameter start: the run's, ns of the monotonic clock; 0: when the first request was made.
    init(_ series: EchoReport.Series, start: UInt64) {
        let width = max(1, series.interval) &* 1_000_000
        let begin = start == 0 ? series.start : start
        // What was asked before the run's start is in no interval of it.
        func offset(_ place: Int) -> Double {
            (Double(series.start) - Double(begin) + Double(place) * Double(width)) / 1e9
        }
        // So many intervals are a second or, where none is a whole one, the least more.
        let perSecond = width >= 1_000_000_000 ? 1 : Int((1_000_000_000 + width - 1) / width)
        var within: UInt64 = 0
        for (place, count) in series.requests.enumerated() {
            within &+= count
            if place >= perSecond { within &-= series.requests[place - perSecond] }
            if within > peak.count { peak = (within, max(0, offset(max(0, place - perSecond + 1)))) }
        }
        let span = Double(width) * Double(perSecond) / 1e9
        if span > 1 { peak.count = UInt64((Double(peak.count) / span).rounded()) }
        // Ten tenths are a point, wherever they begin.
        if offset(0) > 0, !series.requests.isEmpty { points.append(.init(time: offset(0), requests: 0, answered: 0)) }
        for first in stride(from: 0, to: max(series.requests.count, series.answered.count), by: perSecond) {
            func sum(_ counts: [UInt64]) -> UInt64 { counts.dropFirst(first).prefix(perSecond).reduce(0, &+) }
            points.append(
                .init(
                    time: offset(first + perSecond), requests: sum(series.requests), answered: sum(series.answered)))
        }
    }
}
