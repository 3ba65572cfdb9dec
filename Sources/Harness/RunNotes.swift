import Measurement
import Networking
import Payloads
import Results
import Settings

/// What the reader of a result has to know besides its figures, a sentence each.
struct RunNotes {
    let inputs: RunInputs
    let outcome: LoadOutcome
    let mock: MockAccount?
    /// That pushes were late is said already, with the cause.
    var isLatenessSaid = false

    var all: [String] {
        outcome.notes + (inputs.sends?.notes ?? []) + inputs.refusals + replay
            + [
                connectionProblem, unopened, streamFault, unexplained, replacedTokens, readBatch, waitsTooLong, windows,
                outcome.abortedFor.map { "ended early: \($0)" }, mock?.problem,
                writtenDevices, unanswered, breakdown, fanOut, lateness, ramp, steadyState, unmatched, ledger,
            ].compactMap { $0 } + misspelt + devices
    }

    /// What there is to know of a recording.
    private var replay: [String] {
        guard let replay = inputs.replay else { return [] }
        let moved =
            outcome.movedPushes > 0
            ? [
                "\(Units.counted(outcome.movedPushes, "push")) went over another connection than recorded, because that was not "
                    + "open or had no stream free for a second"
            ] : []
        return replay.notes + moved
    }

    /// What became of pushes after APNs took them.
    private var devices: [String] {
        guard let devices = mock?.devices else { return [] }
        var notes = [devices.problem, devices.disagreement].compactMap { $0 }
        if devices.isBackendSilent {
            notes.append(
                "the bundled backend did not say what it had counted (it was killed, or stood still): its counts are lost"
            )
        }
        if let settling = devices.figures?.settling, settling > 0 {
            notes.append(
                "\(Units.counted(settling, "push")) had not reached the screen or got the content yet "
                    + (devices.isWaitOver
                        ? "\(Units.duration(nanoseconds: Double(devices.waited))) after the last push had ended (device_wait)"
                        : "when the run was stopped"))
        }
        if devices.outcomes.beyondAccepted > 0 {
            notes.append(
                "\(Units.counted(devices.outcomes.beyondAccepted, "push")) came to devices without the client having the "
                    + "acceptance: in devices.beyond_accepted, among no outcome")
        }
        if let echo = devices.echo, echo.underWay > 0 {
            notes.append("\(Units.counted(echo.underWay, "request")) of devices had not ended when the run did")
        }
        return notes
    }

    /// Too late to stop the run for it. Of registrations whose feedback is kept the journal says so.
    private var writtenDevices: String? {
        guard outcome.abortedFor == nil, !outcome.hasKeptFeedback || !inputs.scenario.feedback,
            case .listed(let devices) = inputs.population, let file = devices.writtenFile
        else { return nil }
        return "\(file) was written to while the run went on: who was pushed to is not certain"
    }

    private var connectionProblem: String? {
        guard !outcome.lastProblem.isEmpty else { return nil }
        let problem =
            outcome.connections.opened > 0 ? NetworkError.withoutHint(outcome.lastProblem) : outcome.lastProblem
        return ResultDocument.connectionProblemMark + problem
    }

    /// Connections are made while others push already, and a run may end before all are.
    private var unopened: String? {
        let opened = outcome.connections.opened
        guard opened > 0, opened < UInt64(inputs.connections), outcome.connections.connectFailures == 0 else {
            return nil
        }
        return
            "\(Units.grouped(opened)) of \(Units.counted(UInt64(inputs.connections), "connection")) were open before the "
            + "run ended: its figures are of the time in which they are made; a longer run with --warmup leaves that out"
    }

    private var streamFault: String? {
        outcome.streamFault.isEmpty ? nil : "first broken stream: \(outcome.streamFault)"
    }

    /// Expected reasons that no answer had and that are nearly one of APNs'.
    private var misspelt: [String] {
        let seen = outcome.measurements.rejections.keys.map(\.reason)
        return inputs.scenario.expectedReasons.compactMap { name in
            guard !Reason.allNames.contains(name), !seen.contains(name),
                let near = NearestName.of(name, among: Reason.allNames)
            else { return nil }
            return "expect_reasons \(name): no answer had this reason; did you mean \"\(near)\"?"
        }
    }

    private var unexplained: String? { outcome.unexplained.map { "first rejection without a reason: \($0)" } }

    private var replacedTokens: String? {
        guard outcome.tokensReplaced > 0 else { return nil }
        return
            "the target said that the provider token had expired (ExpiredProviderToken): "
            + "\(Units.counted(outcome.tokensReplaced, "other one")) signed, \(Units.counted(outcome.sentAnew, "push")) sent again"
            + (outcome.refusedAnew > 0
                ? "; \(Units.counted(outcome.refusedAnew, "push")) refused with that too, and Apple lets a provider sign a third "
                    + "only 20 minutes after it" : "")
    }

    private var readBatch: String? {
        let time = inputs.scenario.readBatch
        guard time > 0, inputs.scenario.measure else { return nil }
        return
            "answers gathered for up to \(Units.duration(nanoseconds: Double(time))) before they were read (read_batch): latencies "
            + "may be so much longer than the target made them"
    }

    private var waitsTooLong: String? {
        guard outcome.retriesTooLong > 0 else { return nil }
        return
            "\(Units.counted(outcome.retriesTooLong, "push")) not sent again: the target asked for a longer wait (Retry-After) "
            + "than a push may take (--timeout)"
    }

    private var windows: String? {
        guard let share = outcome.holdUps.windowLimited, share >= 0.1 else { return nil }
        return
            "the target's flow-control windows held back \(Units.fixed(100 * share, places: 0)) % of what could have been sent "
            + "(RFC 9113 section 5.2; connections.window_limited)"
    }

    private var unanswered: String? {
        guard let unanswered = mock?.comparison?.unanswered, unanswered > 0 else { return nil }
        return
            "\(Units.counted(unanswered, "push")) reached the mock and had been accepted there when the run ended without "
            + "the answer, counted as failed"
    }

    /// Parts know of every push that had its turn. Only answered ones have a status, nothing else is left out there, and sends have
    /// their plan.
    private var breakdown: String? {
        let isLeftOut = outcome.breakdowns.dimensions.contains { $0 != "status" && $0 != "send" }
        guard outcome.untaken > 0, isLeftOut else { return nil }
        let isTooMuch = outcome.isAbandoned && !outcome.run.interrupted && inputs.schedule != nil
        return
            "the breakdown leaves out \(Units.counted(outcome.untaken, "push")) that were not sent: "
            + (isTooMuch
                ? "so many were left of the schedule when the target was given up that they were only counted"
                : "the run was over before their turn")
    }

    /// Longer times than a histogram of microseconds holds.
    private var fanOut: String? {
        let beyond = outcome.fanOut.reduce(0) { $0 &+ $1.clamped }
        guard beyond > 0 else { return nil }
        return
            "\(Units.counted(beyond, "push")) had been accepted more than 1,000 h after the send's start: in the "
            + "fan-out that counts as 1,000 h"
    }

    /// Latency from the intended time and service time from the actual send part.
    private var lateness: String? {
        let (total, service) = (
            outcome.measurements.totals.answered.summary, outcome.measurements[.service].summary
        )
        guard service.count > 0, !isLatenessSaid else { return nil }
        let retried = outcome.retries.attempts > 0 ? "; one that is retried counts from when it was first due" : ""
        let noConnection = outcome.noConnection.section
        for (name, due, sent, share) in [
            ("p99", total.p99, service.p99, 0.01), ("p90", total.p90, service.p90, 0.1),
        ]
        where due > 2 * sent + 1_000_000 {
            return
                "pushes were sent later than they were due: \(name) \(Units.duration(nanoseconds: Double(due))) from the due "
                + "time, \(Units.duration(nanoseconds: Double(sent))) from the actual send; the first is what counts\(retried)"
                + (noConnection.cause(
                    ofLateness: Double(due), share: share, of: outcome.run.durationSeconds,
                    threads: inputs.scenario.threads
                ).map { ". \($0)" } ?? "")
        }
        return nil
    }

    /// Without a warm-up the first answers are missing in the window, where latencies vary: by then nothing had been sent.
    private var ramp: String? {
        let rates = outcome.throughput
        guard let offered = rates.offered, offered > 0, outcome.warmup.seconds == 0, !outcome.run.interrupted,
            rates.sent >= 0.98 * offered
        else { return nil }
        let totals = outcome.measurements.totals.answered.summary
        guard totals.count > 0, rates.answered < 0.98 * offered else { return nil }
        let missing = (totals.mean - Double(totals.min)) / 1e9 / rates.windowSeconds
        guard missing > 0.01 else { return nil }
        return
            "answered and accepted a second may be up to \(Units.fixed(100 * min(1, missing), places: 1)) % low: answers take "
            + "\(Units.duration(nanoseconds: totals.mean)) on average, and the first of them are missing in the window; give "
            + "--warmup"
    }

    private var steadyState: String? {
        guard outcome.warmup.steady == false else { return nil }
        return outcome.warmup.seconds < 2.1
            ? "too short to tell whether rate and latency were steady: --warmup auto needs 2 s within a quarter of the run"
            : "rate and latency were not steady after a quarter of the run; measured from there on"
    }

    private var unmatched: String? {
        guard let unmatched = mock?.oneWay?.unmatched, unmatched > 0 else { return nil }
        return
            "the parts of the round trip leave out \(Units.counted(unmatched, "sampled push")) whose times at both ends do not "
            + "belong together"
    }

    private var ledger: String? {
        outcome.planned > inputs.ledgerCapacity
            ? "not compared with the mock's ledger: more than \(inputs.ledgerCapacity) pushes" : nil
    }
}
