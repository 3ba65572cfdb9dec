import Foundation
import Measurement
import Results
import SampleRuns
import Settings
import Testing

@testable import Reports

@Suite struct ChartTests {
    @Test("A known series becomes the polyline it should: 0 to 4 s over 402 units, 0 to 200 over 202 units")
    func polyline() {
        let chart = LineChart(
            title: "t", x: .seconds, y: .count,
            lines: [ChartLine(name: "a", points: [.init(0, 0), .init(1, 100), .init(2, 200), .init(4, 50)])])
        let figure = SVGLineChart.figure(chart)
        #expect(figure.contains("points=\"62.0,216.0 162.5,115.0 263.0,14.0 464.0,165.5\""), "\(figure)")
        #expect(MarkupChecker.problem(figure) == nil)
    }

    @Test("A logarithmic axis runs from and to 1, 2 or 5 times a power of ten, and equal ratios are equally far")
    func logarithmic() {
        let scale = ChartScale(.nanoseconds, [1_500_000, 30_000_000])
        #expect(scale.low == 1_000_000 && scale.high == 50_000_000)
        #expect(scale.ticks.map(ChartAxis.nanoseconds.label) == ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"])
        let steps = [1e6, 2e6, 4e6, 8e6].map(scale.place)
        for (a, b) in zip(steps, steps.dropFirst()) { #expect(abs(b - a - (steps[1] - steps[0])) < 1e-9) }
        #expect(ChartScale(.nanoseconds, [100, 3e9]).ticks.map(ChartAxis.nanoseconds.label).first == "100 ns")
    }

    @Test("A linear axis begins at 0 and has 2 to 6 steps, whatever its largest value")
    func linear() {
        for exponent in -2...9 as ClosedRange<Int> {
            for factor in [1.0, 1.3, 2, 4.99, 5, 7.7, 9.99] {
                let most = factor * pow(10, Double(exponent))
                let scale = ChartScale(.rate, [0, most])
                #expect(scale.low == 0 && scale.high >= most * 0.999_999, "\(most)")
                #expect((3...7).contains(scale.ticks.count), "\(most): \(scale.ticks)")
            }
        }
        #expect(ChartScale(.count, []).ticks == [0, 1])
        #expect(ChartScale(.count, [2]).ticks == [0, 1, 2])
        #expect(ChartAxis.rate.label(250_000) == "250k" && ChartAxis.rate.label(1_500_000) == "1.5M")
    }

    @Test("The percentile axis is HdrHistogram's: 90, 99, 99.9 equally far apart")
    func percentiles() {
        let scale = ChartScale(.percentile, [0, 4])
        #expect(
            scale.ticks.map(ChartAxis.percentile.label) == ["0", "50", "90", "99", "99.9", "99.99"])
        #expect(abs(scale.place(1) - 0.25) < 1e-9 && abs(scale.place(2) - 0.5) < 1e-9)
    }

    @Test("The curve has the histogram's own percentiles and ends at its largest record")
    func curve() {
        var histogram = LatencyHistogram()
        for value in 1...10_000 as ClosedRange<UInt64> { histogram.record(value * 1000) }
        let points = PercentileSection.points(CensoredHistogram(answered: histogram))
        #expect(points.count == 201 && abs((points.last?.x ?? 0) - 4) < 1e-9)
        for point in points.dropLast() {
            let percentile = (1 - pow(10, -point.x)) * 100
            let exact = max(1, (percentile * 100).rounded(.up)) * 1000
            #expect(abs(point.y / exact - 1) < 0.002 || abs(point.y - exact) <= 1000, "p\(percentile): \(point.y)")
        }
        #expect(abs((points.last?.y ?? 0) / 10_000_000 - 1) < 0.001)
        #expect(PercentileSection.points(CensoredHistogram()).isEmpty)
    }

    @Test("Rates are per second of their interval; a rest too short to say anything is left out")
    func rates() {
        func point(_ t: Double, _ accepted: UInt64) -> SeriesPoint {
            .init(
                time: t, sent: 0, accepted: accepted, rejected: 0, failed: 0, notSent: 0, inFlight: 0, backlog: 0,
                p50: 0, p99: 0)
        }
        let rates = TimeSection.rate([point(1, 100), point(1.5, 100), point(1.51, 100)]) { $0.accepted }
        #expect(rates == [.init(1, 100), .init(1.5, 200)])
        #expect(TimeSection.rate([point(0.01, 5)]) { $0.accepted } == [.init(0.01, 500)])
        #expect(TimeSection.rate([point(0, 0)]) { $0.accepted }.isEmpty)
    }

    @Test("What was asked for is in the curve: of each interval what was due in it, stages beside each other")
    func requested() throws {
        let settings: [String: JSONValue] = [
            "stages": .array([
                .string("ramp 0 1000 2s"), .string("burst 300"), .string("pause 1s"), .string("hold 500 1s"),
            ])
        ]
        let requested = try #require(RequestedRate(settings))
        let series = (1...40).map { step in
            SeriesPoint(
                time: Double(step) / 10, sent: 0, accepted: 0, rejected: 0, failed: 0, notSent: 0, inFlight: 0,
                backlog: 0, p50: 0,
                p99: 0)
        }
        let points = requested.points(series)
        #expect(points.count == 41 && points[0] == ChartPoint(0, 0))
        // The ramp's mean within the interval, the burst where it comes, nothing in the pause, the hold.
        #expect(abs(points[10].y - 475) < 1e-6 && abs(points[25].y) < 1e-6 && abs(points[35].y - 500) < 1e-6)
        let area = points.dropFirst().reduce(0) { $0 + $1.y / 10 }
        #expect(abs(area - 1800) < 1e-6)
        #expect(
            requested.bands(until: 3.5) == [
                .init(from: 0, to: 2, label: "ramp"), .init(from: 2, to: 2, label: "burst"),
                .init(from: 2, to: 3, label: "pause"), .init(from: 3, to: 3.5, label: "hold"),
            ])
        let rate = try #require(RequestedRate(["rate": .number(250), "duration": .integer(2_000_000_000)]))
        #expect(
            rate.bands(until: 9).isEmpty && rate.points(series)[5].y.rounded() == 250 && rate.points(series)[30].y == 0)
        #expect(RequestedRate([:]) == nil && RequestedRate(["trace": .string("due.csv"), "rate": .number(1)]) == nil)
        #expect(RequestedRate(["stages": .array([.string("something new 3")])]) == nil)
    }

    @Test("A series is shown in few points with every push in them, and a short rest belongs to the one before")
    func shown() {
        var document = ReportedDocument.make()
        document.series = (1...1000).map { step in
            .init(
                time: Double(step) / 10, sent: 7, accepted: 5, rejected: 1, failed: 1, notSent: 2, inFlight: step % 50,
                backlog: 3, p50: UInt64(step), p99: 9)
        }
        document.series.append(
            .init(
                time: 100.01, sent: 0, accepted: 1, rejected: 0, failed: 40, notSent: 50, inFlight: 0, backlog: 0,
                p50: 0,
                p99: 0))
        let shown = document.shownSeries()
        #expect(shown.count <= 130 && shown.count > 60 && shown.last?.time == 100.01 && shown.last?.p50 == 1000)
        #expect(shown.reduce(0) { $0 + $1.accepted } == 5001 && shown.reduce(0) { $0 + $1.failed } == 1040)
        #expect(shown.reduce(0) { $0 + $1.notSent } == 2050 && shown.map(\.inFlight).max() == 49)
        // A few answers a second are no rate within 100 ms.
        for index in document.series.indices {
            document.series[index].accepted = index % 10 == 0 ? 1 : 0
            document.series[index].rejected = 0
        }
        #expect(document.shownSeries().count == 10)
        // Counts that nobody can have had are no reason to stop.
        for index in document.series.indices { document.series[index].accepted = 1 << 63 }
        #expect(!document.shownSeries().isEmpty)
        document.series = []
        #expect(document.shownSeries().isEmpty)
    }

    @Test("Pointed at, a chart says the values of its lines, the place and the stage; a gap says nothing")
    func pointer() {
        let chart = LineChart(
            title: "t", x: .seconds, y: .nanoseconds,
            lines: [
                ChartLine(name: "p50", points: [.init(1, 2e6), .init(2, 3e6), .init(4, 5e6)]),
                ChartLine(name: "<p99>", points: [.init(1, 4e6), .init(4, 9e6)]),
                ChartLine(name: "bound", points: [.init(0, 1e6), .init(4, 5e6)], style: .bound),
            ], bands: [.init(from: 0, to: 2, label: "ramp"), .init(from: 2, to: 4, label: "hold")])
        let boxes = SVGLineChart.figure(chart).components(separatedBy: "<path ").dropFirst().map(Self.texts)
        #expect(
            boxes == [
                ["1 s, ramp", "p50 2.00 ms", "&lt;p99&gt; 4.00 ms", "bound 2.00 ms"],
                ["2 s, ramp", "p50 3.00 ms", "&lt;p99&gt; 5.67 ms", "bound 3.00 ms"],
                ["4 s, hold", "p50 5.00 ms", "&lt;p99&gt; 9.00 ms", "bound 5.00 ms"],
            ])
        #expect(MarkupChecker.problem(SVGLineChart.figure(chart)) == nil)
        let many = LineChart(
            title: "t", x: .count, y: .count,
            lines: [ChartLine(name: "a", points: (1...5000).map { .init(Double($0), 1) })])
        let strips = SVGLineChart.figure(many).components(separatedBy: "<path ").count - 1
        #expect(strips > 50 && strips <= ChartPointer.most)
    }

    @Test("Pointed at, a chart says each line wherever it goes, whichever has the most points; marks only at their own")
    func pointedLines() {
        let chart = LineChart(
            title: "t", x: .seconds, y: .count,
            lines: [
                ChartLine(name: "short", points: [.init(4, 0), .init(5, 50), .init(6, 60), .init(7, 100)]),
                ChartLine(name: "long", points: [.init(0, 0), .init(8, 800), .init(20, 2000)]),
                ChartLine(name: "gap", points: [.init(0, 1), .init(5, .nan), .init(20, 1)]),
                ChartLine(name: "mark", points: [.init(0, 7), .init(20, 9)], style: .marks),
            ])
        let boxes = SVGLineChart.figure(chart).components(separatedBy: "<path ").dropFirst().map(Self.texts)
        #expect(
            boxes == [
                ["0 s", "long 0", "gap 1", "mark 7"], ["4 s", "short 0", "long 400"],
                ["5 s", "short 50", "long 500"], ["6 s", "short 60", "long 600"], ["7 s", "short 100", "long 700"],
                ["8 s", "long 800"], ["20 s", "long 2,000", "gap 1", "mark 9"],
            ])
    }

    private static func texts(_ svg: String) -> [String] {
        svg.components(separatedBy: "<text ").dropFirst().map { part in
            String(part.drop { $0 != ">" }.dropFirst().components(separatedBy: "</text>")[0])
        }
    }

    @Test("Where there is no value a line has a gap, and a value alone between two is a point")
    func gaps() {
        let chart = LineChart(
            title: "t", x: .seconds, y: .nanoseconds,
            lines: [
                ChartLine(
                    name: "a",
                    points: [
                        .init(1, 1e6), .init(2, 2e6), .init(3, .nan), .init(4, 4e6), .init(5, .nan), .init(6, 1e6),
                    ])
            ])
        let figure = SVGLineChart.figure(chart)
        #expect(figure.components(separatedBy: "<polyline").count == 4 && !figure.contains("nan"))
        let boxes = figure.components(separatedBy: "<path ").dropFirst().map(Self.texts)
        #expect(boxes == [["1 s", "a 1.00 ms"], ["2 s", "a 2.00 ms"], ["4 s", "a 4.00 ms"], ["6 s", "a 1.00 ms"]])
    }

    @Test("Bars that a linear scale would hide are on a logarithmic one with ticks, and the shortest is seen")
    func bars() throws {
        func chart(_ lengths: [Double]) -> BarChart {
            BarChart(
                title: "t", parts: ["p50"], rows: lengths.map { .init(name: "n", value: "v", lengths: [$0]) },
                axis: .nanoseconds)
        }
        func widths(_ chart: BarChart) throws -> [Double] {
            try SVGBarChart.figure(chart).components(separatedBy: "class=\"bar\"").dropFirst().map { part in
                let text = part.components(separatedBy: "width=\"")[1].prefix { $0 != "\"" }
                return try #require(Double(text))
            }
        }
        let (even, far) = (chart([2e6, 10e6]), chart([20_000, 200_000, 200e6]))
        #expect(even.scale == nil && !SVGBarChart.figure(even).contains("log scale"))
        #expect(try widths(even) == [95.2, 476])
        #expect(
            SVGBarChart.figure(far).contains("<figcaption>t (log scale)") && SVGBarChart.figure(far).contains(">10 ms<")
        )
        let sizes = try widths(far)
        #expect(sizes[0] > 5 && sizes[2] <= 476.1)
        // Equal ratios are equally far: 10 and 1,000 times.
        #expect(abs((sizes[2] - sizes[1]) / (sizes[1] - sizes[0]) - 3) < 0.01)
        #expect(chart([0, 5]).scale == nil && chart([]).scale == nil)
    }

    @Test("The lines of a chart differ in colour or dash pattern, and next neighbours in both")
    func styles() {
        let styles = (0..<30).map { ChartStyle.colour($0) + ChartStyle.dash($0) }
        #expect(Set(styles).count == 30)
        for index in 0..<29 {
            #expect(ChartStyle.colour(index) != ChartStyle.colour(index + 1))
            #expect(ChartStyle.dash(index) != ChartStyle.dash(index + 1))
        }
    }
}
