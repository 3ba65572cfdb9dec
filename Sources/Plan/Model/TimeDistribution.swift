import Foundation
import Measurement
import Settings
import Statistics

/// How long something takes, drawn anew each time. Nanoseconds.
enum TimeDistribution: Sendable, Equatable {
    case constant(Double)
    case uniform(low: Double, high: Double)
    case exponential(mean: Double)
    /// `sigma`: standard deviation of the logarithm.
    case lognormal(median: Double, sigma: Double)
    /// Values that are equally likely, at least one.
    case recorded([Double])

    /// As the mock's `--latency` is written: `80ms`, `uniform 10ms 30ms`, `lognormal 20ms 0.5`; also `exponential 20ms`.
    init(parsing text: String) throws(SettingsError) {
        let words = text.split(separator: " ").map(String.init)
        let wrong = SettingsError(
            "\"\(text)\": expected for example 20ms, uniform 10ms 30ms, exponential 20ms or lognormal 20ms 0.5")
        func time(_ word: String) throws(SettingsError) -> Double {
            do throws(Units.ParseError) { return Double(try Units.duration(word)) } catch { throw wrong }
        }
        switch (words.first, words.count) {
        case ("uniform", 3):
            let (low, high) = (try time(words[1]), try time(words[2]))
            guard low <= high else { throw wrong }
            self = .uniform(low: low, high: high)
        case ("exponential", 2): self = .exponential(mean: try time(words[1]))
        case ("lognormal", 3):
            guard let sigma = Double(words[2]), sigma >= 0, sigma <= 5 else { throw wrong }
            self = .lognormal(median: try time(words[1]), sigma: sigma)
        case (_, 1): self = .constant(try time(words[0]))
        default: throw wrong
        }
    }

    /// At most 1,000 values that stand for a histogram; nil when it holds nothing.
    init?(_ histogram: LatencyHistogram) {
        guard histogram.count > 0 else { return nil }
        let steps = 1000
        self = .recorded(
            (0..<steps).map { Double(histogram.value(atPercentile: (Double($0) + 0.5) / Double(steps) * 100)) })
    }

    var mean: Double {
        switch self {
        case .constant(let value): value
        case .uniform(let low, let high): (low + high) / 2
        case .exponential(let mean): mean
        case .lognormal(let median, let sigma): median * exp(sigma * sigma / 2)
        case .recorded(let values): values.reduce(0, +) / Double(values.count)
        }
    }

    /// The same everywhere `factor` times as long.
    func scaled(by factor: Double) -> TimeDistribution {
        switch self {
        case .constant(let value): .constant(value * factor)
        case .uniform(let low, let high): .uniform(low: low * factor, high: high * factor)
        case .exponential(let mean): .exponential(mean: mean * factor)
        case .lognormal(let median, let sigma): .lognormal(median: median * factor, sigma: sigma)
        case .recorded(let values): .recorded(values.map { $0 * factor })
        }
    }

    func draw(_ random: inout SplitMix) -> Double {
        switch self {
        case .constant(let value): value
        case .uniform(let low, let high): low + (high - low) * random.share()
        case .exponential(let mean): -mean * log(1 - random.share())
        case .lognormal(let median, let sigma):
            // Box and Muller's transformation.
            median
                * exp(sigma * (-2 * log(1 - random.share())).squareRoot() * cos(2 * Double.pi * random.share()))
        case .recorded(let values): values[random.below(values.count)]
        }
    }
}

extension SplitMix {
    /// 0 … below 1.
    mutating func share() -> Double { Double(next() >> 11) * 0x1p-53 }
}
