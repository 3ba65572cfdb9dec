import Foundation

/// Student's t distribution for whole degrees of freedom.
package enum StudentDistribution {
    /// What 97.5 % lie below with degrees of freedom without end, as in the normal distribution.
    package static let normal = 1.959963984540054

    /// The chance of a value at or below `t`; Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    package static func cumulative(_ t: Double, degrees: Int) -> Double {
        let angle = atan(t / Double(degrees).squareRoot())
        let (sine, square) = (sin(angle), cos(angle) * cos(angle))
        var within: Double
        if degrees % 2 == 1 {
            var term = cos(angle)
            var sum = degrees > 1 ? term : 0
            for step in stride(from: 3, through: degrees - 2, by: 2) {
                term *= square * Double(step - 1) / Double(step)
                sum += term
            }
            within = 2 / Double.pi * (angle + sine * sum)
        } else {
            var term = 1.0
            var sum = 1.0
            for step in stride(from: 2, through: degrees - 2, by: 2) {
                term *= square * Double(step - 1) / Double(step)
                sum += term
            }
            within = sine * sum
        }
        within = min(1, max(-1, within))
        return (1 + within) / 2
    }

    /// The value at or below which a share of the distribution lies.
    ///
    /// - Parameters:
    ///   - share: 0.5 … 0.9999.
    ///   - degrees: at least 1.
    package static func quantile(_ share: Double, degrees: Int) -> Double {
        var (low, high) = (0.0, 1000.0)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            if cumulative(middle, degrees: degrees) < share { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
