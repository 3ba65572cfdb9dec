import Measurement
import Payloads
import Scenarios
import Transport

/// What a worker keeps apart: outcomes and latency by stage of the scenario and by profile, where there is more than one, and
/// by what else was asked for.
final class Breakdowns {
    private let stages: Breakdown?
    private let profiles: Breakdown?
    /// Of each of the mix's entries.
    private let profilePlaces: [Int]
    private let statuses: Breakdown?
    private let connections: Breakdown?
    /// nil where there is one target.
    let targets: TargetTally?
    private let tags: [(prefix: [UInt8], breakdown: Breakdown)]
    /// The first push of each stage.
    private let firsts: [UInt64]
    private let writers: PushWriters
    private let turns: SendTurns?
    private let sends: Breakdown?
    private let plan: Sends?

    init(_ inputs: RunInputs, writers: PushWriters) {
        let names = inputs.schedule?.stageNames ?? []
        stages = names.count > 1 ? Breakdown("stage", labels: names) : nil
        firsts = inputs.schedule?.stagePushes ?? []
        // Several sends may have the same one.
        var profileNames: [String] = []
        var places: [String: Int] = [:]
        profilePlaces = inputs.mix.entries.map { entry in
            if let known = places[entry.profile.name] { return known }
            places[entry.profile.name] = profileNames.count
            profileNames.append(entry.profile.name)
            return profileNames.count - 1
        }
        profiles = profileNames.count > 1 ? Breakdown("profile", labels: profileNames) : nil
        statuses = inputs.breakdown.contains(.status) ? Breakdown("status", labels: ["200"]) : nil
        connections =
            inputs.breakdown.contains(.connection)
            ? Breakdown("connection", labels: (0..<inputs.scenario.connections).map { String($0) }) : nil
        let urls = inputs.scenario.target?.urls ?? []
        targets = urls.count > 1 ? TargetTally(targets: urls.count) : nil
        tags = inputs.breakdown.compactMap {
            guard case .tag(let prefix) = $0 else { return nil }
            return (Array(prefix.utf8), Breakdown($0.name, labels: []))
        }
        self.writers = writers
        turns = inputs.turns
        plan = inputs.sends
        sends = inputs.sends.flatMap { $0.all.count > 1 ? Breakdown("send", labels: $0.all.map(\.name)) : nil }
    }

    var all: [Breakdown] { [stages, profiles, sends, statuses, connections].compactMap { $0 } + tags.map(\.breakdown) }
    var isOn: Bool { !all.isEmpty || targets != nil }

    /// By number: of stages that follow each other at once, such as after a burst, pushes are due at the same time.
    private func stage(_ sequence: UInt64) -> Int {
        var place = 0
        let slot = turns?.slot(sequence) ?? sequence
        while place + 1 < firsts.count, slot >= firsts[place + 1] { place += 1 }
        return place
    }

    private func tag(_ sequence: UInt64, _ prefix: [UInt8]) -> String {
        writers.tag(sequence, prefix: prefix) ?? "(none)"
    }

    func answered(
        _ ticket: borrowing PushTicket, _ outcome: PushOutcome, connection: Int, total: UInt64,
        isMeasured: Bool
    ) {
        var status = 200
        if case .rejected(let other) = outcome { status = Int(other) }
        targets?.answered(connection: connection, isAccepted: status == 200)
        func note(_ breakdown: Breakdown?, _ place: (Breakdown) -> Int) {
            guard let breakdown else { return }
            breakdown.answered(place(breakdown), isAccepted: status == 200, total: total, isMeasured: isMeasured)
        }
        let place = stages == nil ? 0 : stage(ticket.sequence)
        let profile = profiles == nil ? 0 : profilePlaces[writers.entry(ticket.sequence)]
        note(stages) { _ in place }
        note(profiles) { $0.place(number: profile) }
        if let plan, sends != nil {
            let place = plan.place(ticket.sequence)
            note(sends) { $0.place(number: place) }
        }
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
        if isBegun { targets?.failed(connection: connection) }
        func note(_ breakdown: Breakdown?, _ place: (Breakdown) -> Int) {
            guard let breakdown else { return }
            breakdown.unanswered(place(breakdown), isBegun: isBegun, after: waited, isMeasured: isMeasured)
        }
        note(stages) { _ in stage(sequence) }
        note(profiles) { $0.place(number: profilePlaces[writers.entry(sequence)]) }
        if let plan { note(sends) { $0.place(number: plan.place(sequence)) } }
        note(connections) { connection < 0 ? $0.place("(none)") : $0.place(number: connection) }
        for (prefix, breakdown) in tags { note(breakdown) { $0.place(tag(sequence, prefix)) } }
    }
}
