import Foundation
import Measurement
import Results
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
        func point(_ t: Double, _ accepted: UInt64) -> ResultDocument.Point {
            .init(
                t: t, sent: 0, accepted: accepted, rejected: 0, failed: 0, inFlight: 0, backlog: 0, p50: 0, p99: 0)
        }
        let rates = TimeSection.rate([point(1, 100), point(1.5, 100), point(1.51, 100)]) { $0.accepted }
        #expect(rates == [.init(1, 100), .init(1.5, 200)])
        #expect(TimeSection.rate([point(0.01, 5)]) { $0.accepted } == [.init(0.01, 500)])
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
