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

    /// Share of the draws that are longer than `time`.
    func share(over time: Double) -> Double {
        switch self {
        case .constant(let value): return value > time ? 1 : 0
        case .uniform(let low, let high):
            guard high > low else { return low > time ? 1 : 0 }
            return min(1, max(0, (high - time) / (high - low)))
        case .exponential(let mean): return time > 0 ? exp(-time / mean) : 1
        case .lognormal(let median, let sigma):
            guard sigma > 0 else { return median > time ? 1 : 0 }
            return time > 0 ? Self.normalTail(log(time / median) / sigma) : 1
        case .measured(let values):
            return Self.pieces(values).reduce(0) { $0 + $1.weight * $1.piece.share(over: time) }
        }
    }

    /// By how much draws are longer than `time`, on average, counted as 0 where they are not: the integral of `share(over:)` from there on.
    func excess(over time: Double) -> Double {
        switch self {
        case .constant(let value): return max(0, value - time)
        case .uniform(let low, let high):
            guard time > low, high > low else { return max(0, mean - time) }
            let rest = max(0, high - time)
            return rest * rest / (2 * (high - low))
        case .exponential(let mean): return time > 0 ? mean * exp(-time / mean) : mean - time
        case .lognormal(let median, let sigma):
            guard time > 0, sigma > 0 else { return max(0, mean - time) }
            let far = log(time / median) / sigma
            return max(0, mean * Self.normalTail(far - sigma) - time * Self.normalTail(far))
        case .measured(let values):
            return Self.pieces(values).reduce(0) { $0 + $1.weight * $1.piece.excess(over: time) }
        }
    }

    /// Share of the normal distribution beyond so many standard deviations.
    private static func normalTail(_ far: Double) -> Double { erfc(far / 2.0.squareRoot()) / 2 }

    private static func pieces(_ values: [Double]) -> [(weight: Double, piece: TimeDistribution)] {
        (1..<shares.count).map { place in
            (shares[place] - shares[place - 1], .uniform(low: values[place - 1], high: values[place]))
        }
    }

    /// When the last of so many is through, counted from when the last began; they begin at equal distances over a time.
    ///
    /// All are with the product of their chances. Of the one that began last that is taken as it is; of the others its logarithm, summed up
    /// as an integral, is the share that takes longer, and so little more that it matters to small chances only.
    ///
    /// - Parameters:
    ///   - count: at least 1.
    ///   - span: 0: all at once.
    ///   - chance: that all are through by then, between 0 and 1.
    func last(of count: Double, over span: Double, chance: Double) -> Double {
        guard !isConstant, mean > 0 else { return mean }
        let distance = span / max(1, count - 1)
        let areApart = distance > 1e-12 * mean
        func isThrough(_ time: Double) -> Bool {
            let own = -log1p(-share(over: time))
            let first = time + distance / 2
            var others = (count - 1) * own
            if areApart {
                others = (excess(over: first) - excess(over: first + span)) / distance
                if chance < Self.largeChance { others += surplus(from: first, over: span) / distance }
            }
            return own + (count > 1 ? others : 0) <= -log(chance)
        }
        var (low, high) = (0.0, mean)
        while !isThrough(high), high < 1e30 { (low, high) = (high, high * 2) }
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if isThrough(middle) { high = middle } else { low = middle }
        }
        return high
    }

    /// Above it, what `last` leaves out does not show.
    private static let largeChance = 0.9

    /// By how much −ln (1 − x) is more than x, the share of the draws that are longer, as an integral over a time.
    private func surplus(from first: Double, over span: Double) -> Double {
        func more(_ time: Double) -> Double {
            let share = share(over: time)
            return -log1p(-share) - share
        }
        var (sum, time, step) = (0.0, first, max(first, 1e-3 * mean) / 32)
        while time < first + span, share(over: time) > 1e-4, sum.isFinite {
            let width = min(step, first + span - time)
            // Simpson's rule.
            sum += (more(time) + 4 * more(time + width / 2) + more(time + width)) / 6 * width
            (time, step) = (time + width, step * 1.1)
        }
        return sum
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

    /// What is left at some moment of what is under way then: the longer it takes, the more of the time it is.
    func rest(_ random: inout SplitMix) -> Double { random.share() * drawUnderWay(&random) }

    /// All of what is under way at some moment.
    private func drawUnderWay(_ random: inout SplitMix) -> Double {
        switch self {
        case .constant(let value): return value
        case .uniform(let low, let high): return (low * low + random.share() * (high * high - low * low)).squareRoot()
        case .exponential: return draw(&random) + draw(&random)
        case .lognormal(let median, let sigma):
            return Self.lognormal(median: median * exp(sigma * sigma), sigma: sigma).draw(&random)
        case .measured(let values):
            var left = random.share() * mean
            for (weight, piece) in Self.pieces(values) {
                left -= weight * piece.mean
                if left < 0 { return piece.drawUnderWay(&random) }
            }
            return values.last ?? 0
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
