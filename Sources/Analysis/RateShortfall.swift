import Results
import Settings

/// An open loop that sent much less than came due in the measured span: it did not do what was asked, and its latencies are
/// those of another load. Far enough below, that a stall of the machine at the end of a short run is none.
package struct RateShortfall: CustomStringConvertible {
    /// Sent a second, of what came due.
    static let reached = 0.9

    package let description: String

    /// nil: the rate was reached, or there was none.
    package init?(_ result: ResultDocument) {
        guard let offered = result.throughput.offered, offered > 0, !result.run.interrupted else { return nil }
        // A server may answer before it has the whole push (RFC 9113 section 8.1).
        let sent = max(Self.sentFirst(result), min(result.throughput.answered, offered))
        guard sent < Self.reached * offered else { return nil }
        let share = Units.fixed(100 * sent / offered, places: 1)
        description =
            "rate not reached: \(Units.perSecond(sent)) sent of \(Units.perSecond(offered)) due (\(share) %): "
            + Self.limit(result)
    }

    /// Pushes sent a second for the first time, over the window; where the result does not tell, at most as many as were begun.
    private static func sentFirst(_ result: ResultDocument) -> Double {
        let (throughput, pushes) = (result.throughput, result.pushes)
        if let again = throughput.sentAgain { return throughput.sent - again }
        let begun = Double(pushes.accepted) + Double(pushes.rejected) + Double(pushes.failed)
        return pushes.sent > 0 ? throughput.sent * min(1, begun / Double(pushes.sent)) : throughput.sent
    }

    /// What held it back, as far as the result tells.
    private static func limit(_ result: ResultDocument) -> String {
        if let outage = result.connections.noConnection, let words = outage.words,
            outage.seconds
                >= (1 - reached) * result.throughput.windowSeconds * Double(max(1, result.generator.workerLoad.count))
        {
            return words
        }
        if let lost = connectionLimit(result.connections) { return lost }
        if let overflow = backlogLimit(result) { return overflow }
        return streamsLimit(result)
    }

    /// Until the end of the window: what broke later held nothing back in it.
    private static func connectionLimit(_ connections: ResultDocument.Connections) -> String? {
        let late = connections.afterWindow ?? .init()
        func inTime(_ count: UInt64, _ late: UInt64) -> UInt64 { count - min(count, late) }
        let opened = inTime(connections.opened, late.opened)
        let lost = inTime(connections.lost, late.lost)
        let failures = inTime(connections.connectFailures, late.connectFailures)
        guard failures > opened || lost > 0 && opened <= lost else { return nil }
        let ends = connections.ends.filter { $0.value > late.ends[$0.key] ?? 0 }
        return "connections were lost or could not be made: \(ends.keys.sorted().joined(separator: ", "))"
    }

    /// A tenth of what came due found the backlog full.
    private static func backlogLimit(_ result: ResultDocument) -> String? {
        let overflowed = result.notSent["overflowed"] ?? 0
        guard overflowed > 0, Double(overflowed) >= (1 - reached) * Double(result.pushes.planned) else { return nil }
        let bound = number("backlog", result).map { " \(Units.grouped(UInt64(max(0, min($0, 1e15)))))" } ?? ""
        if let own = result.generator.overflowed, own > 0, own >= overflowed / 2 {
            return
                "\(Units.counted(own, "push")) came due while the generator itself stood still or was busy, more than the backlog "
                + "holds (--backlog\(bound)): \(seeGenerator)"
        }
        return
            "\(Units.counted(overflowed, "push")) came due while no stream was free and the backlog was full (--backlog\(bound)): "
            + streamsLimit(result)
    }

    /// Why streams were not free.
    private static func streamsLimit(_ result: ResultDocument) -> String {
        // Whoever is busy holds streams for long: more of them would only wait longer.
        let generator = result.generator
        let isOneRun = generator.workerLoad.count <= (number("threads", result).map { Int(min($0, 1e6)) } ?? 1)
        if let load = generator.workerLoad.first, load >= busy { return seeGenerator }
        if isOneRun, let mock = mockLimit(result) { return mock }
        if let hold = Self.holdUp(result.connections) { return hold }
        let service = result.latency[.service]
        if !generator.limited || service.mean <= unloaded * Double(service.min), let streams = streamLimit(result) {
            return streams
        }
        let silent = result.failures["push_timeout"] ?? 0
        let begun = result.failures["answer_incomplete"] ?? 0
        let unanswered = Double(silent) + Double(begun)
        let answered = Double(result.pushes.accepted) + Double(result.pushes.rejected)
        // A generator that is short of time does not keep most of the answers away.
        if generator.limited, unanswered <= answered { return seeGenerator }
        if unanswered > Double(result.pushes.planned) / 20, unanswered > Double(result.pushes.failed) / 2 {
            return [
                silent > 0 ? "no answer to \(Units.counted(silent, "push")) within the time-out (--timeout)" : nil,
                begun > 0 ? "only the beginning of an answer to \(Units.counted(begun, "push"))" : nil,
            ].compactMap { $0 }.joined(separator: ", ")
        }
        let unsent = result.notSent.filter { $0.key != "run_ended" && $0.key != "overflowed" }.values
        if unsent.reduce(Double(result.pushes.failed), { $0 + Double($1) }) > Double(result.pushes.planned) / 20 {
            return "pushes failed or found no connection"
        }
        return "streams were not free in time, or the target took nothing: look at in flight and backlog in the series"
    }

    /// Half of the time and more.
    private static func holdUp(_ connections: ResultDocument.Connections) -> String? {
        func percent(_ share: Double) -> String { "\(Units.fixed(100 * share, places: 0)) %" }
        if let share = connections.windowLimited, share >= 0.5 {
            return "the target's flow-control windows held back \(percent(share)) of what could have been sent"
        }
        if let share = connections.writeBlocked, share >= 0.5 {
            return "the target, or the way there, took no more bytes \(percent(share)) of the time"
        }
        return nil
    }

    private static let seeGenerator = "the generator was a limit, see there"
    /// A thread with so much of the time used has no room left.
    private static let busy = 0.95
    /// Held for no more than so many times the shortest, streams did not wait for a generator that was short of time.
    private static let unloaded = 2.0

    private static func number(_ key: String, _ result: ResultDocument) -> Double? {
        result.scenario[key].flatMap { Double($0.description) }
    }

    /// Of the bundled mock, whose threads share its CPU time.
    private static func mockLimit(_ result: ResultDocument) -> String? {
        guard let cpu = result.cost.mockCPU,
            let threads = number("mock_threads", result), threads > 0, result.run.durationSeconds > 0
        else { return nil }
        let answered = Double(result.pushes.accepted) + Double(result.pushes.rejected)
        let load = cpu * answered / 1e9 / result.run.durationSeconds / threads
        guard load >= busy else { return nil }
        return "the bundled mock was busy \(Units.fixed(100 * min(1, load), places: 0)) % of the time (--mock-threads)"
    }

    /// By Little's law so many streams, each held as long as a push took from its begin to its answer, carry so much.
    private static func streamLimit(_ result: ResultDocument) -> String? {
        guard let connections = number("connections", result), let streams = number("streams", result) else {
            return nil
        }
        // Where nothing was answered no stream is known to have been held.
        let held = result.latency[.service].mean
        // They begin together, and so they end: a window holds whole rounds of them.
        let rounds = result.throughput.windowSeconds * 1e9 / held
        guard held > 0, rounds.isFinite else { return nil }
        let part = rounds >= 1 ? rounds.rounded(.down) / rounds...rounds.rounded(.up) / rounds : 1...1
        let asked = (whole: connections * streams, words: "-c times -m")
        for (whole, words) in [asked] + (allowed(result).map { [($0, "no more were open at any time")] } ?? []) {
            guard whole >= 1, whole < 1e15 else { continue }
            let most = whole / (held / 1e9)
            guard (0.8 * part.lowerBound...1.25 * part.upperBound).contains(result.throughput.answered / most) else {
                continue
            }
            return
                "\(Units.counted(UInt64(whole), "stream")) (\(words)), each held \(Units.duration(nanoseconds: held)) "
                + "on average, carry \(Units.perSecond(most))"
        }
        return nil
    }

    /// Streams that the target allows, where it allows fewer than were asked for: as many were open again and again, and never more.
    private static func allowed(_ result: ResultDocument) -> Double? {
        let open = result.series.map(\.inFlight)
        guard let most = open.max(), most > 0, open.count >= 4, open.count(where: { $0 == most }) * 2 >= open.count
        else { return nil }
        return Double(most)
    }
}
