import Measurement
import Results
import Settings

/// Throughput and pushes waiting over the run; the latency over time stands with the other latencies.
enum TimeSection {
    static func make(_ run: ReportedRun) -> ReportSection {
        let points = run.result.shownSeries()
        guard let end = points.last?.time else {
            return ReportSection(title: "Throughput", blocks: [.text("The result has no series.")])
        }
        let bands = bands(run, until: end)
        var rates = [ChartLine(name: "answered", points: rate(points) { $0.accepted &+ $0.rejected })]
        for (index, outcome) in outcomes.enumerated() where points.contains(where: { $0[keyPath: outcome.1] > 0 }) {
            rates.append(
                ChartLine(name: outcome.0, points: rate(points) { $0[keyPath: outcome.1] }, colour: index + 1))
        }
        if let requested = RequestedRate(run.result.scenario) {
            rates.append(ChartLine(name: "asked for", points: requested.points(points), style: .bound, colour: 5))
        } else if let offered = run.result.throughput.offered, run.result.throughput.hasRates {
            rates.append(
                ChartLine(
                    name: "offered, on average", points: [.init(0, offered), .init(end, offered)], style: .bound,
                    colour: 5))
        }
        var waiting = [ChartLine(name: "in flight", points: points.map { .init($0.time, Double($0.inFlight)) })]
        if run.isOpenLoop {
            waiting.append(ChartLine(name: "backlog", points: points.map { .init($0.time, Double($0.backlog)) }))
        }
        var charts = [
            LineChart(
                title: "Throughput (pushes/s)", x: .seconds, y: .rate, lines: rates, marks: warmup(run), bands: bands)
        ]
        // Looked at ten times a second: a shorter run has no figures.
        if points.contains(where: { $0.inFlight > 0 || $0.backlog > 0 }) {
            charts.append(LineChart(title: "Waiting (pushes)", x: .seconds, y: .count, lines: waiting, bands: bands))
        }
        let causes = causes(run.result)
        return ReportSection(
            title: "Throughput",
            blocks: [.charts(charts + [notAccepted(run.result.shownSeries(most: 40), bands)].compactMap { $0 })]
                + (causes.map { [.bars([$0])] } ?? []))
    }

    /// Pushes that ended without being accepted, when; nil when there were none.
    private static func notAccepted(_ points: [SeriesPoint], _ bands: [ChartBand]) -> LineChart? {
        let lines = outcomes.enumerated().compactMap { index, outcome -> ChartLine? in
            let (name, path) = outcome
            guard points.contains(where: { $0[keyPath: path] > 0 }) else { return nil }
            return ChartLine(
                name: name, points: points.map { .init($0.time, Double($0[keyPath: path])) }, colour: index + 1)
        }
        guard !lines.isEmpty, let end = points.last?.time else { return nil }
        let interval = Units.fixed(end / Double(points.count), places: 1)
        return LineChart(
            title: "Not accepted (pushes within \(interval) s)", x: .seconds, y: .count, lines: lines, bands: bands)
    }

    private static let outcomes: [(String, KeyPath<SeriesPoint, UInt64> & Sendable)] = [
        ("rejected", \.rejected), ("failed", \.failed), ("not sent", \.notSent),
    ]

    /// Why, most first; nil when every push was accepted.
    private static func causes(_ result: ResultDocument) -> BarChart? {
        let most = 8
        let groups = [("rejected", result.shownReasons), ("failed", result.failures), ("not sent", result.notSent)]
        let all = groups.enumerated().flatMap { index, group in
            group.1.map { (name: "\(group.0): \($0.key)", count: $0.value, colour: index + 1) }
        }.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
        guard !all.isEmpty else { return nil }
        var rows = all.prefix(all.count > most ? most - 1 : most).map { cause in
            BarChart.Row(
                name: cause.name,
                value: "\(Written.count(cause.count)), \(Written.share(cause.count, of: result.pushes.planned))",
                lengths: [Double(cause.count)], colour: cause.colour)
        }
        let rest = all.dropFirst(rows.count).reduce(0) { $0 &+ $1.count }
        if rest > 0 {
            rows.append(
                .init(
                    name: Units.counted(all.count - rows.count, "other"), value: Written.count(rest),
                    lengths: [Double(rest)],
                    colour: 5))
        }
        return BarChart(
            title: "Why not accepted (pushes, share of planned)", parts: ["pushes"], rows: rows, axis: .logarithmic)
    }

    private static func bands(_ run: ReportedRun, until end: Double) -> [ChartBand] {
        RequestedRate(run.result.scenario)?.bands(until: end) ?? []
    }

    private static func warmup(_ run: ReportedRun) -> [ChartMark] {
        let seconds = run.result.warmup.seconds
        return seconds > 0 ? [ChartMark(x: seconds, label: "measured from here")] : []
    }

    /// One line a result.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        ReportSection(
            title: "Throughput",
            blocks: [
                .charts([
                    LineChart(
                        title: "Answered (pushes/s)", x: .seconds, y: .rate,
                        lines: lines(runs) { rate($0) { $0.accepted &+ $0.rejected } }),
                    LineChart(
                        title: "In flight (pushes)", x: .seconds, y: .count,
                        lines: lines(runs) { $0.map { .init($0.time, Double($0.inFlight)) } }),
                ])
            ])
    }

    static func latencyChart(_ run: ReportedRun) -> LineChart {
        LineChart(
            title: "Over time, due to answered (log scale)", x: .seconds, y: .nanoseconds,
            lines: [
                ChartLine(name: "p50\(run.result.seriesStep)", points: latency(run.result.shownSeries(), \.p50)),
                ChartLine(name: "p99\(run.result.seriesStep)", points: latency(run.result.shownSeries(), \.p99)),
            ], bands: bands(run, until: run.result.series.last?.time ?? 0))
    }

    /// One line a result in each.
    static func latencyCharts(_ runs: [ReportedRun]) -> [LineChart] {
        [("p50", \SeriesPoint.p50), ("p99", \SeriesPoint.p99)].map { name, path in
            LineChart(
                title: "\(name) over time, due to answered (log scale)", x: .seconds, y: .nanoseconds,
                lines: runs.map {
                    ChartLine(
                        name: $0.label + $0.result.seriesStep, points: latency($0.result.shownSeries(), path))
                })
        }
    }

    private static func lines(_ runs: [ReportedRun], _ points: ([SeriesPoint]) -> [ChartPoint]) -> [ChartLine] {
        runs.map { ChartLine(name: $0.label, points: points($0.result.shownSeries())) }
    }

    /// Pushes a second within each interval, drawn at its end. A rest after whole ones that is much shorter than they
    /// are says nothing of the rate and is left out.
    static func rate(_ points: [SeriesPoint], _ count: (SeriesPoint) -> UInt64) -> [ChartPoint] {
        var previous = 0.0
        var rates: [ChartPoint] = []
        for point in points {
            let length = point.time - previous
            if length > 0, rates.isEmpty || length >= min(0.1, 0.3 * points[0].time) {
                rates.append(.init(point.time, Double(count(point)) / length))
            }
            previous = point.time
        }
        return rates
    }

    /// Intervals without an answer have no latency: gaps, none where there is nothing else.
    private static func latency(_ points: [SeriesPoint], _ path: KeyPath<SeriesPoint, UInt64>)
        -> [ChartPoint]
    {
        let latencies = points.map { ChartPoint($0.time, $0[keyPath: path] > 0 ? Double($0[keyPath: path]) : .nan) }
        return latencies.contains { $0.y.isFinite } ? latencies : []
    }
}
