import Foundation

/// Latencies whose percentiles are known, nanoseconds.
enum Noise: String, CaseIterable {
    /// Independent of each other: the logarithm is normal, with a standard deviation of 0.5.
    case lognormal = "log-normal"
    /// Independent, with a tail so heavy that the variance is infinite: Pareto, exponent 1.5.
    case pareto = "Pareto, exponent 1.5"
    /// The same as the first, but half of the logarithm's variance is a first-order autoregression over pushes, which forgets 63 % of
    /// where it was in 200 or 2,000 pushes: 10 and 100 ms.
    case wandering = "log-normal, wandering within 10 ms"
    case slow = "log-normal, wandering within 100 ms"

    static let middle = 1e6
    private static let spread = 0.5
    private static let tail = 1.5

    /// - Parameter share: 0…1.
    func percentile(_ share: Double) -> Double {
        switch self {
        case .lognormal, .wandering, .slow: Self.middle * exp(Self.spread * Self.normalQuantile(share))
        case .pareto: Self.middle * pow(1 - share, -1 / Self.tail)
        }
    }

    /// By halving.
    private static func normalQuantile(_ share: Double) -> Double {
        var (low, high) = (-10.0, 10.0)
        for _ in 0..<200 {
            let middle = (low + high) / 2
            if erfc(-middle / 2.0.squareRoot()) / 2 < share { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// One latency after the other.
    struct Source {
        private let noise: Noise
        private var random: Random
        private var spare: Double?
        private var level = 0.0
        private let memory: Double
        private let step: Double

        init(_ noise: Noise, seed: UInt64) {
            self.noise = noise
            random = Random(seed: seed)
            memory = exp(-1 / (noise == .slow ? 2000.0 : 200))
            step = (1 - memory * memory).squareRoot()
            level = normal()
        }

        private mutating func normal() -> Double {
            if let spare {
                self.spare = nil
                return spare
            }
            let radius = (-2 * log(1 - random.share())).squareRoot()
            let angle = 2 * Double.pi * random.share()
            spare = radius * sin(angle)
            return radius * cos(angle)
        }

        mutating func next() -> UInt64 {
            switch noise {
            case .lognormal: return UInt64(Noise.middle * exp(Noise.spread * normal()))
            case .pareto: return UInt64(min(Noise.middle * pow(1 - random.share(), -1 / Noise.tail), 1e15))
            case .wandering, .slow:
                level = memory * level + step * normal()
                return UInt64(Noise.middle * exp(Noise.spread * (level + normal()) / 2.0.squareRoot()))
            }
        }
    }
}

/// SplitMix64.
struct Random {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0xD134_2543_DE82_EF95 &+ 1 }

    /// 0 ..< 1.
    mutating func share() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ mixed >> 31) >> 11) * 0x1p-53
    }
}
