import Foundation
import Statistics

/// What runs of the same thing differ by, as factors around 1: the truth that intervals and verdicts are held against.
enum Noise: String, CaseIterable {
    case logNormal = "log-normal"
    /// Student's t with three degrees of freedom, as logarithms: now and then a run is far out.
    case heavy = "heavy tails"
    /// Log-normal, and each run like the one before it: a correlation of 0.3.
    case correlated

    /// Of one run to the next.
    static let correlation = 0.3

    /// - Parameters:
    ///   - count: in the order of time.
    ///   - spread: the scale of the logarithms.
    func factors(_ count: Int, spread: Double, _ random: inout SplitMix) -> [Double] {
        var last = Self.normal(&random)
        return (0..<count).map { _ in
            switch self {
            case .logNormal: return exp(spread * Self.normal(&random))
            case .heavy:
                let square = (0..<3).reduce(0) { sum, _ in
                    let value = Self.normal(&random)
                    return sum + value * value
                }
                return exp(spread * Self.normal(&random) / (square / 3).squareRoot())
            case .correlated:
                last =
                    Self.correlation * last + (1 - Self.correlation * Self.correlation).squareRoot()
                    * Self.normal(&random)
                return exp(spread * last)
            }
        }
    }

    /// Box and Muller's.
    private static func normal(_ random: inout SplitMix) -> Double {
        (-2 * log(Double.random(in: 1e-300..<1, using: &random))).squareRoot()
            * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }
}
