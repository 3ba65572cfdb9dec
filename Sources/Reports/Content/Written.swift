import Results
import Scenarios
import Settings

/// Figures as reports write them.
enum Written {
    static func count(_ value: UInt64) -> String { Units.grouped(value) }

    static func time(_ nanoseconds: UInt64) -> String { Units.duration(nanoseconds: Double(nanoseconds)) }

    static func rate(_ perSecond: Double) -> String {
        perSecond < 100
            ? "\(Units.fixed(perSecond, places: 1)) pushes/s"
            : "\(Units.grouped(UInt64(min(perSecond, 1e18).rounded()))) pushes/s"
    }

    static func share(_ part: UInt64, of whole: UInt64) -> String {
        whole > 0 ? "\(Units.fixed(Double(part) / Double(whole) * 100, places: 2)) %" : "-"
    }

    /// `4.33 ms`, `> 20.0 s` where only that is known, `-` when nothing was recorded.
    static func latency(_ latency: ResultDocument.Latency, _ figure: LatencyFigure) -> String {
        guard latency.count > 0 else { return "-" }
        let text = Units.duration(nanoseconds: latency.value(figure))
        return latency.isCensored(figure) ? "> \(text)" : text
    }

    static func latencies(_ latency: ResultDocument.Latency, _ figures: [LatencyFigure]) -> [String] {
        figures.map { self.latency(latency, $0) }
    }

    /// `3 of 1,200 pushes got no answer and count as longer than every answer`; nil when all got one.
    static func unanswered(_ count: UInt64, of whole: UInt64) -> String? {
        guard count > 0 else { return nil }
        return "\(self.count(count)) of \(self.count(whole)) pushes got no answer and count as longer than every answer"
    }

    /// A figure of comparisons, histories, sweeps or gates as people read it: of a rate, which one it is.
    static func title(_ metric: String) -> String {
        switch metric {
        case "rate": "rate (answered)"
        case "goodput": "goodput (accepted)"
        default: metric
        }
    }

    /// A setting by its name, times and sizes with their unit.
    static func setting(_ name: String, _ value: Setting) -> String {
        switch value {
        case .integer(let number): SettingWords.text(name, number) ?? value.description
        case .flag(let isOn): isOn ? "yes" : "no"
        case .list(let values): values.isEmpty ? "none" : values.map(\.description).joined(separator: ", ")
        default: value.description
        }
    }

    /// A figure that comparisons look at, with its unit.
    static func figure(_ value: Double, _ unit: ComparisonDocument.Unit) -> String {
        switch unit {
        case .perSecond: Units.perSecond(value)
        case .nanoseconds: Units.duration(nanoseconds: value)
        case .bytes: Units.bytes(UInt64(value))
        case .count: Units.fixed(value, places: 2)
        }
    }
}
