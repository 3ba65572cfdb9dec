/// The figures of a latency, by the names the document has for them.
package enum LatencyFigure: String, Sendable, CaseIterable {
    case min, mean, p50, p90, p99
    case p999 = "p99_9"
    case max
}

extension ResultDocument.Latency {
    /// Nanoseconds; where `isCensored`, what is only known to be exceeded.
    package func value(_ figure: LatencyFigure) -> Double {
        switch figure {
        case .min: Double(min)
        case .mean: mean
        case .p50: Double(p50)
        case .p90: Double(p90)
        case .p99: Double(p99)
        case .p999: Double(p999)
        case .max: Double(max)
        }
    }

    /// Only known to be larger than `value`: pushes that count in it got no answer.
    package func isCensored(_ figure: LatencyFigure) -> Bool { censored.contains(figure.rawValue) }

    /// nil where there is no figure, and where it is censored.
    package func known(_ figure: LatencyFigure) -> Double? { count > 0 && !isCensored(figure) ? value(figure) : nil }
}
