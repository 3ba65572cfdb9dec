import Foundation
import Results
import Scenarios
import Settings

/// Figures as reports write them.
package enum Written {
    package static func count(_ value: UInt64) -> String { Units.grouped(value) }

    package static func time(_ nanoseconds: UInt64) -> String { Units.duration(nanoseconds: Double(nanoseconds)) }

    package static func rate(_ perSecond: Double) -> String {
        perSecond < 100
            ? "\(Units.fixed(perSecond, places: 1)) pushes/s"
            : "\(Units.grouped(UInt64(min(perSecond, 1e18).rounded()))) pushes/s"
    }

    package static func share(_ part: UInt64, of whole: UInt64) -> String {
        whole > 0 ? "\(Units.fixed(Double(part) / Double(whole) * 100, places: 2)) %" : "-"
    }

    /// `4.33 ms`, `> 20.0 s` where only that is known, `-` when nothing was recorded.
    package static func latency(_ latency: ResultDocument.Latency, _ figure: LatencyFigure) -> String {
        guard latency.count > 0 else { return "-" }
        let text = Units.duration(nanoseconds: latency.value(figure))
        return latency.isCensored(figure) ? "> \(text)" : text
    }

    package static func latencies(_ latency: ResultDocument.Latency, _ figures: [LatencyFigure]) -> [String] {
        figures.map { self.latency(latency, $0) }
    }

    /// The unit of these figures together, and each without it: `us`, `35.7`, `> 20,000`; `-` when nothing was recorded.
    package static func inOneUnit(_ latency: ResultDocument.Latency, _ figures: [LatencyFigure]) -> [String] {
        guard latency.count > 0 else { return [""] + figures.map { _ in "-" } }
        let unit = TimeUnit(middle: latency.value(.p50), largest: latency.value(.max))
        return [unit.rawValue]
            + figures.map { figure in
                (latency.isCensored(figure) ? "> " : "") + unit.written(latency.value(figure))
            }
    }

    /// The same with the unit at each: `487 us`, `> 20,000 us`.
    package static func latenciesAlike(_ latency: ResultDocument.Latency, _ figures: [LatencyFigure]) -> [String] {
        let cells = inOneUnit(latency, figures)
        return cells.dropFirst().map { "\($0)\(cells[0].isEmpty ? "" : " \(cells[0])")" }
    }

    /// `3 of 1,200 pushes got no answer and count as longer than every answer`; nil when all got one.
    package static func unanswered(_ count: UInt64, of whole: UInt64) -> String? {
        guard count > 0 else { return nil }
        return "\(self.count(count)) of \(self.count(whole)) pushes got no answer and count as longer than every answer"
    }

    /// A figure of comparisons, histories, sweeps or gates as people read it: of a rate, which one it is.
    package static func title(_ metric: String) -> String {
        switch metric {
        case "rate": "rate (answered)"
        case "goodput": "goodput (accepted)"
        default: metric
        }
    }

    /// What the client's CPU time a push went to, nanoseconds; what was not timed apart is in the last one, and named there.
    package static func cpuParts(_ result: ResultDocument) -> [(name: String, value: Double)] {
        let cpu = result.generator.cpu
        guard cpu.encode + cpu.sign + cpu.tls + cpu.socket + cpu.spin + cpu.other > 0 else { return [] }
        let known = [
            ("encode", cpu.encode), ("sign", cpu.sign), ("spin", cpu.spin), ("TLS", cpu.tls), ("socket", cpu.socket),
        ].filter { $0.1 > 0 }
        var rest: [String] = []
        if cpu.encode == 0 { rest.append("encode") }
        if cpu.sign == 0, result.cost.tokensSigned > 0 { rest.append("sign") }
        if cpu.tls + cpu.socket == 0 { rest += ["TLS", "socket"] }
        let name = rest.isEmpty ? "other" : rest.joined(separator: ", ") + " and other"
        return (known + (cpu.other > 0 ? [(name, cpu.other)] : [])).map { (name: $0.0, value: $0.1) }
    }

    /// A setting by its name, times and sizes with their unit.
    package static func setting(_ name: String, _ value: JSONValue) -> String {
        switch value {
        case .integer(let number): SettingWords.text(name, number) ?? value.description
        case .bool(let isOn): isOn ? "yes" : "no"
        case .array(let values): values.isEmpty ? "none" : values.map(\.description).joined(separator: ", ")
        default: value.description
        }
    }

    /// A figure that comparisons look at, with its unit.
    package static func figure(_ value: Double, _ unit: FigureUnit) -> String {
        switch unit {
        case .perSecond: Units.perSecond(value)
        case .nanoseconds: Units.duration(nanoseconds: value)
        // Whatever a file says.
        case .bytes: Units.bytes(UInt64(max(0, min(value, 1e18))))
        case .count: Units.fixed(value, places: 2)
        }
    }

    /// Two of them that are held against each other; times in one unit.
    package static func pair(_ a: Double, _ b: Double, _ unit: FigureUnit) -> [String] {
        guard case .nanoseconds = unit, a.isFinite, b.isFinite else { return [figure(a, unit), figure(b, unit)] }
        let unit = TimeUnit(middle: min(a, b), largest: max(a, b))
        return [a, b].map { "\(unit.written($0)) \(unit.rawValue)" }
    }

    /// Labels of a breakdown: a scenario's stages in the order of time, others by name.
    package static func parts(_ dimension: String, _ result: ResultDocument) -> [(
        label: String, part: ResultDocument.Part
    )] {
        let parts = result.breakdown[dimension] ?? [:]
        let stages = dimension == "stage" ? stageNames(result) : []
        let place = Dictionary(zip(stages, stages.indices), uniquingKeysWith: { first, _ in first })
        return parts.sorted { (place[$0.key] ?? .max, $0.key) < (place[$1.key] ?? .max, $1.key) }
            .map { (label: $0.key, part: $0.value) }
    }

    /// As the settings have them: `hold 20000 30s`, or with a name of its own `evening: hold 20000 30s`.
    private static func stageNames(_ result: ResultDocument) -> [String] {
        guard case .array(let stages)? = result.scenario["stages"] else { return [] }
        return LoadStage.told(
            apart: stages.map { stage in
                let text = stage.description
                return text.contains(": ") ? text.components(separatedBy: ": ")[0] : String(text.prefix { $0 != " " })
            })
    }

    /// A probability: `0.031`, `< 0.001`.
    package static func chance(_ p: Double) -> String { p < 0.0005 ? "< 0.001" : Units.fixed(p, places: 3) }
}
