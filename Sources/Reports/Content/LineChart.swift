import Foundation
import Results
import Settings

/// A place on a chart, in the units of its axes.
package struct ChartPoint: Sendable, Equatable {
    package var x: Double
    package var y: Double

    package init(_ x: Double, _ y: Double) {
        self.x = x
        self.y = y
    }
}

package struct ChartLine: Sendable {
    package enum Style: Sendable {
        case line
        /// Points alone, each series with a shape of its own.
        case marks
        /// What is not measured but must hold: thin, dashed.
        case bound
    }

    package var name: String
    /// One whose y is no number is a gap.
    package var points: [ChartPoint]
    package var style = Style.line
    /// Lines that belong together have the same; nil: one of its own.
    package var colour: Int?

    package init(name: String, points: [ChartPoint], style: Style = .line, colour: Int? = nil) {
        self.name = name
        self.points = points
        self.style = style
        self.colour = colour
    }
}

/// What an axis shows, which says how it is divided and labelled.
package enum ChartAxis: Sendable, Equatable {
    case seconds, count, rate
    /// Runs, numbered from 1.
    case run
    /// A figure of runs: linear, and not from 0 where all values are far from it.
    case figure(FigureUnit)
    /// Logarithmic.
    case nanoseconds
    /// Nanoseconds, evenly.
    case milliseconds
    /// Counts and rates, logarithmic.
    case logarithmic
    /// Values are log10(1 / (1 - share)): 0 is the 0th percentile, 1 the 90th, 2 the 99th.
    case percentile
}

/// Lines over two axes; `SVGLineChart` draws it.
package struct LineChart: Sendable {
    package var title: String
    package var x: ChartAxis
    package var y: ChartAxis
    package var lines: [ChartLine]
    /// Vertical lines, where something happened.
    package var marks: [ChartMark] = []
    /// Parts of the horizontal axis, behind everything.
    package var bands: [ChartBand] = []

    package init(
        title: String, x: ChartAxis, y: ChartAxis, lines: [ChartLine], marks: [ChartMark] = [], bands: [ChartBand] = []
    ) {
        self.title = title
        self.x = x
        self.y = y
        self.lines = lines
        self.marks = marks
        self.bands = bands
    }
}

/// A part of the horizontal axis with a name, such as a stage; one without length is where something happens at once.
package struct ChartBand: Sendable, Equatable {
    package var from: Double
    package var to: Double
    package var label: String

    package init(from: Double, to: Double, label: String) {
        self.from = from
        self.to = to
        self.label = label
    }
}

/// A place on the horizontal axis, with what happened there.
package struct ChartMark: Sendable {
    package var x: Double
    package var label: String

    package init(x: Double, label: String) {
        self.x = x
        self.label = label
    }
}

/// Horizontal bars, one or more for each row; `SVGBarChart` draws it.
package struct BarChart: Sendable {
    package struct Row: Sendable {
        package var name: String
        package var value: String
        /// One for each of `parts`.
        package var lengths: [Double]
        /// As of a line.
        package var colour = 0

        package init(name: String, value: String, lengths: [Double], colour: Int = 0) {
            self.name = name
            self.value = value
            self.lengths = lengths
            self.colour = colour
        }
    }

    package var title: String
    /// What the bars of each row are.
    package var parts: [String]
    package var rows: [Row]
    /// How lengths are written under a logarithmic scale, where one is needed to see the shortest; nil: always linear.
    package var axis: ChartAxis?

    /// The logarithmic scale; nil where a linear one shows everything.
    var scale: ChartScale? {
        let lengths = rows.flatMap(\.lengths).filter { $0 > 0 }
        guard let axis, let least = lengths.min(), let most = lengths.max(), most > 15 * least else { return nil }
        // The shortest bar is seen too.
        return ChartScale(axis, [least / 1.6, most])
    }

    package init(title: String, parts: [String], rows: [Row], axis: ChartAxis? = nil) {
        self.title = title
        self.parts = parts
        self.rows = rows
        self.axis = axis
    }
}

/// The range of an axis and where its ticks are.
struct ChartScale: Sendable, Equatable {
    var low: Double
    var high: Double
    var isLogarithmic: Bool
    var ticks: [Double]
}

extension ChartScale {
    /// Share of the axis's length at which a value is, 0…1.
    func place(_ value: Double) -> Double {
        isLogarithmic
            ? (log10(max(value, low)) - log10(low)) / (log10(high) - log10(low)) : (value - low) / (high - low)
    }

    /// - Parameter values: what has to be on the axis; none gives an axis from 0 to 1.
    init(_ axis: ChartAxis, _ values: [Double]) {
        let finite = values.filter(\.isFinite)
        switch axis {
        case .nanoseconds, .logarithmic: self = Self.logarithmic(finite.filter { $0 > 0 })
        case .milliseconds: self = Self.linear(finite, isTight: false, least: 0)
        case .percentile:
            let high = max(finite.max() ?? 1, 1)
            let nines = [0, log10(2), 1, 2, 3, 4, 5, 6, 7, 8].filter { $0 <= high + 1e-9 }
            self = .init(low: 0, high: high, isLogarithmic: false, ticks: nines)
        case .seconds: self = Self.linear(finite, isTight: true, least: 0)
        case .run: self = Self.linear(finite, isTight: true, least: 1)
        case .figure: self = Self.near(finite)
        case .rate: self = Self.linear(finite, isTight: false, least: 0)
        case .count: self = Self.linear(finite, isTight: false, least: 1)
        }
    }

    /// From 0, ticks at 1, 2 or 5 times a power of ten and at least `least` apart; a tight axis ends with the last value, others at a tick.
    private static func linear(_ values: [Double], isTight: Bool, least: Double) -> ChartScale {
        let most = max(values.max() ?? 0, 0)
        guard most > 0 else { return .init(low: 0, high: 1, isLogarithmic: false, ticks: [0, 1]) }
        let power = pow(10, floor(log10(most / 5)))
        let step = max(least, power * ([1, 2, 5, 10].first { $0 * power * 5 >= most * 0.999_999 } ?? 10))
        let high = isTight ? most : ceil(most / step - 1e-9) * step
        var ticks: [Double] = []
        while Double(ticks.count) * step <= high * 1.000_001 { ticks.append(Double(ticks.count) * step) }
        return .init(low: 0, high: high, isLogarithmic: false, ticks: ticks)
    }

    /// From tick to tick around the values; from 0 where that is not far.
    private static func near(_ values: [Double]) -> ChartScale {
        guard let least = values.min(), let most = values.max(), least > most / 2 else {
            return linear(values, isTight: false, least: 0)
        }
        let range = max(most - least, most * 0.02)
        let power = pow(10, floor(log10(range / 4)))
        let step = power * ([1, 2, 5, 10].first { $0 * power * 4 >= range * 0.999_999 } ?? 10)
        let (first, last) = (floor(least / step - 0.2), ceil(most / step + 0.2))
        let ticks = stride(from: first, through: last, by: 1).map { $0 * step }
        return .init(low: first * step, high: last * step, isLogarithmic: false, ticks: ticks)
    }

    /// From and to 1, 2 or 5 times a power of ten; ticks at powers of ten alone where there are many.
    private static func logarithmic(_ values: [Double]) -> ChartScale {
        guard let least = values.min(), let most = values.max() else {
            return .init(low: 1, high: 10, isLogarithmic: true, ticks: [1, 10])
        }
        let steps = (Int(floor(log10(least)))...Int(ceil(log10(most))) + 1).flatMap { power in
            [1, 2, 5].map { $0 * pow(10, Double(power)) }
        }
        let low = steps.last { $0 <= least } ?? steps[0]
        let high = steps.first { $0 >= most && $0 > low } ?? low * 10
        let within = steps.filter { $0 >= low && $0 <= high }
        let tens = within.filter { abs(log10($0) - log10($0).rounded()) < 1e-9 }
        return .init(
            low: low, high: high, isLogarithmic: true, ticks: within.count > 10 && tens.count > 1 ? tens : within)
    }
}

extension ChartAxis {
    /// A tick's label; the unit is in it where it is not in the chart's title.
    func label(_ value: Double) -> String {
        switch self {
        case .seconds: "\(Self.short(value)) s"
        case .figure(.nanoseconds): ChartAxis.nanoseconds.label(value)
        case .figure(.bytes): Units.bytes(UInt64(max(0, min(value, 1e18))))
        case .count, .rate, .logarithmic, .run, .figure(.perSecond), .figure(.count):
            switch value {
            case 1e9...: "\(Self.short(value / 1e9))G"
            case 1e6...: "\(Self.short(value / 1e6))M"
            case 1e3...: "\(Self.short(value / 1e3))k"
            default: Self.short(value)
            }
        case .nanoseconds, .milliseconds:
            switch value {
            case ..<1 where self == .milliseconds: "0"
            case 1e9...: "\(Self.short(value / 1e9)) s"
            case 1e6...: "\(Self.short(value / 1e6)) ms"
            case 1e3...: "\(Self.short(value / 1e3)) us"
            default: "\(Self.short(value)) ns"
            }
        case .percentile:
            Self.short((1 - pow(10, -value)) * 100, places: max(0, Int(value.rounded()) - 2))
        }
    }

    /// A value as it is shown when it is pointed at.
    func exact(_ value: Double) -> String {
        switch self {
        case .seconds: "\(Self.short(value)) s"
        case .count, .logarithmic: Self.whole(value)
        case .rate: "\(Self.whole(value))/s"
        case .run: "run \(Self.short(value))"
        case .figure(let unit): Written.figure(value, unit)
        case .nanoseconds, .milliseconds: Units.duration(nanoseconds: value)
        case .percentile: "p\(Self.short((1 - pow(10, -value)) * 100, places: max(1, Int(value.rounded(.up)))))"
        }
    }

    private static func whole(_ value: Double) -> String {
        value < 100 ? short(value, places: 1) : Units.grouped(UInt64(min(value, 1e18).rounded()))
    }

    /// Without zeros at the end.
    private static func short(_ value: Double, places: Int = 3) -> String {
        var text = Units.fixed(value, places: places)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }
}
