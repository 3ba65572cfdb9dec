import Results

/// Changes for the worse that somebody knows of, and that are no alert any more.
struct AcknowledgedChanges: Codable, Sendable, Equatable {
    /// What this version reads and writes.
    static let currentSchema = "pushload.acknowledged/1"
    /// By how many runs a change may move, while later runs come, and still be the one that was acknowledged.
    static let nearby = 5

    var schema = AcknowledgedChanges.currentSchema
    var changes: [Change] = []

    struct Change: Codable, Sendable, Equatable {
        /// The id of the first run after it.
        var run: String
        var metric: String
        var verdict: FigureVerdict
        /// For its readers: the scenario's name, when that run was made, and the ratio that was found.
        var series: String
        var startedAt: String
        @Nullable var ratio: Double?

        enum CodingKeys: String, CodingKey {
            case run, metric, verdict, series, ratio
            case startedAt = "started_at"
        }
    }

    /// Marks those changes of a history that are among these: of the same figure, the same way, with a run at most `nearby` away. Each
    /// of these is one change, the nearest.
    func mark(_ history: inout HistoryDocument) {
        for (index, series) in history.series.enumerated() {
            let places = Dictionary(
                series.runs.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { first, _ in first })
            for (number, metric) in series.metrics.enumerated() {
                for known in changes where known.metric == metric.name {
                    guard let run = places[known.run] else { continue }
                    let like = metric.changes.indices.filter {
                        metric.changes[$0].verdict == known.verdict && abs(metric.changes[$0].run - run) <= Self.nearby
                    }
                    guard
                        let nearest = like.min(by: {
                            abs(metric.changes[$0].run - run) < abs(metric.changes[$1].run - run)
                        })
                    else { continue }
                    history.series[index].metrics[number].changes[nearest].isAcknowledged = true
                }
            }
        }
    }

    /// Adds a history's alerts.
    ///
    /// - Returns: how many they are.
    mutating func add(_ history: HistoryDocument) -> Int {
        let alerts = history.alerts
        for place in alerts {
            let series = history.series[place.series]
            let metric = series.metrics[place.metric]
            let change = metric.changes[place.change]
            let run = series.runs[change.run]
            changes.append(
                Change(
                    run: run.id, metric: metric.name, verdict: change.verdict, series: series.name,
                    startedAt: run.startedAt, ratio: change.ratio))
        }
        return alerts.count
    }
}
