import Results

/// Throughput and pushes waiting over the run; the latency over time stands with the other latencies.
enum TimeSection {
    static func make(_ run: ReportedRun) -> ReportSection {
        let points = run.result.series
        guard !points.isEmpty else {
            return ReportSection(title: "Throughput", blocks: [.text("The result has no series.")])
        }
        var rates = [ChartLine(name: "answered", points: rate(points) { $0.accepted + $0.rejected })]
        for (name, path) in [
            ("rejected", \ResultDocument.Point.rejected), ("failed", \.failed), ("not sent", \.notSent),
        ] where points.contains(where: { $0[keyPath: path] > 0 }) {
            rates.append(ChartLine(name: name, points: rate(points) { $0[keyPath: path] }))
        }
        if let offered = run.result.throughput.offered, let last = rates[0].points.last {
            rates.append(ChartLine(name: "offered, on average", points: [.init(0, offered), .init(last.x, offered)]))
        }
        var waiting = [ChartLine(name: "in flight", points: points.map { .init($0.t, Double($0.inFlight)) })]
        if run.isOpenLoop {
            waiting.append(ChartLine(name: "backlog", points: points.map { .init($0.t, Double($0.backlog)) }))
        }
        return ReportSection(
            title: "Throughput",
            blocks: [
                .charts([
                    LineChart(title: "Throughput (pushes/s)", x: .seconds, y: .rate, lines: rates),
                    LineChart(title: "Waiting (pushes)", x: .seconds, y: .count, lines: waiting),
                ])
            ])
    }

    /// One line a result.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        ReportSection(
            title: "Throughput",
            blocks: [
                .charts([
                    LineChart(
                        title: "Answered (pushes/s)", x: .seconds, y: .rate,
                        lines: lines(runs) { rate($0) { $0.accepted + $0.rejected } }),
                    LineChart(
                        title: "In flight (pushes)", x: .seconds, y: .count,
                        lines: lines(runs) { $0.map { .init($0.t, Double($0.inFlight)) } }),
                ])
            ])
    }

    static func latencyChart(_ run: ReportedRun) -> LineChart {
        LineChart(
            title: "Over time, due to answered (log scale)", x: .seconds, y: .nanoseconds,
            lines: [
                ChartLine(name: "p50", points: latency(run.result.series, \.p50)),
                ChartLine(name: "p99", points: latency(run.result.series, \.p99)),
            ])
    }

    /// One line a result in each.
    static func latencyCharts(_ runs: [ReportedRun]) -> [LineChart] {
        [("p50", \ResultDocument.Point.p50), ("p99", \ResultDocument.Point.p99)].map { name, path in
            LineChart(
                title: "\(name) over time, due to answered (log scale)", x: .seconds, y: .nanoseconds,
                lines: lines(runs) { latency($0, path) })
        }
    }

    private static func lines(_ runs: [ReportedRun], _ points: ([ResultDocument.Point]) -> [ChartPoint]) -> [ChartLine]
    {
        runs.map { ChartLine(name: $0.label, points: points($0.result.series)) }
    }

    /// Pushes a second within each interval, drawn at its end. A rest of less than a tenth of a second after whole ones says
    /// nothing of the rate and is left out.
    static func rate(_ points: [ResultDocument.Point], _ count: (ResultDocument.Point) -> UInt64) -> [ChartPoint] {
        var previous = 0.0
        var rates: [ChartPoint] = []
        for point in points {
            let length = point.t - previous
            if length >= 0.1 || (rates.isEmpty && length > 0) {
                rates.append(.init(point.t, Double(count(point)) / length))
            }
            previous = point.t
        }
        return rates
    }

    /// Intervals without an answer have no latency.
    private static func latency(_ points: [ResultDocument.Point], _ path: KeyPath<ResultDocument.Point, UInt64>)
        -> [ChartPoint]
    {
        points.filter { $0[keyPath: path] > 0 }.map { .init($0.t, Double($0[keyPath: path])) }
    }
}
