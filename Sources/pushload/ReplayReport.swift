import Harness
import Reports
import Settings

/// What a recording is like, for people.
enum ReplayReport {
    /// Most names that are listed.
    private static let listed = 5

    static func text(_ facts: ReplayFacts) -> String {
        let lines = [
            "recording \(facts.check): \(Units.counted(facts.pushes, "push")) in "
                + "\(Units.duration(nanoseconds: Double(facts.span))), at most \(Units.grouped(UInt64(facts.peak))) within a second"
                + (facts.leftOut > 0 ? "; \(Units.grouped(facts.leftOut)) more came beyond its limit" : "")
                + (facts.isComplete ? "" : "; not complete"),
            "\(Units.counted(facts.connections, "connection")), \(Units.counted(facts.devices, "device"))"
                + (facts.tokenless > 0 ? " (\(Units.counted(facts.tokenless, "push")) without one)" : "")
                + ", payloads p50 "
                + "\(Units.grouped(UInt64(facts.sizes.p50))) B, p99 \(Units.grouped(UInt64(facts.sizes.p99))) B, max "
                + "\(Units.grouped(UInt64(facts.sizes.max))) B",
            "types: \(list(facts.types))", "topics: \(list(facts.topics))", "answers: \(list(facts.statuses))",
        ]
        let reasons = facts.reasons.isEmpty ? [] : ["reasons: \(list(facts.reasons))"]
        return (lines + reasons + [""]).joined(separator: "\n") + "\n"
    }

    private static func list(_ all: [(name: String, pushes: Int)]) -> String {
        let shown = all.prefix(listed).map { "\(TextLines.plain($0.name)) \(Units.grouped(UInt64($0.pushes)))" }
        let rest = all.count > listed ? ["and \(Units.grouped(UInt64(all.count - listed))) more"] : []
        return (shown + rest).joined(separator: ", ")
    }
}
