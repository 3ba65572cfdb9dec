import Measurement
import Results
import Settings

/// What became of accepted pushes at their devices, and what devices asked of their backend: the wave that goes out beside the wave
/// that comes back.
enum DeviceSection {
    static func make(_ run: ReportedRun) -> [ReportSection] {
        let result = run.result
        var sections: [ReportSection] = []
        if let devices = result.devices { sections.append(outcomes(devices, result)) }
        if let echo = result.echo, echo.requests > 0 { sections.append(self.echo(echo, result)) }
        return sections
    }

    // MARK: Outcomes

    private static func outcomes(_ devices: ResultDocument.Devices, _ result: ResultDocument) -> ReportSection {
        var table = ReportTable(["at the device", "pushes", "share of accepted"])
        for (name, count) in sorted(devices.outcomes) {
            table.add([words(name), Written.count(count), Written.share(count, of: result.pushes.accepted)])
        }
        var blocks: [ReportBlock] = [.table(table)]
        if !devices.contentWithin.isEmpty {
            blocks.append(.text("Content: \(contentWithin(devices))."))
        }
        if !devices.events.isEmpty {
            var events = ReportTable(["also", "count"])
            for (name, count) in sorted(devices.events) { events.add([words(name), Written.count(count)]) }
            blocks.append(.folded("What else happened", [.table(events)]))
        }
        blocks.append(
            .text(
                "\(Written.count(devices.touched)) devices were touched. Each accepted push has one outcome, as it was when the run "
                    + "was over; docs/devices.md defines them."))
        return ReportSection(title: "At the devices", blocks: blocks)
    }

    static func sorted(_ counts: [String: UInt64]) -> [(String, UInt64)] {
        counts.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    static func words(_ name: String) -> String { name.replacing("_", with: " ") }

    /// `91.2 % within 1 s, 99.9 % within 5 s` of the pushes that have content.
    static func contentWithin(_ devices: ResultDocument.Devices) -> String {
        var told: [String] = []
        var last = -1.0
        for within in devices.contentWithin where within.share > last {
            told.append("\(Units.fixed(within.share * 100, places: 1)) % within \(within.seconds) s")
            last = within.share
        }
        return told.joined(separator: ", ")
    }

    // MARK: The echo

    private static func echo(_ echo: ResultDocument.Echo, _ result: ResultDocument) -> ReportSection {
        var blocks: [ReportBlock] = []
        if let chart = waves(echo, result) { blocks.append(.charts([chart])) }
        var table = ReportTable(["asked of \(echo.backend)"] + countNames)
        for kind in ["fetch", "rich", "attachment", "action"] {
            guard let counts = echo.byKind[kind], counts.requests > 0 else { continue }
            table.add(
                [kind]
                    + [
                        counts.requests, counts.answered, counts.failed, counts.givenUp, counts.notBegun,
                        counts.underWay,
                    ].map(Written.count))
        }
        table.add(["all"] + counts(echo).map(Written.count))
        blocks.append(.table(table))
        if echo.latency.count > 0 {
            var times = ReportTable(["time", "requests", "min", "mean", "p50", "p90", "p99", "p99.9", "max"])
            for (name, latency) in [
                ("device's moment to answer", echo.latency), ("waiting for a connection", echo.wait),
            ]
            where latency.count > 0 {
                times.add(
                    [name, Written.count(latency.count)] + Written.latencies(latency, LatencyFigure.allCases))
            }
            blocks.append(.table(times))
        }
        for (title, counts) in [("Failures", echo.failures), ("Statuses", echo.statuses)] where !counts.isEmpty {
            var table = ReportTable([title, "requests"])
            for (name, count) in sorted(counts) { table.add([name, Written.count(count)]) }
            blocks.append(.folded(title, [.table(table)]))
        }
        blocks.append(.text(peak(echo)))
        return ReportSection(title: "Echo: what devices asked of their backend", blocks: blocks)
    }

    static let countNames = ["requests", "answered", "failed", "given up", "not begun", "under way"]

    static func counts(_ echo: ResultDocument.Echo) -> [UInt64] {
        [echo.requests, echo.answered, echo.failed, echo.givenUp, echo.notBegun, echo.underWay]
    }

    static func peak(_ echo: ResultDocument.Echo) -> String {
        guard let peak = echo.peakPerSecond, let after = echo.peakAfterSeconds else {
            return "Of several runs' echoes there is no common peak."
        }
        return "Peak: \(Units.perSecond(Double(peak))), \(Units.fixed(after, places: 1)) s after the start; "
            + "\(Written.count(echo.retries)) retries, \(Units.bytes(echo.bytes)) fetched over "
            + "\(Units.counted(echo.connectionsOpened, "connection"))."
    }

    /// Pushes accepted, and requests made and answered, a second.
    private static func waves(_ echo: ResultDocument.Echo, _ result: ResultDocument) -> LineChart? {
        guard !echo.series.isEmpty else { return nil }
        /// Of counts up to each time.
        func rates(_ counts: [(time: Double, count: UInt64)]) -> [ChartPoint] {
            var before = 0.0
            return counts.map { point in
                defer { before = point.time }
                let length = point.time - before
                return ChartPoint(point.time, length > 0 ? Double(point.count) / length : 0)
            }
        }
        func line(_ name: String, _ colour: Int, _ count: (ResultDocument.EchoPoint) -> UInt64) -> ChartLine {
            ChartLine(name: name, points: rates(echo.series.map { ($0.time, count($0)) }), colour: colour)
        }
        let pushes = rates(result.shownSeries().map { ($0.time, $0.accepted) })
        return LineChart(
            title: "Pushes out, requests back (a second)", x: .seconds, y: .rate,
            lines: [ChartLine(name: "pushes accepted", points: pushes, colour: 0)]
                + [line("requests of devices", 1, \.requests), line("answered by the backend", 2, \.answered)])
    }
}
