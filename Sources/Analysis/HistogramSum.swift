import Measurement
import Results

/// Histograms of several results added up by name, one result at a time: memory grows with the names there are, not with the results.
struct HistogramSum {
    /// A histogram's counters by its name.
    typealias Counters = [String: [(value: UInt64, count: UInt64)]]

    private static let total = "total"
    private static let accepted = "total_accepted"
    private static let rejected = "total_rejected"

    private var sums: [String: LatencyHistogram] = [:]
    /// A result without rejections has its accepted answers in `total` alone; with any that has some they stand apart.
    private var hasRejections = false

    /// - Parameter name: of the result, for the error.
    static func counters(_ result: ResultDocument, name: String) throws(ResultMerge.Failure) -> Counters {
        var counters: Counters = [:]
        for (key, text) in result.histograms {
            do throws(HistogramCodec.Failure) { counters[key] = try HistogramCodec.countersFromLog(text) } catch {
                throw ResultMerge.Failure(description: "\(name): histograms.\(key): \(error)")
            }
        }
        return counters
    }

    /// - Parameter renamed: histograms that are added to one of another name.
    mutating func add(_ counters: Counters, renamed: [String: String] = [:]) {
        for (key, steps) in counters where key != Self.accepted { add(steps, to: renamed[key] ?? key) }
        let isApart = counters[Self.rejected] != nil
        hasRejections = hasRejections || isApart
        if let accepted = counters[isApart ? Self.accepted : Self.total] { add(accepted, to: Self.accepted) }
    }

    private mutating func add(_ steps: [(value: UInt64, count: UInt64)], to key: String) {
        // Taken out, so that it is not copied.
        var sum = sums.removeValue(forKey: key) ?? LatencyHistogram()
        for (value, count) in steps { sum.record(value, count: count) }
        sums[key] = sum
    }

    /// Adds one histogram to another and forgets it.
    mutating func move(_ key: String, to other: String) {
        guard let moved = sums.removeValue(forKey: key) else { return }
        var sum = sums.removeValue(forKey: other) ?? LatencyHistogram()
        sum.add(moved)
        sums[other] = sum
    }

    /// As `ResultDocument.censoredHistogram` has it.
    func censored(_ key: String) -> CensoredHistogram {
        CensoredHistogram(
            answered: sums[key] ?? .empty,
            unanswered: ResultDocument.unansweredKey(key).flatMap { sums[$0] } ?? .empty)
    }

    /// As results have them, without those of nothing.
    var texts: [String: String] {
        sums.filter { $0.value.count > 0 && (hasRejections || $0.key != Self.accepted) }
            .mapValues(HistogramCodec.encodeForLog)
    }
}
