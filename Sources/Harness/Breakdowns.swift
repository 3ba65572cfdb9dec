import Measurement
import Payloads
import Scenarios
import Transport

/// What a worker keeps apart: outcomes and latency by stage of the scenario and by profile, where there is more than one, and
/// by what else was asked for.
final class Breakdowns {
    private let stages: Breakdown?
    private let profiles: Breakdown?
    private let statuses: Breakdown?
    private let connections: Breakdown?
    private let tags: [(prefix: [UInt8], breakdown: Breakdown)]
    /// The first push of each stage.
    private let firsts: [UInt64]
    private let writer: PayloadWriter

    init(_ inputs: RunInputs, writer: PayloadWriter) {
        let names = inputs.schedule?.stageNames ?? []
        stages = names.count > 1 ? Breakdown("stage", labels: names) : nil
        firsts = inputs.schedule?.stagePushes ?? []
        let profileNames = inputs.mix.entries.map(\.profile.name)
        profiles = profileNames.count > 1 ? Breakdown("profile", labels: profileNames) : nil
        statuses = inputs.breakdown.contains(.status) ? Breakdown("status", labels: ["200"]) : nil
        connections =
            inputs.breakdown.contains(.connection)
            ? Breakdown("connection", labels: (0..<inputs.scenario.connections).map { String($0) }) : nil
        tags = inputs.breakdown.compactMap {
            guard case .tag(let prefix) = $0 else { return nil }
            return (Array(prefix.utf8), Breakdown($0.name, labels: []))
        }
        self.writer = writer
    }

    var all: [Breakdown] { [stages, profiles, statuses, connections].compactMap { $0 } + tags.map(\.breakdown) }
    var isOn: Bool { !all.isEmpty }

    /// By number: of stages that follow each other at once, such as after a burst, pushes are due at the same time.
    private func stage(_ sequence: UInt64) -> Int {
        var place = 0
        while place + 1 < firsts.count, sequence >= firsts[place + 1] { place += 1 }
        return place
    }

    private func tag(_ sequence: UInt64, _ prefix: [UInt8]) -> String {
        writer.tag(device: writer.device(sequence: sequence), prefix: prefix) ?? "(none)"
    }

    func answered(
        _ ticket: borrowing PushTicket, _ outcome: PushOutcome, connection: Int, total: UInt64, isMeasured: Bool
    ) {
        var status = 200
        if case .rejected(let other) = outcome { status = Int(other) }
        func note(_ breakdown: Breakdown?, _ place: (Breakdown) -> Int) {
            guard let breakdown else { return }
            breakdown.answered(place(breakdown), isAccepted: status == 200, total: total, isMeasured: isMeasured)
        }
        let place = stages == nil ? 0 : stage(ticket.sequence)
        let profile = profiles == nil ? 0 : writer.profileIndex(sequence: ticket.sequence)
        note(stages) { _ in place }
        note(profiles) { _ in profile }
        note(statuses) { status == 200 ? 0 : $0.place(String(status)) }
        note(connections) { $0.place(number: connection) }
        for (prefix, breakdown) in tags {
            let label = tag(ticket.sequence, prefix)
            note(breakdown) { $0.place(label) }
        }
    }

    /// - Parameters:
    ///   - isBegun: it was on a stream; else it was never sent.
    ///   - waited: from its due time to its being given up, ns.
    func unanswered(
        _ sequence: UInt64, connection: Int, isBegun: Bool, after waited: UInt64, isMeasured: Bool
    ) {
        func note(_ breakdown: Breakdown?, _ place: (Breakdown) -> Int) {
            guard let breakdown else { return }
            breakdown.unanswered(place(breakdown), isBegun: isBegun, after: waited, isMeasured: isMeasured)
        }
        note(stages) { _ in stage(sequence) }
        note(profiles) { _ in writer.profileIndex(sequence: sequence) }
        note(connections) { connection < 0 ? $0.place("(none)") : $0.place(number: connection) }
        for (prefix, breakdown) in tags { note(breakdown) { $0.place(tag(sequence, prefix)) } }
    }
}
