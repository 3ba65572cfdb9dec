import Foundation

@testable import Measurement

/// Made-up answers, as intervals of a tenth of a second (now and then half as long again): Poisson or even numbers of them,
/// with lognormal latencies of which some are three to seventy times as long.
struct SteadyFeed {
    /// Answers a second, by the time in seconds.
    var rate: (Double) -> Double
    /// Median latency in nanoseconds, by the time.
    var latency: (Double) -> Double
    /// Pushes due and not yet answered; by default what Little's law says.
    var unanswered: ((Double) -> Double)?
    /// Standard deviation of the latencies' logarithms, and the share of long ones.
    var sigma = 0.6
    var tail = 0.01
    var isPoisson = true
    /// The level's own noise: standard deviation of its logarithm, and what of it stays from one interval to the next.
    var wander = (deviation: 0.0, stays: 0.0)

    /// When it was found steady, seconds; nil when not before `end`.
    func find(seed: UInt64, until end: Double) -> Double? {
        var random = Noise(state: seed)
        var steady = SteadyState()
        let law = Law(sigma: sigma, tail: tail)
        var time = 0.0
        var off = random.normal()
        while time < end {
            let seconds = random.uniform() < 0.15 ? 0.15 : 0.1
            let middle = time + seconds / 2
            time += seconds
            off = wander.stays * off + (1 - wander.stays * wander.stays).squareRoot() * random.normal()
            let mean = rate(middle) * seconds
            let level = log(latency(middle)) + wander.deviation * off
            guard var interval = law.draw(mean, level: level, isPoisson: isPoisson, &random) else { continue }
            interval.seconds = seconds
            interval.unanswered = unanswered?(time) ?? random.poisson(rate(time) * latency(time) / 1e9)
            if steady.look(interval) { return time }
        }
        return nil
    }

    /// How many of the seeds 1 … `seeds` it was found within `range` for, and the seeds it was not.
    func share(of seeds: UInt64, foundIn range: ClosedRange<Double>) -> (share: Double, others: [UInt64: Double]) {
        var others: [UInt64: Double] = [:]
        for seed in 1...seeds {
            let found = find(seed: seed, until: range.upperBound) ?? .infinity
            if !range.contains(found) { others[seed] = found }
        }
        return (1 - Double(others.count) / Double(seeds), others)
    }
}

/// Latencies' logarithms about their median, as the middles of a few bins and their shares.
private struct Law {
    private let bins: [(value: Double, share: Double)]

    init(sigma: Double, tail: Double) {
        let places = sigma > 0 ? (0...20).map { -3.5 + 0.35 * Double($0) } : [0]
        let whole = places.reduce(0) { $0 + exp(-$1 * $1 / 2) }
        var bins = places.map { (sigma * $0, (1 - tail) * exp(-$0 * $0 / 2) / whole) }
        if tail > 0 { bins += (0..<10).map { (log(3) + 0.35 * Double($0), tail / 10) } }
        self.bins = bins.sorted { $0.0 < $1.0 }
    }

    /// A Poisson number for each bin makes a Poisson number of them all; an even number is cut to size.
    func draw(_ mean: Double, level: Double, isPoisson: Bool, _ random: inout Noise) -> AnswerInterval? {
        let counts = bins.map { random.poisson(mean * $0.share) }
        let drawn = counts.reduce(0, +)
        guard drawn > 0, isPoisson || mean >= 1 else { return nil }
        var (first, second, seen) = (0.0, 0.0, 0.0)
        var high = bins[0].value
        for (bin, count) in zip(bins, counts) {
            if seen < 0.9 * drawn { high = bin.value }
            seen += count
            first += count * bin.value
            second += count * bin.value * bin.value
        }
        let off = first / drawn
        return AnswerInterval(
            seconds: 0, answers: isPoisson ? drawn : mean.rounded(), level: level + off,
            variance: max(0, second / drawn - off * off), high: level + high, unanswered: 0)
    }
}

/// SplitMix64 and what is drawn with it.
struct Noise {
    var state: UInt64

    mutating func uniform() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return (Double((mixed ^ mixed >> 31) >> 11) + 0.5) / 0x1p53
    }

    mutating func normal() -> Double { (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform()) }

    /// From 30 on, of a normal distribution.
    mutating func poisson(_ mean: Double) -> Double {
        if mean >= 30 { return max(0, (mean + mean.squareRoot() * normal()).rounded()) }
        let place = uniform()
        var (count, share) = (0.0, exp(-mean))
        var seen = share
        while place > seen, count < 200 {
            count += 1
            share *= mean / count
            seen += share
        }
        return count
    }
}
