import Results
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

    /// `-` for each when nothing was recorded.
    static func latencies(_ latency: ResultDocument.Latency, _ paths: [KeyPath<ResultDocument.Latency, UInt64>])
        -> [String]
    {
        paths.map { latency.count > 0 ? time(latency[keyPath: $0]) : "-" }
    }

    /// A figure that comparisons look at, with its unit.
    static func figure(_ value: Double, _ unit: ComparisonDocument.Unit) -> String {
        switch unit {
        case .perSecond: "\(Units.grouped(UInt64(value.rounded())))/s"
        case .nanoseconds: Units.duration(nanoseconds: value)
        case .bytes: Units.bytes(UInt64(value))
        case .count: Units.fixed(value, places: 2)
        }
    }
}
