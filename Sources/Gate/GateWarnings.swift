import Measurement
import Results
import Settings

/// What a reader of a gate's outcome must know of how it came about.
enum GateWarnings {
    static func of(_ baseline: BaselineDocument) -> [String] {
        let facts = MachineFacts()
        var warnings: [String] = []
        let machine = baseline.machine
        let differing = [
            ("processor", machine.cpu, facts.cpuModel), ("cores", "\(machine.cores)", "\(facts.cores)"),
            ("kernel", machine.kernel, facts.kernel), ("system", machine.system, facts.system),
        ].filter { $0.1 != $0.2 }.map { "\($0.0) \($0.1) there, \($0.2) here" }
        if !differing.isEmpty {
            warnings.append(
                "the baseline is of another machine (\(differing.joined(separator: "; "))): the reference kernel evens out its "
                    + "speed, to a few per cent")
        }
        return warnings
    }

    /// What is judged when nobody says otherwise, and was not.
    ///
    /// - Parameter why: who does not have it.
    static func unjudged(_ rules: GateRules, _ why: String) -> [String] {
        let missing = GateMetric.judgedByDefault.filter { !rules.metrics.contains($0) }
        return missing.isEmpty
            ? [] : ["not judged: \(missing.map(GateReport.title).joined(separator: ", ")), which \(why)"]
    }

    /// Rounds that follow each other resemble each other.
    static func of(_ metrics: [GateDocument.Metric]) -> [String] {
        let alike = metrics.filter { ($0.stretch ?? 1) >= 2 && $0.verdict != .information }
        guard !alike.isEmpty else { return [] }
        let names = alike.map { "\(GateReport.title($0.name)) \(Units.fixed($0.correlation ?? 0, places: 2))" }
        return [
            "rounds resemble the round before (correlation: \(names.joined(separator: ", "))): intervals are wider for it"
        ]
    }
}
