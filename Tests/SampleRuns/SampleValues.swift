import Foundation

package enum SampleValues {
    /// `count` values whose logarithms are normal around `shift`, with a spread of 0.05.
    package static func make(_ count: Int, _ shift: Double, _ random: inout some RandomNumberGenerator) -> [Double] {
        (0..<count).map { _ in
            let radius = (-2 * log(Double.random(in: 1e-12..<1, using: &random))).squareRoot()
            return exp(shift + 0.05 * radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random)))
        }
    }
}
