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
    /// Values that these `shares` lie at or below; between them the distribution is a straight line.
    case measured([Double])

    /// Of `measured`, ascending, from 0 to 1; finer where the tail is.
    static let shares = [
        0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 1,
    ]

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

    /// A histogram at `shares`, ns; nil when it holds nothing.
    static func values(_ histogram: LatencyHistogram) -> [Double]? {
        histogram.count > 0 ? shares.map { Double(histogram.value(atPercentile: $0 * 100)) } : nil
    }

    var mean: Double {
        switch self {
        case .constant(let value): value
        case .uniform(let low, let high): (low + high) / 2
        case .exponential(let mean): mean
        case .lognormal(let median, let sigma): median * exp(sigma * sigma / 2)
        case .measured(let values): Self.mean(values)
        }
    }

    /// - Parameter values: at `shares`.
    private static func mean(_ values: [Double]) -> Double {
        (1..<shares.count).reduce(0) { sum, place in
            let weight = shares[place] - shares[place - 1]
            return sum + weight * (values[place - 1] + values[place]) / 2
        }
    }

    /// The same everywhere `factor` times as long.
    func scaled(by factor: Double) -> TimeDistribution {
        switch self {
        case .constant(let value): .constant(value * factor)
        case .uniform(let low, let high): .uniform(low: low * factor, high: high * factor)
        case .exponential(let mean): .exponential(mean: mean * factor)
        case .lognormal(let median, let sigma): .lognormal(median: median * factor, sigma: sigma)
        case .measured(let values): .measured(values.map { $0 * factor })
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
        case .measured(let values): Self.value(values, at: random.share())
        }
    }

    /// - Parameters:
    ///   - values: at `shares`.
    ///   - share: 0 … 1.
    private static func value(_ values: [Double], at share: Double) -> Double {
        var next = 1
        while next < shares.count - 1, shares[next] < share { next += 1 }
        let part = (share - shares[next - 1]) / (shares[next] - shares[next - 1])
        return values[next - 1] + part * (values[next] - values[next - 1])
    }

    /// Draws are all the same.
    var isConstant: Bool {
        switch self {
        case .constant: true
        case .uniform(let low, let high): low == high
        case .exponential(let mean): mean == 0
        case .lognormal(_, let sigma): sigma == 0
        case .measured(let values): values.first == values.last
        }
    }
}

extension SplitMix {
    /// 0 … below 1.
    mutating func share() -> Double { Double(next() >> 11) * 0x1p-53 }
}
