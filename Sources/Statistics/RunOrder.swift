import Foundation

/// What the order in which the runs of two sides were made does to tests that take runs for independent. Runs resemble their
/// neighbours, as a machine is never quite the same: where those of a side were made together, chance moves the sides further
/// apart than runs of one side differ. Where they were made in alternation it moves them less, which is not made use of.
package struct RunOrder: Sendable, Equatable {
    /// Of a run with the next one: what is allowed for. How much it is cannot be known from a few runs.
    package static let correlation = 0.3

    /// Of runs that owe nothing to their order.
    package static let independent = RunOrder(stretch: 1)

    /// By which factor the distance of the sides deviates further, held against what runs of a side differ by, than of independent
    /// runs; at least 1. √1.86 of many runs of A and then many of B.
    package let stretch: Double

    private init(stretch: Double) { self.stretch = stretch }

    /// Of runs in the order of time, each of B or of A, with an autoregressive process of the first order: the variance of the
    /// difference of both means, and what that of a side's values is expected to be estimated as.
    package init(isB: [Bool]) {
        let (b, a) = (isB.count { $0 }, isB.count { !$0 })
        guard a > 1, b > 1 else {
            self = .independent
            return
        }
        let (ofA, ofB) = (1 / Double(a), 1 / Double(b))
        let apart = Self.variance(isB.map { $0 ? ofB : -ofA })
        let within = (a: Self.variance(isB.map { $0 ? 0 : ofA }), b: Self.variance(isB.map { $0 ? ofB : 0 }))
        let seen = (Double(a) * (1 - within.a) + Double(b) * (1 - within.b)) / Double(a + b - 2)
        self.init(stretch: max(1, apart / (ofA + ofB) / seen).squareRoot())
    }

    /// All runs of one side, and then all of the other.
    package init(before: Int, after: Int) {
        self.init(isB: Array(repeating: false, count: before) + Array(repeating: true, count: after))
    }

    /// What a p-value of independent runs comes to: that of a normal figure which deviates so much further.
    package func p(_ p: Double) -> Double { stretch == 1 ? p : erfc(Self.deviations(p) / stretch) }

    /// The p-value of independent runs that comes to this one.
    package func independentP(_ p: Double) -> Double { Self.independentP(p, stretch: stretch) }

    /// What an interval covers of runs that owe nothing to their order, 0…1: it was made wider for nothing.
    package static func independentCoverage(_ coverage: Double, stretch: Double) -> Double {
        1 - independentP(1 - coverage, stretch: stretch)
    }

    private static func independentP(_ p: Double, stretch: Double) -> Double {
        stretch == 1 ? p : erfc(deviations(p) * stretch)
    }

    /// Of a sum with these weights of values with a variance of 1.
    private static func variance(_ weights: [Double]) -> Double {
        // What is left of the weights before, at this one's distance from them.
        var (sum, before) = (0.0, 0.0)
        for weight in weights {
            sum += weight * (weight + 2 * before)
            before = correlation * (before + weight)
        }
        return sum
    }

    /// The x of erfc(x) = p.
    private static func deviations(_ p: Double) -> Double {
        guard p < 1 else { return 0 }
        var (low, high) = (0.0, 27.0)
        for _ in 0..<80 {
            let middle = (low + high) / 2
            if erfc(middle) > p { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}
