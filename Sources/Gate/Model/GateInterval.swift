import Foundation
import Statistics

/// By which factor a cost grew, as far as rounds tell, and what that means; of a gain turned upside down.
struct GateInterval: Sendable, Equatable {
    let ratio: Double
    /// 0 and infinite where there are too few rounds for the end.
    let low: Double
    let high: Double
    /// Of the rounds and those of the baseline, from one to the next; nil for pairs, which need not be independent.
    let correlation: SerialCorrelation?
    let verdict: GateDocument.Verdict

    /// Rounds against a baseline's, both in the order in which they were made. nil when a value is not above 0.
    ///
    /// - Parameter limit: the ratio that is tolerated; nil: the rules'.
    init?(_ baseline: [Double], _ rounds: [Double], _ rules: GateRules, limit: Double? = nil) {
        guard (baseline + rounds).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
        let correlation = SerialCorrelation([baseline, rounds].map { $0.map { log($0) } })
        self.init(
            rounds, limit ?? rules.limit, correlation,
            HodgesLehmann(
                baseline, rounds, lowError: rules.lowError, highError: rules.highError,
                stretch: correlation?.stretch ?? 1)
        ) { HodgesLehmann(baseline, $0, lowError: 0.5, highError: 0.5)?.ratio }
    }

    /// Pairs, each the ratio of this build to the base. nil when one is not above 0.
    init?(pairs: [Double], _ rules: GateRules, limit: Double? = nil) {
        self.init(
            pairs, limit ?? rules.limit, nil,
            HodgesLehmann(ratios: pairs, lowError: rules.lowError, highError: rules.highError)
        ) { HodgesLehmann(ratios: $0, lowError: 0.5, highError: 0.5)?.ratio }
    }

    /// - Parameter estimate: the ratio that some of the values say by themselves.
    private init?(
        _ values: [Double], _ limit: Double, _ correlation: SerialCorrelation?, _ whole: HodgesLehmann?,
        _ estimate: ([Double]) -> Double?
    ) {
        guard let whole else { return nil }
        (ratio, low, high) = (whole.ratio, whole.low, whole.high)
        self.correlation = correlation
        /// Either half of the rounds lies above the tolerance by itself.
        func isShownTwice() -> Bool {
            [values[..<(values.count / 2)], values[(values.count / 2)...]].allSatisfy {
                estimate(Array($0)).map { $0 > limit } ?? false
            }
        }
        if low > limit, values.count >= GateRules.fewestForRegression, isShownTwice() {
            verdict = .regression
        } else {
            verdict = high < 1 / limit ? .improved : high < limit ? .pass : .cannotTell
        }
    }
}
