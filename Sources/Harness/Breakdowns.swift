import Measurement
import Payloads
import Scenarios
import Transport

/// What a worker keeps apart: outcomes and latency by stage of the scenario and by push type, where there is more than one,
/// and by status as soon as there is another than 200.
final class Breakdowns {
    private let stages: Breakdown?
    private let types: Breakdown?
    private let statuses: Breakdown?
    /// When each stage after the first begins, nanoseconds after the start.
    private let boundaries: [UInt64]
    private let profileOf: (UInt64) -> Int

    /// - Parameter profileOf: which profile a push has, by its number.
    init(_ inputs: RunInputs, profileOf: @escaping (UInt64) -> Int) {
        let names = inputs.schedule?.stageNames ?? []
        stages = names.count > 1 ? Breakdown("stage", labels: names) : nil
        boundaries = inputs.schedule?.stageStarts ?? []
        let profiles = inputs.mix.entries.map(\.profile.name)
        types = profiles.count > 1 ? Breakdown("profile", labels: profiles) : nil
        self.profileOf = profileOf
        statuses = inputs.scenario.byStatus ? Breakdown("status", labels: ["200"]) : nil
    }

    var isOn: Bool { stages != nil || types != nil || statuses != nil }
    var all: [Breakdown] { [stages, types, statuses].compactMap { $0 } }

    private func stage(_ ticket: borrowing PushTicket, _ start: UInt64) -> Int {
        let offset = ticket.due &- start
        var place = 0
        while place + 1 < boundaries.count, offset >= boundaries[place + 1] { place += 1 }
        return place
    }

    func answered(
        _ ticket: borrowing PushTicket, _ outcome: PushOutcome, at time: UInt64, start: UInt64, isMeasured: Bool
    ) {
        var status = 200
        if case .rejected(let other) = outcome { status = Int(other) }
        let total = time &- ticket.due
        stages?.answered(stage(ticket, start), isAccepted: status == 200, total: total, isMeasured: isMeasured)
        types?.answered(
            profileOf(ticket.sequence), isAccepted: status == 200, total: total, isMeasured: isMeasured)
        if let statuses {
            statuses.answered(
                status == 200 ? 0 : statuses.place(String(status)), isAccepted: status == 200, total: total,
                isMeasured: isMeasured)
        }
    }

    func failed(_ ticket: borrowing PushTicket, start: UInt64) {
        stages?.failed(stage(ticket, start))
        types?.failed(profileOf(ticket.sequence))
    }
}
