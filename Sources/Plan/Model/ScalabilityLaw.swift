import Foundation
import Statistics

/// The universal scalability law (Gunther: Guerrilla Capacity Planning, 2007): what n workers do together,
/// X(n) = λ n / (1 + σ (n − 1) + κ n (n − 1)).
struct ScalabilityLaw: Sendable, Equatable {
    /// Pushes a second of one worker.
    let rate: Double
    /// Contention: the share of the work that is done one after the other, at least 0.
    var contention = 0.0
    /// Crosstalk: what keeping workers in agreement costs, at least 0.
    var crosstalk = 0.0
    /// Different numbers of workers it was fitted to; with one of them it is a straight line.
    var points = 1
    /// Where σ and κ lie with 95 % confidence, by the covariance of the fit that lets both go below 0; nil where there are no more
    /// measured rates than unknowns, or the coefficient was not fitted.
    var contentionRange: ClosedRange<Double>?
    var crosstalkRange: ClosedRange<Double>?

    /// Pushes a second of `workers`, at least 1.
    func rate(of workers: Double) -> Double { rate * workers * efficiency(of: workers) }

    /// What is left of a worker's own rate among `workers`, 0…1.
    func efficiency(of workers: Double) -> Double {
        1 / (1 + contention * (workers - 1) + crosstalk * workers * (workers - 1))
    }

    /// The number of workers beyond which more of them do less; nil when there is none.
    var peak: Double? {
        crosstalk > 0 ? max(1, (max(0, 1 - contention) / crosstalk).squareRoot()) : nil
    }
}

/// Fitting.
extension ScalabilityLaw {
    /// The law that lies closest to measured rates (least squares of their logarithms: runs differ by a share of what they are), with σ
    /// and κ not below 0. Two numbers of workers allow for
    /// contention only, one for neither.
    ///
    /// - Parameter measured: workers (at least 1) and pushes a second (above 0).
    /// - Returns: nil when nothing was measured.
    init?(fitting measured: [(workers: Double, rate: Double)]) {
        let points = Set(measured.map(\.workers)).count
        guard points > 0, measured.allSatisfy({ $0.workers >= 1 && $0.rate > 0 && $0.rate.isFinite }) else {
            return nil
        }
        // Each term that would come out negative is left out: the best of what remains is the constrained optimum.
        let choices: [[Int]] =
            points == 1 ? [[]] : points == 2 ? [[], [1]] : [[], [1], [2], [1, 2]]
        var best: (law: ScalabilityLaw, error: Double)?
        for free in choices {
            let fitted = Self.minimise(measured, free: [0] + free)
            guard fitted.law.contention >= 0, fitted.law.crosstalk >= 0, fitted.law.rate > 0 else { continue }
            if fitted.error < (best?.error ?? .infinity) { best = fitted }
        }
        guard let law = best?.law else { return nil }
        self.init(rate: law.rate, contention: law.contention, crosstalk: law.crosstalk, points: points)
        let ranges = Self.ranges(measured, free: [0] + choices.last!)
        contentionRange = ranges[1]
        crosstalkRange = ranges[2]
    }

    /// Estimate ± t × standard error, what lies below 0 cut off: the covariance is s² (JᵀJ)⁻¹ with J the slopes at the minimum and s²
    /// what is left of the squares over the degrees of freedom (Bates and Watts: Nonlinear Regression Analysis, 1988, section
    /// 2.1); SciPy's `curve_fit` and R's `nls` say the same.
    private static func ranges(
        _ measured: [(workers: Double, rate: Double)], free: [Int]
    ) -> [Int: ClosedRange<Double>] {
        let degrees = measured.count - free.count
        guard degrees > 0 else { return [:] }
        let scale = measured.map(\.rate).max()!
        let fitted = minimise(measured, free: free)
        let p = [fitted.law.rate / scale, fitted.law.contention, fitted.law.crosstalk]
        let slopes = measured.map { Self.relativeSlopes(p, $0.workers) }
        let normal = free.map { a in free.map { b in slopes.reduce(0) { $0 + $1[a] * $1[b] } } }
        let quantile = StudentDistribution.quantile(0.975, degrees: degrees)
        var ranges: [Int: ClosedRange<Double>] = [:]
        for (index, a) in free.enumerated() {
            let unit = free.indices.map { $0 == index ? 1.0 : 0 }
            guard let column = LinearSystem.solve(normal, unit), column[index] >= 0 else { continue }
            let reach = quantile * (fitted.error / Double(degrees) * column[index]).squareRoot()
            guard reach.isFinite, p[a].isFinite else { continue }
            ranges[a] = max(0, p[a] - reach)...max(0, p[a] + reach)
        }
        return ranges
    }

    /// Levenberg and Marquardt's method, over rates in units of the largest one.
    ///
    /// - Parameter free: which of λ (0), σ (1) and κ (2) may move; the others are 0.
    private static func minimise(
        _ measured: [(workers: Double, rate: Double)], free: [Int]
    ) -> (law: ScalabilityLaw, error: Double) {
        let scale = measured.map(\.rate).max()!
        let data = measured.map { (n: $0.workers, y: $0.rate / scale) }
        func error(_ p: [Double]) -> Double {
            data.reduce(0) { sum, point in
                let difference = log(value(p, point.n) / point.y)
                return sum + difference * difference
            }
        }
        var p = [data.map { $0.y / $0.n }.max()!, 0, 0]
        var now = error(p)
        var damping = 1e-3
        for _ in 0..<500 {
            var normal = [[Double]](repeating: [Double](repeating: 0, count: free.count), count: free.count)
            var gradient = [Double](repeating: 0, count: free.count)
            for point in data {
                let slope = relativeSlopes(p, point.n)
                let difference = log(point.y / value(p, point.n))
                for (row, a) in free.enumerated() {
                    gradient[row] += slope[a] * difference
                    for (column, b) in free.enumerated() { normal[row][column] += slope[a] * slope[b] }
                }
            }
            for index in free.indices { normal[index][index] *= 1 + damping }
            guard let step = LinearSystem.solve(normal, gradient) else { break }
            var next = p
            for (index, a) in free.enumerated() { next[a] += step[index] }
            let there = error(next)
            if there.isFinite, there <= now {
                let moved = zip(p, next).map { abs($0 - $1) / max(1e-12, abs($0)) }.max()!
                (p, now) = (next, there)
                damping = max(damping / 10, 1e-15)
                if moved < 1e-14 { break }
            } else {
                damping *= 10
                if damping > 1e15 { break }
            }
        }
        return (ScalabilityLaw(rate: p[0] * scale, contention: p[1], crosstalk: p[2]), now)
    }

    private static func value(_ p: [Double], _ n: Double) -> Double {
        p[0] * n / (1 + p[1] * (n - 1) + p[2] * n * (n - 1))
    }

    /// Of the logarithm.
    private static func relativeSlopes(_ p: [Double], _ n: Double) -> [Double] {
        let below = 1 + p[1] * (n - 1) + p[2] * n * (n - 1)
        return [1 / p[0], -(n - 1) / below, -n * (n - 1) / below]
    }
}
