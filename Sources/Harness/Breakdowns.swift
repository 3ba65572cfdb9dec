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
    /// When each stage after the first begins, nanoseconds after the start.
    private let boundaries: [UInt64]
    private let writer: PayloadWriter

    init(_ inputs: RunInputs, writer: PayloadWriter) {
        let names = inputs.schedule?.stageNames ?? []
        stages = names.count > 1 ? Breakdown("stage", labels: names) : nil
        boundaries = inputs.schedule?.stageStarts ?? []
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

    private func stage(_ ticket: borrowing PushTicket, _ start: UInt64) -> Int {
        let offset = ticket.due &- start
        var place = 0
        while place + 1 < boundaries.count, offset >= boundaries[place + 1] { place += 1 }
        return place
    }

    private func tag(_ ticket: borrowing PushTicket, _ prefix: [UInt8]) -> String {
        writer.tag(device: writer.device(sequence: ticket.sequence), prefix: prefix) ?? "(none)"
    }

    func answered(
        _ ticket: borrowing PushTicket, _ outcome: PushOutcome, connection: Int, at time: UInt64, start: UInt64,
        isMeasured: Bool
    ) {
        var status = 200
        if case .rejected(let other) = outcome { status = Int(other) }
        let total = time &- ticket.due
        func note(_ breakdown: Breakdown?, _ place: (Breakdown) -> Int) {
            guard let breakdown else { return }
            breakdown.answered(place(breakdown), isAccepted: status == 200, total: total, isMeasured: isMeasured)
        }
        let place = stages == nil ? 0 : stage(ticket, start)
        let profile = profiles == nil ? 0 : writer.profileIndex(sequence: ticket.sequence)
        note(stages) { _ in place }
        note(profiles) { _ in profile }
        note(statuses) { status == 200 ? 0 : $0.place(String(status)) }
        note(connections) { $0.place(number: connection) }
        for (prefix, breakdown) in tags {
            let label = tag(ticket, prefix)
            note(breakdown) { $0.place(label) }
        }
    }

    func failed(_ ticket: borrowing PushTicket, connection: Int, start: UInt64) {
        if let stages { stages.failed(stage(ticket, start)) }
        if let profiles { profiles.failed(writer.profileIndex(sequence: ticket.sequence)) }
        if let connections {
            connections.failed(connection < 0 ? connections.place("(none)") : connections.place(number: connection))
        }
        for (prefix, breakdown) in tags { breakdown.failed(breakdown.place(tag(ticket, prefix))) }
    }
}
