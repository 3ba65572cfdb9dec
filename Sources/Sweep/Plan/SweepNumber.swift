import Scenarios
import Settings

/// How the values of a setting that is a number are read and written.
struct SweepNumber {
    enum Unit { case count, rate, duration, bytes, plain }
    let unit: Unit

    /// nil for settings that are texts.
    init?(_ key: ScenarioKey) {
        switch key.kind {
        case .count: unit = .count
        case .rate: unit = .rate
        case .duration: unit = .duration
        case .bytes: unit = .bytes
        case .number: unit = .plain
        default: return nil
        }
    }

    /// nil when the text is none of these numbers, or too large to be computed with exactly.
    func read(_ text: String) -> Double? {
        let value: Double? =
            switch unit {
            case .count: (try? Units.count(text)).map { Double($0) }
            case .rate: try? Units.rate(text)
            case .duration: (try? Units.duration(text)).map { Double($0) }
            case .bytes: (try? Units.bytes(text)).map { Double($0) }
            case .plain: UInt64(text).map { Double($0) }
            }
        return value.flatMap { $0 <= 9e15 ? $0 : nil }
    }

    /// The shortest text that `read` gives the same of: whole numbers, but for rates.
    func write(_ value: Double) -> String {
        let whole = UInt64(max(0, value).rounded())
        switch unit {
        case .count, .plain: return "\(whole)"
        case .rate:
            guard value != value.rounded() else { return "\(whole)" }
            var text = Units.fixed(value, places: 3)
            while text.hasSuffix("0") { text.removeLast() }
            return text.hasSuffix(".") ? String(text.dropLast()) : text
        case .duration: return whole == 0 ? "0ms" : Units.written(duration: whole)
        case .bytes: return whole == 0 ? "0" : Units.written(bytes: Int(whole))
        }
    }
}
