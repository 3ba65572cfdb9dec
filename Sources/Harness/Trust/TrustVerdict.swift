import Foundation
import Measurement
import Results
import Scenarios
import Settings
import Statistics

/// Whether a run's figures may be believed: what its blocks say of each percentile, how pushes were begun, and whether the figure it
/// went on for is known.
struct TrustVerdict {
    let section: ResultDocument.Trust

    /// - Parameters:
    ///   - generator: as judged.
    ///   - lateness: of the generator, which is told already: a change that this may have made is no other fact.
    ///   - start: when the run began, ns of the monotonic clock; 0: it did not.
    init(
        _ outcome: LoadOutcome, inputs: RunInputs, generator: ResultDocument.Generator,
        lateness: GeneratorEffect? = nil,
        start: UInt64
    ) {
        var section = ResultDocument.Trust()
        var doubts: [String] = []
        var found: [(name: String, figure: BlockFigure)] = []
        let (from, to) = (outcome.blocks.first?.from ?? 0, outcome.blocks.last?.to ?? 0)
        // Nothing measured lies on both sides of the others. Times of stages are sums, and rounded.
        let turns = (inputs.schedule?.turns ?? []).filter { $0.upperBound > from + 1e-6 && $0.lowerBound < to - 1e-6 }
        for (name, percentile) in Precision.figures {
            let isSought = inputs.precision?.percentile == percentile
            guard
                let figure = BlockFigure(
                    percentile, outcome.blocks, isSought: isSought,
                    leastChange: max(
                        BlockFigure.leastChange, inputs.pacingSpread(percentile, sent: outcome.throughput.sent)),
                    limits: Self.limits(percentile, inputs), turns: turns)
            else { continue }
            found.append((name, figure))
            section.figures[name.replacing(".", with: "_")] = Self.document(figure)
        }
        let changes = found.compactMap { name, figure in
            figure.shift.flatMap { shift -> Change? in
                let size = max(shift.before, shift.after) - min(shift.before, shift.after)
                guard !shift.isAskedFor, size > lateness?.excess ?? 0 else { return nil }
                return Change(name: name, shift: shift, room: figure.blockSeconds)
            }
        }
        doubts += Self.words(changes)
        doubts += Self.swings(found.filter { ($0.figure.swing.map { $0.slow - $0.fast } ?? 0) > lateness?.excess ?? 0 })
        // What drifts hangs together, too, and so does what follows the stages.
        let dependent = found.filter { $0.figure.without == .notIndependent && $0.figure.isWandering }
        if let figure = dependent.first?.figure, changes.isEmpty, turns.isEmpty, lateness == nil {
            doubts.append(
                "\(Units.listed(dependent.map(\.name))): blocks of \(Units.duration(nanoseconds: figure.blockSeconds * 1e9)) resemble the "
                    + "ones before (correlation of ranks \(Units.fixed(figure.correlation ?? 0, places: 2))): figures wander more slowly than the "
                    + "run is long enough for")
        }
        let arrivals = ArrivalVerdict(outcome, inputs: inputs, start: start)
        if let arrivals {
            section.arrivals = arrivals.section
            if let doubt = arrivals.doubt, !(arrivals.isOwn && lateness != nil) { doubts.append(doubt) }
        }
        if let precision = inputs.precision {
            let figure = found.first { $0.figure.percentile == precision.percentile }?.figure
            let isLate = arrivals.map { !$0.section.kept && $0.isOwn } ?? false
            section.until = Self.until(precision, figure, outcome, generator, isLate: isLate)
        }
        section.doubts = doubts
        self.section = section
    }

    private static func written(_ time: UInt64) -> String { Units.duration(nanoseconds: Double(time)) }

    /// What the run's thresholds allow of a percentile, ns.
    private static func limits(_ percentile: Double, _ inputs: RunInputs) -> [UInt64] {
        inputs.scenario.parsedThresholds.compactMap { threshold in
            guard case .latency(Stage.total.key, .percentile(percentile), nil) = threshold.metric, threshold.limit >= 0,
                threshold.limit < 1e18
            else { return nil }
            return UInt64(threshold.limit)
        }
    }

    /// A figure that changed, at a time that is known to `room` seconds.
    private struct Change {
        let name: String
        let shift: BlockFigure.Shift
        let room: Double
    }

    /// One sentence for all figures that changed at one time, and one for all that did little by little.
    private static func words(_ changes: [Change]) -> [String] {
        var groups: [[Change]] = []
        for change in changes.sorted(by: { ($0.shift.at ?? -1) < ($1.shift.at ?? -1) }) {
            if let last = groups.last?.last, (last.shift.at == nil) == (change.shift.at == nil),
                abs((last.shift.at ?? 0) - (change.shift.at ?? 0)) <= 2 * max(last.room, change.room)
            {
                groups[groups.count - 1].append(change)
            } else {
                groups.append([change])
            }
        }
        return groups.map { group in
            let when =
                group[0].shift.at.map { "\(Units.fixed($0, places: 1)) s after the start" }
                ?? "little by little, from the first third to the last,"
            let figures = group.enumerated().map { place, change in
                "\(change.name)\(place == 0 ? " went" : "") from \(written(change.shift.before)) to \(written(change.shift.after))"
            }
            return "not steady: \(when) \(figures.joined(separator: ", "))"
        }
    }

    /// One sentence for all figures that swing.
    private static func swings(_ found: [(name: String, figure: BlockFigure)]) -> [String] {
        let swinging = found.compactMap { name, figure in
            figure.swing.map { (name: name, swing: $0, seconds: figure.blockSeconds) }
        }
        guard let first = swinging.first else { return [] }
        let length = Units.duration(nanoseconds: (swinging.map(\.seconds).max() ?? 0) * 1e9)
        let others = swinging.dropFirst().map { "; \($0.name) \(written($0.swing.fast)) and \(written($0.swing.slow))" }
        return [
            "\(Units.listed(swinging.map(\.name))) swing\(swinging.count == 1 ? "s" : ""): blocks of \(length) are slow and fast by turns "
                + "(\(written(first.swing.fast)) in the faster half of them, \(written(first.swing.slow)) in the slower\(others.joined()))"
        ]
    }

    private static func document(_ figure: BlockFigure) -> ResultDocument.Trust.Figure {
        func rounded(_ value: Double?, _ factor: Double) -> Double? { value.map { ($0 * factor).rounded() / factor } }
        var section = ResultDocument.Trust.Figure(
            blocks: figure.blocks, blockSeconds: (figure.blockSeconds * 1e6).rounded() / 1e6)
        (section.low, section.high) = (figure.low, figure.high)
        switch figure.without {
        case nil: break
        case .fewBlocks: section.without = "few_blocks"
        case .fewPushes(let needed): (section.without, section.needed) = ("few_pushes", needed)
        case .unanswered: section.without = "unanswered"
        case .notSteady: section.without = "not_steady"
        case .notIndependent: section.without = "not_independent"
        }
        section.steady = figure.correlation == nil ? nil : figure.shift == nil
        section.shift = figure.shift.map { .init(at: rounded($0.at, 1e3), before: $0.before, after: $0.after) }
        section.swing = figure.swing.map { .init(fast: $0.fast, slow: $0.slow) }
        section.independent = figure.isIndependent
        section.correlation = rounded(figure.correlation, 1e3)
        section.correlationP = figure.correlationP
        section.trendP = rounded(figure.trendP, 1e6)
        return section
    }

    // MARK: What the run went on for

    private static func until(
        _ precision: Precision, _ figure: BlockFigure?, _ outcome: LoadOutcome, _ generator: ResultDocument.Generator,
        isLate: Bool
    ) -> ResultDocument.Trust.Until {
        let seconds = outcome.throughput.windowSeconds
        let half = figure?.halfWidth
        var section = ResultDocument.Trust.Until(
            asked: precision.text, reached: half.map { $0 <= precision.share } ?? false, seconds: seconds)
        section.halfWidth = half.map { ($0 * 1e6).rounded() / 1e6 }
        guard !section.reached else { return section }
        let isMachine =
            generator.steal >= GeneratorVerdict.noticedSteal
            || (generator.runQueueDelay ?? 0) >= GeneratorVerdict.noticedRunQueueDelay
            || (generator.workerLoad.first ?? 0) >= GeneratorVerdict.busyLoad
        let isLate = isLate || generator.loopLag.count >= 100 && generator.loopLag.p99 >= GeneratorVerdict.noticedLag
        // With a schedule it is known how late we were: a change by ten times as much is not ours.
        let change = figure?.shift.map { $0.after > $0.before ? $0.after - $0.before : $0.before - $0.after } ?? 0
        let isTargets = generator.loopLag.count >= 100 && Double(change) > 10 * Double(generator.loopLag.p99)
        switch figure?.without {
        case _ where outcome.run.interrupted: section.obstacle = "interrupted"
        // With an interval, or too little for one, a longer run is all that is wanted.
        case nil, .fewBlocks, .fewPushes: section.obstacle = "time"
        case .notSteady where isTargets: section.obstacle = "not_steady"
        // Whatever keeps a figure from being steady: ours first, then the target's.
        case _ where isMachine: section.obstacle = "machine"
        case _ where isLate: section.obstacle = "generator"
        case .notSteady: section.obstacle = "not_steady"
        case .notIndependent: section.obstacle = "not_independent"
        case .unanswered: section.obstacle = "unanswered"
        }
        if section.obstacle == "time", let half, figure?.isLopsided == false {
            // An interval becomes narrower with the root of the time.
            let ratio = half / precision.share
            section.neededSeconds = (min(1e9, seconds * ratio * ratio)).rounded(.up)
        }
        return section
    }
}
