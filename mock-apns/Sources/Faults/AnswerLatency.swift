import Glibc
import Settings

/// How long an answer takes, nanoseconds.
public enum AnswerLatency: Sendable, Equatable {
    case none
    case fixed(UInt64)
    case uniform(UInt64, UInt64)
    /// Mean and standard deviation; what falls below 0 is 0.
    case normal(UInt64, UInt64)
    /// Median, and the standard deviation of the logarithm.
    case logNormal(UInt64, Double)
    /// Values recorded before, by their share.
    case recorded(RecordedLatencies)

    /// `80ms`, `uniform 10ms 20ms`, `normal 20ms 5ms`, `lognormal 20ms 0.5`, `hdr FILE`.
    public init(parsing text: String) throws(SettingsError) {
        let words = text.split(separator: " ").map(String.init)
        func time(_ index: Int) throws(SettingsError) -> UInt64 {
            do throws(Units.ParseError) { return try Units.duration(words[index]) } catch {
                throw SettingsError(error.description)
            }
        }
        switch (words.first ?? "", words.count) {
        case ("fixed", 2): self = .fixed(try time(1))
        case ("uniform", 3):
            let (low, high) = (try time(1), try time(2))
            guard low <= high else { throw SettingsError("\"\(text)\": the shorter time comes first") }
            self = .uniform(low, high)
        case ("normal", 3): self = .normal(try time(1), try time(2))
        case ("lognormal", 3):
            guard let sigma = Double(words[2]), sigma >= 0, sigma <= 10 else {
                throw SettingsError(
                    "\"\(text)\": expected a number from 0 to 10 after the median, as in lognormal 20ms 0.5")
            }
            self = .logNormal(try time(1), sigma)
        case ("hdr", 2): self = .recorded(try RecordedLatencies(file: words[1]))
        case (_, 1): self = .fixed(try time(0))
        default:
            throw SettingsError(
                "\"\(text)\" is not a latency; expected 80ms, uniform 10ms 20ms, normal 20ms 5ms, lognormal 20ms 0.5 "
                    + "(median and the logarithm's deviation) or hdr FILE")
        }
    }

    /// The next latency.
    public func sample(_ random: inout SeededRandom) -> UInt64 {
        switch self {
        case .none: return 0
        case .fixed(let time): return time
        case .uniform(let low, let high): return low + UInt64(random.unit() * Double(high - low + 1))
        case .normal(let mean, let deviation):
            return UInt64(max(0, Double(mean) + Double(deviation) * random.gaussian()))
        case .logNormal(let median, let sigma):
            // An hour is longer than anybody waits.
            return UInt64(min(Double(median) * exp(sigma * random.gaussian()), 3.6e12))
        case .recorded(let values): return values.value(at: random.unit())
        }
    }
}
