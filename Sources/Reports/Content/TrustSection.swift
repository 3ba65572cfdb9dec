import Results
import Settings

/// May it be believed: the intervals of a run's percentiles, and what speaks against its figures.
enum TrustSection {
    private static let shown: [(name: String, figure: LatencyFigure)] = [
        ("p50", .p50), ("p90", .p90), ("p99", .p99), ("p99.9", .p999),
    ]
    static let title = "May it be believed?"

    static func make(_ run: ReportedRun) -> ReportSection? {
        guard let trust = run.result.trust, !trust.figures.isEmpty else { return nil }
        var table = ReportTable(["total", "figure", "95 % interval", "blocks", "steady", "blocks independent"])
        for (name, figure) in shown {
            guard let trusted = trust[figure] else { continue }
            let total = run.result.latency[.total]
            table.add(
                [name, Written.latency(total, figure), interval(trusted) ?? "none: \(why(trusted))"]
                    + ["\(trusted.blocks) of \(Units.duration(nanoseconds: trusted.blockSeconds * 1e9))"]
                    + [word(trusted.steady), word(trusted.independent)])
        }
        var blocks: [ReportBlock] = [.table(table)]
        let lines = verdicts(trust)
        if !lines.isEmpty { blocks.append(.verdicts(lines)) }
        return ReportSection(title: title, blocks: blocks)
    }

    private static func verdicts(_ trust: ResultDocument.Trust) -> [(text: String, isGood: Bool)] {
        let doubts = trust.doubts.map { (text: $0, isGood: false) }
        let arrivals = trust.arrivals.flatMap { $0.kept ? [(text: self.arrivals($0), isGood: true)] : nil } ?? []
        return doubts + arrivals
    }

    /// For a summary: one line, or a few.
    static func lines(_ result: ResultDocument) -> [String] {
        guard let trust = result.trust, !trust.figures.isEmpty else { return [] }
        let figures = shown.filter { $0.figure != .p90 || trust.until?.asked.hasPrefix("p90 ") == true }
            .compactMap { name, figure in trust[figure].map { (name: name, figure: figure, trusted: $0) } }
        if let enough = result.enoughSeconds {
            return [
                "",
                "trust: no intervals, the measured time is too short for them (\(Units.duration(nanoseconds: enough * 1e9)) is enough)",
            ]
        }
        var isFirst = true
        let intervals = figures.compactMap { name, figure, trusted -> String? in
            guard let interval = interval(trusted) else { return nil }
            defer { isFirst = false }
            return
                "\(name) \(Written.latency(result.latency[.total], figure)), \(isFirst ? "95 % interval " : "")\(interval)"
        }
        let without = figures.filter { $0.trusted.without != nil }.map { "\($0.name): \(why($0.trusted))" }
        var lines = intervals.isEmpty ? [] : ["trust: " + intervals.joined(separator: "; ")]
        if !without.isEmpty { lines.append("trust: no interval of " + without.joined(separator: "; ")) }
        let sound =
            (steady(trust).map { [$0] } ?? [])
            + (trust.arrivals.flatMap { $0.kept ? [arrivals($0)] : nil } ?? [])
        if !sound.isEmpty { lines.append("trust: " + sound.joined(separator: "; ")) }
        return [""] + lines + trust.doubts.map { "doubt: \($0)" }
    }

    /// Which figures did not change from one end of the run to the other: of those without an interval it is not known.
    private static func steady(_ trust: ResultDocument.Trust) -> String? {
        var names: [String] = []
        var lengths: [Double] = []
        for (name, figure) in shown {
            guard let trusted = trust[figure], trusted.low != nil, trusted.steady == true, trusted.independent == true,
                trusted.swing == nil
            else { continue }
            names.append(name)
            lengths.append(trusted.blockSeconds)
        }
        guard let shortest = lengths.min(), let longest = lengths.max() else { return nil }
        let length = (shortest < longest ? "up to " : "") + Units.duration(nanoseconds: longest * 1e9)
        return "\(Units.listed(names)): no trend and no step, and blocks of \(length) do not resemble the ones before"
    }

    /// `31.2 - 33.4 us`; nil where there is none.
    private static func interval(_ figure: ResultDocument.Trust.Figure) -> String? {
        guard let low = figure.low, let high = figure.high else { return nil }
        let unit = TimeUnit(middle: Double(low), largest: Double(high))
        return "\(unit.written(Double(low))) - \(unit.written(Double(high))) \(unit.rawValue)"
    }

    private static func why(_ figure: ResultDocument.Trust.Figure) -> String {
        switch figure.without {
        case "few_blocks": "measured for too short a time"
        case "few_pushes":
            figure.needed.map { "too few pushes, \(Units.grouped(roundedUp($0))) are enough" }
                ?? "slow pushes come together, in too few clumps"
        case "unanswered": "pushes without an answer are in it"
        case "not_steady": "not steady"
        case "not_independent": "blocks resemble the ones before"
        default: figure.without ?? ""
        }
    }

    /// In three digits, and no less: an estimate is no better known.
    private static func roundedUp(_ number: UInt64) -> UInt64 {
        var step: UInt64 = 1
        while number / step >= 1000 { step *= 10 }
        let rest = number % step
        return rest == 0 || number > .max - step ? number : number - rest + step
    }

    private static func word(_ isSo: Bool?) -> String { isSo.map { $0 ? "yes" : "no" } ?? "-" }

    private static func arrivals(_ arrivals: ResultDocument.Trust.Arrivals) -> String {
        let kind = arrivals.process == "poisson" ? "Poisson arrivals" : "even"
        return "pushes were begun at the times asked for: \(kind), looked at over "
            + Units.duration(nanoseconds: arrivals.gapSeconds * 1e9)
    }
}

extension ResultDocument.TrustedUntil {
    /// With whether it was reached.
    func verdict(_ picture: TextPicture) -> String {
        "\(reached ? picture.good("reached") : picture.bad("NOT REACHED")): \(words)"
    }

    /// `p99 +- 2 %: +- 1.8 % after 12.3 s`; and why it was not reached, where it was not.
    package var words: String {
        let half = halfWidth.map { "+- \(Units.fixed($0 * 100, places: 2)) %" }
        let measured = "\(asked): \(half ?? "no interval") after \(Units.fixed(seconds, places: 1)) s"
        guard let obstacle else { return measured }
        let why =
            switch obstacle {
            case "machine": "this machine is the reason: its cores were busy, or taken by others"
            case "generator": "the generator is the reason: pushes were not begun when they were due"
            case "not_steady": "the target is not steady"
            case "not_independent": "the target's latencies wander slowly; a longer run may tell"
            case "unanswered": "too many pushes got no answer"
            case "interrupted": "the run was interrupted"
            default:
                neededSeconds.map { "about \(Units.clock(seconds: $0)) would be enough" }
                    ?? "it takes longer, or more pushes a second"
            }
        return "\(measured): \(why)"
    }
}
