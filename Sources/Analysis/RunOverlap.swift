import Results
import Settings

/// How long all of several runs went on at the same time.
///
/// A run's interval is `run.started_at` and the `run.duration_seconds` after it. Older versions cut `started_at` to whole seconds:
/// such a run may have begun up to a second later, so that this is the longest common time the documents allow.
struct RunOverlap {
    /// Rates are added as if all went on together: that must be so for at least this share of the longest run.
    static let leastShare = 0.5

    private struct Part {
        let name: String
        let startedAt: String
        /// Seconds since 1970, the earliest and the latest.
        let started: ClosedRange<Double>
        /// Seconds.
        let duration: Double
        var start: Double { started.lowerBound }
        /// The latest.
        var end: Double { started.upperBound + duration }
        var description: String { "\(name) (\(startedAt), \(Units.fixed(duration, places: 1)) s)" }
    }

    /// Seconds in which every run may have been going on; 0 when they cannot have been.
    let common: Double
    /// Seconds of the longest run.
    let longest: Double
    /// Seconds from the first start to the last, as the documents have them.
    let startsApart: Double
    /// The two runs that overlap least, with their times.
    let apart: String

    var isEnough: Bool { common >= Self.leastShare * longest }

    /// - Parameter results: at least one, with the names of their files.
    /// - Throws: the name of a file whose time cannot be read.
    init(_ results: [(name: String, result: ResultDocument)]) throws(ResultMerge.Failure) {
        var parts: [Part] = []
        for (name, result) in results {
            guard let started = result.run.start else {
                throw ResultMerge.Failure(
                    description: "\(name): run.started_at \"\(result.run.startedAt)\" is not a time (ISO 8601)")
            }
            parts.append(
                Part(
                    name: name, startedAt: result.run.startedAt, started: started,
                    duration: max(0, result.run.durationSeconds)))
        }
        let byDuration = parts.sorted { $0.duration < $1.duration }
        let last = parts.max { $0.start < $1.start }
        let first = parts.min { $0.end < $1.end }
        guard let shortest = byDuration.first, let longest = byDuration.last, let last, let first else {
            (common, self.longest, startsApart, apart) = (0, 0, 0, "")
            return
        }
        let between = first.end - last.start
        common = max(0, min(shortest.duration, between))
        self.longest = longest.duration
        startsApart = last.start - (parts.map(\.start).min() ?? last.start)
        // Of two that follow each other, the one that ended first and the one that began last; else one was too short.
        let pair = between < shortest.duration ? (first, last) : (longest, shortest)
        apart = "\(pair.0.description) and \(pair.1.description)"
    }
}
