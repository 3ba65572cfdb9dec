import Analysis
import Measurement
import Results
import Settings
import Statistics

/// Two sides' runs held against each other. A difference is called when the test gives p ≤ 0.05 after Holm's correction for all
/// figures judged: of a dozen figures one in two comparisons would be called by chance. The interval of the ratio is the same
/// test turned round, of one figure. Where no difference is called, the sides are called the same within a margin when two
/// one-sided tests, each at 5 %, exclude ratios beyond it. The two distributions are judged likewise, apart from the figures.
enum ResultComparison {
    /// Why results cannot be compared, one line.
    struct Failure: Error, CustomStringConvertible, Sendable, Equatable {
        let description: String
    }

    /// The chance of calling any of the figures different where none is.
    static let level = 0.05
    /// Above which distance distributions may be said to differ; beside that, exchanging runs between the sides must not often
    /// give as large a one.
    static let leastDistance = 0.05
    /// By which figures may differ and are still called the same, unless another is asked for.
    static let margin = 0.02
    /// Of a side. Each run is held against each of the other side.
    static let mostRuns = 2000

    /// One side: its runs with the names of their files.
    struct Side: Sendable {
        let name: String
        let runs: [(path: String, result: ResultDocument)]
    }

    /// - Parameters:
    ///   - analysis: `rounds`: the sides have as many runs, and those of one place were made together.
    ///   - margin: by which figures may differ and are still called the same; above 0.
    ///   - leftOut: metrics that mean nothing here, by name.
    ///   - chosen: the only ones to judge, of `ComparedMetric.names`; none: all. Fewer figures need fewer runs.
    static func compare(
        _ a: Side, _ b: Side, by analysis: ComparisonDocument.Analysis = .groups, margin: Double = margin,
        leavingOut leftOut: Set<String> = [], judging chosen: [String] = []
    ) throws(Failure) -> ComparisonDocument {
        for side in [a, b] { try check(side) }
        for name in chosen where ComparedMetric.named(name) == nil {
            throw Failure(
                description: "metric \"\(name)\": expected one of \(ComparedMetric.names.joined(separator: ", "))")
        }
        let law = ComparisonWarnings.littlesLaw(a.runs.map(\.result), b.runs.map(\.result))
        var warnings =
            [law].compactMap { $0 }
            + ComparisonWarnings.differences(
                a.runs.map(\.result), b.runs.map(\.result), but: law == nil ? [] : ["connections", "streams"])
        for (name, side) in [("A", a), ("B", b)] {
            warnings += RunDoubts.of(side.runs.map(\.result)).map { "\(name): \($0)" }
        }
        if analysis == .groups, let order = ComparisonWarnings.order(a.runs.map(\.result), b.runs.map(\.result)) {
            warnings.append(order)
        }
        let order = analysis == .groups ? self.order(a.runs.map(\.result), b.runs.map(\.result)) : .independent
        if let shared = ComparisonWarnings.shared(a.runs.map(\.result.run.id), b.runs.map(\.result.run.id)) {
            warnings.append(shared)
        }
        var metrics: [ComparisonDocument.Metric] = []
        let all = (a.runs + b.runs).map(\.result)
        for metric in ComparedMetric.all where !leftOut.contains(metric.name) {
            guard chosen.isEmpty ? all.contains(where: metric.isOfUse) : chosen.contains(metric.name) else { continue }
            let unknown = unknown(metric, "A", a) + unknown(metric, "B", b)
            if !unknown.isEmpty {
                warnings.append("\(metric.name): not compared; \(unknown.joined(separator: "; "))")
                continue
            }
            let (valuesA, valuesB) = (a.runs.map { metric.value($0.result) }, b.runs.map { metric.value($0.result) })
            let (knownA, knownB) = (valuesA.compactMap { $0 }, valuesB.compactMap { $0 })
            if knownA.count < valuesA.count || knownB.count < valuesB.count {
                // A metric that no run has (allocations without jemalloc) is not worth a word.
                if !knownA.isEmpty || !knownB.isEmpty {
                    warnings.append("\(metric.name): not compared, some runs have no such figure")
                }
                continue
            }
            metrics.append(metric.compare(knownA, knownB, by: analysis, in: order))
        }
        let judged = ComparedMetric.judged(metrics, by: analysis, in: order, margin: margin)
        let distributions = try distributions(a, b, by: analysis, in: order)
        func described(_ side: Side) -> ComparisonDocument.Side {
            .init(name: side.name, runs: side.runs.map(\.result.run.id))
        }
        let tested = judged.count { $0.adjusted != nil }
        return ComparisonDocument(
            a: described(a), b: described(b), analysis: analysis, stretch: order.stretch, margin: margin,
            judged: tested, fewestRuns: ComparedMetric.fewestRuns(tested, by: analysis, in: order), metrics: judged,
            distributions: distributions,
            warnings: warnings)
    }

    /// A figure that is only known from below in some runs cannot be held against one that is known: why, at most one
    /// sentence.
    private static func unknown(_ metric: ComparedMetric, _ name: String, _ side: Side) -> [String] {
        let bounds = side.runs.compactMap { metric.bound($0.result) }
        guard let first = bounds.first else { return [] }
        return ["not known in \(bounds.count) of \(Units.counted(side.runs.count, "run")) of \(name) (\(first))"]
    }

    private static func check(_ side: Side) throws(Failure) {
        guard !side.runs.isEmpty else { throw Failure(description: "\(side.name): no result found") }
        guard side.runs.count <= mostRuns else {
            throw Failure(
                description: "\(side.name): \(Units.grouped(UInt64(side.runs.count))) runs; at most "
                    + "\(Units.grouped(UInt64(mostRuns))) a side can be compared")
        }
        var seen: [String: String] = [:]
        for (path, result) in side.runs {
            if result.run.interrupted || !result.run.complete {
                throw Failure(
                    description: "\(path): the run \(result.run.interrupted ? "was interrupted" : "is incomplete"); "
                        + "only whole runs can be compared")
            }
            if let other = seen.updateValue(path, forKey: result.run.id) {
                throw Failure(description: "\(path): the same run as \(other); each run counts once")
            }
        }
    }

    /// In which the runs of two sides were made: of those whose times are not told apart, one side's after the other's.
    static func order(_ a: [ResultDocument], _ b: [ResultDocument]) -> RunOrder {
        let runs = a.map { (at: $0.run.start ?? 0...0, side: 0) } + b.map { (at: $0.run.start ?? 0...0, side: 1) }
        // Which side is the first of a second's, or of a millisecond's, is not known: the order that widens intervals more.
        let orders = [0, 1].map { first in
            let times = runs.map { (at: $0.side == first ? $0.at.lowerBound : $0.at.upperBound.nextDown, run: $0) }
            return RunOrder(
                isB: times.sorted { ($0.at, $0.run.side != first ? 1 : 0) < ($1.at, $1.run.side != first ? 1 : 0) }
                    .map { $0.run.side == 1 })
        }
        return orders[0].stretch >= orders[1].stretch ? orders[0] : orders[1]
    }

    private static let distributionNames = ["total", "round_trip"]

    /// What is wrong with a result's histograms, of those that are compared; nil: nothing.
    static func unreadable(_ result: ResultDocument) -> String? {
        for name in distributionNames {
            do throws(HistogramCodec.Failure) { _ = try result.censoredHistogram(name) } catch {
                return "histograms.\(name): \(error.description)"
            }
        }
        return nil
    }

    private static func distributions(
        _ a: Side, _ b: Side, by analysis: ComparisonDocument.Analysis, in order: RunOrder
    ) throws(Failure) -> [ComparisonDocument.Distribution] {
        let names = distributionNames
        var found: [ComparisonDocument.Distribution] = []
        for name in names {
            let (runsA, runsB) = (try histograms(name, a), try histograms(name, b))
            guard let test = KolmogorovSmirnov(added(runsA), added(runsB)) else { continue }
            // A run without any has no place in its round.
            let isWhole = analysis == .groups || runsA.count == a.runs.count && runsB.count == b.runs.count
            let p =
                isWhole
                ? RunExchange.p(
                    runsA, runsB, inRounds: analysis == .rounds, level: order.independentP(level / Double(names.count)))
                : nil
            found.append(
                .init(
                    name: name, d: test.d, p: p.map(order.p), place: test.place, belowA: test.below.a,
                    belowB: test.below.b,
                    differs: nil))
        }
        // Holm's correction for the exchanges; where there are too few runs for any, nothing can be told.
        let exchanged = found.indices.filter { found[$0].p != nil }
        for (index, p) in zip(exchanged, Holm.adjusted(exchanged.compactMap { found[$0].p })) {
            found[index].p = p
            found[index].differs = p <= level && found[index].d > leastDistance
        }
        return found
    }

    private static func added(_ histograms: [LatencyHistogram]) -> LatencyHistogram {
        var sum = LatencyHistogram()
        for histogram in histograms { sum.add(histogram) }
        return sum
    }

    private static func histograms(_ name: String, _ side: Side) throws(Failure) -> [LatencyHistogram] {
        var histograms: [LatencyHistogram] = []
        for (path, result) in side.runs {
            do throws(HistogramCodec.Failure) {
                let latencies = try result.censoredHistogram(name)
                if latencies.count > 0 { histograms.append(latencies.neverAnswered) }
            } catch {
                throw Failure(description: "\(path): histograms.\(name): \(error.description)")
            }
        }
        return histograms
    }
}

extension CensoredHistogram {
    /// One histogram in which the pushes without an answer are longer than all answers, however long they were waited for.
    fileprivate var neverAnswered: LatencyHistogram {
        var all = answered
        all.record(LatencyHistogram.highest, count: unanswered.count)
        return all
    }
}
