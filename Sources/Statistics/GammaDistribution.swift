import Foundation

/// The gamma distribution of rate 1: how long so many events of a Poisson process take.
package enum GammaDistribution {
    /// The chance of a value at or below `x`: the regularised incomplete gamma function, as a series below the mean and as a continued
    /// fraction above it (Abramowitz and Stegun, Handbook of Mathematical Functions, 6.5.29 and 6.5.31). Beyond a shape of 10,000 the
    /// cube root of a value is normal (Wilson, Hilferty: The Distribution of Chi-square, 1931), to within 10⁻⁶.
    ///
    /// - Parameter shape: above 0.
    package static func cumulative(_ x: Double, shape: Double) -> Double {
        guard x > 0, shape > 0 else { return 0 }
        guard x.isFinite else { return 1 }
        if shape > 1e4 {
            let spread = 1 / (9 * shape)
            return erfc(-(cbrt(x / shape) - (1 - spread)) / (2 * spread).squareRoot()) / 2
        }
        let scale = exp(shape * log(x) - x - lgamma(shape))
        if x < shape + 1 {
            var (term, sum, next) = (1 / shape, 1 / shape, shape)
            while term > sum * 1e-16 {
                next += 1
                term *= x / next
                sum += term
            }
            return min(1, sum * scale)
        }
        // Lentz's method.
        let tiny = 1e-300
        var b = x + 1 - shape
        var (c, d) = (1 / tiny, 1 / b)
        var fraction = d
        for step in 1...10_000 {
            let a = -Double(step) * (Double(step) - shape)
            b += 2
            d = a * d + b
            d = 1 / (abs(d) < tiny ? tiny : d)
            c = b + a / c
            if abs(c) < tiny { c = tiny }
            fraction *= d * c
            if abs(d * c - 1) < 1e-15 { break }
        }
        return max(0, 1 - scale * fraction)
    }
}
