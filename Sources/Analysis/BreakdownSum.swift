import Measurement
import Results

/// Breakdowns of the workers of one run as one, one worker at a time, in any order.
///
/// A dimension has at most 64 labels: the first 63 of all there are, numbers by size before words by name, and `(other)` for the rest.
/// A worker that had more labels than it may keep has some in `(other)`: of others' pushes with a label that it did not keep nobody
/// knows how many more there were, so that these are in `(other)` too.
struct BreakdownSum {
    private struct Dimension {
        /// Without latencies.
        var labels: [String: ResultDocument.Part] = [:]
        /// Labels that every worker kept which could not keep all; nil: all kept all.
        var kept: Set<String>?
    }

    private var dimensions: [String: Dimension] = [:]

    /// Adds what one worker has, its histograms to `histograms`: of labels those that it has counts of.
    mutating func add(
        _ breakdown: [String: [String: ResultDocument.Part]], _ counters: HistogramSum.Counters,
        to histograms: inout HistogramSum
    ) {
        var renamed: [String: String] = [:]
        var moved: [(key: String, other: String)] = []
        for (name, labels) in breakdown {
            var dimension = dimensions[name] ?? Dimension()
            if labels[Breakdown.other] != nil {
                let own = Set(labels.keys)
                dimension.kept = dimension.kept?.intersection(own) ?? own
            }
            for (label, part) in labels { Self.add(part, to: &dimension.labels[label]) }
            let named = dimension.labels.keys.filter { $0 != Breakdown.other }.sorted(by: Self.precedes)
            for label in named.dropFirst(Breakdown.most - 1) {
                let part = dimension.labels.removeValue(forKey: label)
                if let part { Self.add(part, to: &dimension.labels[Breakdown.other]) }
                for (key, other) in Self.keys(name, label) {
                    renamed[key] = other
                    moved.append((key, other))
                }
            }
            dimensions[name] = dimension
        }
        let own = Set(breakdown.flatMap { name, labels in labels.keys.flatMap { Self.keys(name, $0).map(\.0) } })
        histograms.add(counters.filter { !Self.isOfLabel($0.key) || own.contains($0.key) }, renamed: renamed)
        for (key, other) in moved { histograms.move(key, to: other) }
    }

    /// The whole; in `histograms` the labels that do not stand by themselves are moved too.
    func parts(_ histograms: inout HistogramSum) -> [String: [String: ResultDocument.Part]] {
        var whole: [String: [String: ResultDocument.Part]] = [:]
        for (name, dimension) in dimensions {
            var labels = dimension.labels
            for (label, part) in dimension.labels where label != Breakdown.other {
                guard let kept = dimension.kept, !kept.contains(label) else { continue }
                labels[label] = nil
                Self.add(part, to: &labels[Breakdown.other])
                for (key, other) in Self.keys(name, label) { histograms.move(key, to: other) }
            }
            for label in labels.keys {
                labels[label]?.total = .init(histograms.censored(ResultDocument.histogramKey(name, label)))
            }
            whole[name] = labels
        }
        return whole
    }

    private static func add(_ part: ResultDocument.Part, to sum: inout ResultDocument.Part?) {
        sum = ResultDocument.Part(
            accepted: part.accepted &+ (sum?.accepted ?? 0), rejected: part.rejected &+ (sum?.rejected ?? 0),
            failed: part.failed &+ (sum?.failed ?? 0), notSent: part.notSent &+ (sum?.notSent ?? 0), total: .init())
    }

    /// The names of a label's histograms, each with that of `(other)`.
    private static func keys(_ dimension: String, _ label: String) -> [(String, String)] {
        let (own, other) = (
            ResultDocument.histogramKey(dimension, label), ResultDocument.histogramKey(dimension, Breakdown.other)
        )
        guard let waits = ResultDocument.unansweredKey(own), let others = ResultDocument.unansweredKey(other) else {
            return [(own, other)]
        }
        return [(own, other), (waits, others)]
    }

    private static func isOfLabel(_ key: String) -> Bool {
        key.hasPrefix("total{") || key.hasPrefix("total_unanswered{")
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        switch (UInt64(one), UInt64(other)) {
        case (let a?, let b?): (a, one) < (b, other)
        case (.some, nil): true
        case (nil, .some): false
        case (nil, nil): one < other
        }
    }
}
