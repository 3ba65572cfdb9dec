import Measurement
import Results
import Scenarios
import Settings

/// What a run was asked to send over time, from its settings.
struct RequestedRate {
    private let schedule: LoadSchedule

    /// nil for a closed loop, and for recorded due times, which a result does not hold.
    init?(_ settings: [String: JSONValue]) {
        for name in ["trace", "replay"] {
            guard settings[name] == nil || settings[name] == JSONValue.null else { return nil }
        }
        // Of several sends there may be none that asks for anything for a while.
        if case .array(let sends)? = settings["sends"], !sends.isEmpty { return nil }
        let (limit, length) = (Self.whole(settings["pushes"]), Self.whole(settings["duration"]))
        if case .array(let texts)? = settings["stages"], !texts.isEmpty {
            var stages: [LoadStage] = []
            for text in texts {
                guard let parsed = try? LoadStage.parse(text.description) else { return nil }
                stages += parsed
            }
            schedule = LoadSchedule(stages: stages, limit: limit, length: length)
        } else if let rate = Self.number(settings["rate"]), rate > 0 {
            schedule = LoadSchedule(rate: rate, limit: limit, length: length)
        } else {
            return nil
        }
    }

    /// Pushes a second asked for within each interval of a series, drawn at its end, and at 0 what it begins with. A burst is
    /// in the interval in which it comes.
    func points(_ series: [SeriesPoint]) -> [ChartPoint] {
        var (previous, before) = (0.0, 0.0)
        var points: [ChartPoint] = []
        for point in series where point.time > previous {
            let until = schedule.expected(by: point.time)
            let rate = max(0, until - before) / (point.time - previous)
            if points.isEmpty { points.append(ChartPoint(0, schedule.rate(at: 0))) }
            points.append(ChartPoint(point.time, rate))
            (previous, before) = (point.time, until)
        }
        return points
    }

    /// Each stage from its beginning to that of the next, as far as the picture goes; none where there is only one.
    ///
    /// - Parameter end: of the picture, seconds.
    func bands(until end: Double) -> [ChartBand] {
        let starts = schedule.stageTimes
        guard starts.count > 1 else { return [] }
        let ends = starts.dropFirst() + [max(Double(schedule.duration) / 1e9, starts.last ?? 0)]
        return zip(schedule.stageNames, zip(starts, ends)).compactMap { name, span in
            span.0 < end ? ChartBand(from: span.0, to: min(span.1, end), label: name) : nil
        }
    }

    private static func number(_ setting: JSONValue?) -> Double? {
        switch setting {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    private static func whole(_ setting: JSONValue?) -> UInt64? {
        number(setting).flatMap { UInt64(exactly: $0.rounded()) }
    }
}
