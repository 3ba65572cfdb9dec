import Measurement
import Networking
import Scenarios
import Signing
import Transport

/// One worker's side of a run: joins what says when the next push is due (`PushSupply`), whether it is measured (`Warmup`,
/// `RateWindow`), what it is made of (`PushComposer`), and what records how it went (`Recorder`, `Breakdowns`).
///
/// Cost a push: three histogram records (open loop: seven), besides composing it; no allocation, no lock.
final class WorkerDriver: PushDriver {
    let recorder = Recorder(causes: FailureCause.count)
    let breakdowns: Breakdowns
    let box: SnapshotBox
    private(set) var connections = ConnectionCounts()
    /// Of these, those once the measured span of an open loop was over.
    private(set) var lateConnections = ConnectionCounts()
    /// For how long it had no connection for pushes that were due.
    private(set) var noConnection = NoConnection()
    /// Of the pushes that overflowed, those that came due while its thread stood still or was busy.
    private(set) var ownOverflows: UInt64 = 0
    /// What was wrong with the first stream that the target broke; empty while all is well.
    private(set) var streamFault = ""
    /// The first answer that rejected a push without a reason; nil while there is none.
    private(set) var unexplained: UnexplainedAnswer?
    /// What no connection could be made for; nil while all is well.
    private(set) var abandonedBy: FailureCause?
    /// When it was given up, ns.
    private var abandonedAt: UInt64 = 0
    /// It will send nothing more.
    private var hasLeft = false
    /// When it was told that the run was interrupted, ns; 0: it was not.
    private(set) var interruptedAt: UInt64 = 0
    /// What pushes end with that are not sent because the run was ended.
    private var stoppedBy = FailureCause.interrupted
    private var isStopped = false
    private var hasEnded = false
    /// When the last push ended, ns.
    @exclusivity(unchecked) private(set) var lastEnd: UInt64 = 0
    /// What happened while pushes are measured.
    @exclusivity(unchecked) private(set) var window = RateWindow()
    /// When the last push had been taken, ns, and how many were open then; 0 before.
    private(set) var cooldownFrom: UInt64 = 0
    private(set) var cooldownPushes: UInt64 = 0
    @exclusivity(unchecked) private(set) var composer: PushComposer

    let share: WorkerShare
    /// The first of its pushes that may be sent: others were before it was taken up again.
    let begun: UInt64
    /// What fan-out times count from lies so long before the start, ns.
    private let fanOutBegin: UInt64
    /// Streams that are free at this moment, of its engine.
    var freeStreams: () -> UInt64 = { 0 }
    /// The time, of its engine, ns.
    var clock: () -> UInt64 = { 0 }
    private let state: RunState
    private let accepted: DeliveryLedger
    /// Length of the schedule, or of the closed loop; nil when a number of pushes ends it.
    private let length: UInt64?
    @exclusivity(unchecked) private var warmup: Warmup
    private let isMeasuring: Bool
    private let times: PushTimes?
    private let intended: IntendedTimes?
    private let isOpenLoop: Bool
    private let breaksDown: Bool
    /// nil where there are no registrations.
    let fanOut: FanOutTimes?
    private let tracksFanOut: Bool
    /// It goes on until a figure is known, and has not been told when that is.
    private var mayEndEarly: Bool
    /// When some of its pushes were begun.
    @exclusivity(unchecked) private(set) var arrivals = ArrivalSample()
    @exclusivity(unchecked) private var supply: PushSupply
    /// When it has ended: the first of its pushes that it was stopped before. Those that were due and waited are the last it counts.
    var position: UInt64 {
        begun + recorder.counts.taken - recorder.notSent[FailureCause.interrupted.index]
    }
    /// Start of the schedule, ns; 0 before.
    @exclusivity(unchecked) private var start: UInt64 = 0
    /// CPU time of its thread when it began to send, ns; nil before.
    private(set) var cpuAtStart: UInt64?
    /// When the engine last had nothing to do, ns: from then on, being late is ours.
    @exclusivity(unchecked) private var idleUntil: UInt64 = 0
    @exclusivity(unchecked) private(set) var retries: Retries
    private let retriesOff: Bool
    /// What the answer that is told next asks to wait, ns.
    private var askedWait: UInt64 = 0
    /// Pushes whose token had expired: sent again with another one, and those for which there was no other any more.
    private(set) var sentAnew: UInt64 = 0
    private(set) var refusedAnew: UInt64 = 0
    /// What answers said of devices; kept where there are registrations.
    private(set) var feedback = Feedback()
    private let keepsFeedback: Bool
    private let sends: Sends?
    /// A recording that is sent again; nil: there is none.
    private let replay: Replay?
    private let isReplay: Bool
    /// Connections of the run, over which the recorded ones are dealt.
    private let connectionCount: Int
    /// Pushes of the recording that went over another connection than their own.
    private(set) var movedPushes: UInt64 = 0
    /// Pushes of a target that is gone, of which each is looked at: a second or two.
    var mostCountedApart: UInt64 = 20_000_000

    init(inputs: RunInputs, thread: Int, state: RunState, box: SnapshotBox, signer: TokenSigner?) {
        share = inputs.share(thread)
        begun = inputs.begin(thread)
        fanOutBegin = state.begun.load(ordering: .relaxed)
        self.state = state
        accepted = state.accepted
        self.box = box
        composer = PushComposer(inputs, signer: signer)
        let scenario = inputs.scenario
        // A schedule of no length, such as a burst, ends with its answers.
        length = inputs.schedule.map { _ in inputs.ownLength.flatMap { $0 > 0 ? $0 : nil } } ?? inputs.ownDuration
        supply = PushSupply(inputs, thread: thread, reservation: state.reservations.map { $0[thread] })
        warmup = Warmup(inputs)
        isMeasuring = scenario.measure
        times = state.times
        intended = state.intended
        breakdowns = Breakdowns(inputs, writers: composer.writers)
        retries = Retries(scenario, worker: share.worker)
        retriesOff = retries.isOff
        sends = inputs.sends
        replay = inputs.replay
        isReplay = replay != nil
        connectionCount = scenario.connections
        keepsFeedback = scenario.feedback && sends != nil
        isOpenLoop = inputs.schedule != nil
        breaksDown = breakdowns.isOn
        fanOut = inputs.sends.map(FanOutTimes.init)
        tracksFanOut = fanOut != nil
        mayEndEarly = scenario.until != nil
    }

    // MARK: What is due

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        if retriesOff { return takeNew(now, &ticket) }
        if let again = retries.next(now: now) {
            ticket = again
            return .push
        }
        let supply = takeNew(now, &ticket)
        switch supply {
        case .push: return .push
        case .notBefore(let due): return .notBefore(min(due, retries.nextDue ?? .max))
        case .finished:
            // Whatever is still under way may come back.
            let counts = recorder.counts
            if counts.taken == counts.ended { return .finished }
            return .notBefore(min(retries.nextDue ?? .max, now &+ 5_000_000))
        }
    }

    override func hasMore(now: UInt64) -> Bool {
        if start != 0, supply.isOver(now) { tookLast(now) }
        guard supply.isUsedUp else { return true }
        if retriesOff { return false }
        let counts = recorder.counts
        return counts.taken != counts.ended
    }

    /// What waits to be sent again will not be.
    override func ended(now: UInt64) {
        for last in retries.removeAll() { end(last) }
        if abandonedBy != nil, isOpenLoop {
            if !isStopped, !state.isAnySending { state.hasRunOut.store(true, ordering: .releasing) }
            joinSchedule(now)
            if start != 0 { giveUpRest(now) }
        }
        leave()
        hasEnded = true
    }

    private func leave() {
        if hasLeft { return }
        hasLeft = true
        state.leave()
    }

    /// One that gave its target up stays while others send: what its schedule asks for comes due, and counts.
    override func mayEnd(now: UInt64) -> Bool {
        abandonedBy == nil || !isOpenLoop || supply.isUsedUp || !state.isAnySending
    }

    private func takeNew(_ now: UInt64, _ ticket: inout PushTicket) -> Supply {
        if start == 0, !supply.isUsedUp { begin(now) }
        var push: (sequence: UInt64, due: UInt64) = (0, 0)
        if supply.mayHaveOverflowed(now) { noteOverflow(now) }
        let answer = supply.take(now, &push)
        switch answer {
        case .push: break
        case .notBefore: return answer
        case .finished:
            tookLast(now)
            return answer
        }
        ticket.sequence = push.sequence
        ticket.due = push.due
        ticket.attempts = 0
        ticket.retries = 0
        ticket.wasWritten = false
        ticket.isMeasured = isMeasured(push.sequence, due: push.due)
        if ticket.isMeasured { window.noteDue(push.due) }
        if isOpenLoop, isMeasuring {
            // Late by the generator's own fault: since it was due, or since the engine last waited with nothing to do.
            if ticket.isMeasured { recorder.lagged(max(1, now &- min(max(push.due, idleUntil), now))) }
            arrivals.began(supply.next &- 1, at: now)
        }
        recorder.take()
        if supply.isUsedUp { tookLast(now) }
        return .push
    }

    private func begin(_ now: UInt64) {
        let start = state.begin(now)
        self.start = start
        cpuAtStart = ThreadTime.now()
        supply.begin(start)
        if let length { window.end(.at(start &+ length)) }
        if let from = warmup.end(start: start, supply) { window.begin(from) }
    }

    /// The schedule starts for all workers when the first one has a connection: what comes due counts for those without, too.
    private func joinSchedule(_ now: UInt64) {
        if start == 0, isOpenLoop, state.start.load(ordering: .relaxed) != 0 { begin(now) }
    }

    /// Not in the warm-up.
    @inline(__always)
    private func isMeasured(_ sequence: UInt64, due: UInt64) -> Bool {
        if window.from == .max { findWindow(sequence, due: due) }
        return due >= window.from && warmup.isOver(sequence)
    }

    private func findWindow(_ sequence: UInt64, due: UInt64) {
        let steadyFrom = state.measuredFrom.load(ordering: .relaxed)
        if let from = warmup.end(sequence, due: due, steadyFrom: steadyFrom) { window.begin(from) }
    }

    override func idled(until time: UInt64) { idleUntil = time }

    override func missed(_ noConnection: NoConnection) { self.noConnection = noConnection }

    override func nextDue(now: UInt64) -> UInt64? {
        if isStopped { return nil }
        if start == 0 {
            // A closed loop that others have begun waits for its first connection.
            let common = state.start.load(ordering: .relaxed)
            return isOpenLoop || common == 0 || supply.isUsedUp ? nil : common
        }
        // What comes due of a schedule whose target was given up ends as it does.
        if abandonedBy != nil { return supply.isUsedUp ? nil : start }
        return [supply.dueTime(now), retries.nextDue].compactMap { $0 }.min()
    }

    private func tookLast(_ now: UInt64) {
        // A closed loop that had its number of pushes before its time.
        if cooldownFrom == 0, !isOpenLoop, now < window.to { window.end(.lastAnswer) }
        beginCooldown(now)
    }

    /// The last push has been taken: what is open now is only waited for.
    private func beginCooldown(_ now: UInt64) {
        guard cooldownFrom == 0 else { return }
        cooldownFrom = now
        cooldownPushes = recorder.counts.taken - recorder.counts.ended
    }

    private func noteOverflow(_ now: UInt64) {
        supply.noteOverflow(now, free: { freeStreams() }) { overflowed($0, due: $1, now) }
    }

    private func overflowed(_ sequence: UInt64, due: UInt64, _ now: UInt64) {
        recorder.notSent(1, cause: FailureCause.overflowed.index)
        if now > max(due, idleUntil) &+ GeneratorVerdict.noticedLag { ownOverflows += 1 }
        lastEnd = max(lastEnd, now)
        // It is given up the moment it comes due.
        notBegun(sequence, due: due, now: due)
    }

    /// A push that was due and will not be sent counts in the latencies all the same.
    private func notBegun(_ sequence: UInt64, due: UInt64, now: UInt64) {
        let isMeasured = isMeasured(sequence, due: due)
        let waited = now > due ? now &- due : 1
        if isMeasured {
            window.noteDue(due)
            if isMeasuring { recorder.unanswered(after: waited) }
        }
        if breaksDown {
            breakdowns.unanswered(
                sequence, connection: -1, isBegun: false, after: waited, isMeasured: isMeasuring && isMeasured)
        }
    }

    /// What waits for a stream will not get one: it is not sent.
    ///
    /// - Parameter time: what is due by then counts as waiting.
    /// - Returns: how many pushes would have come due later, and how many of these in the span that is measured.
    private func closeSupply(_ now: UInt64, until time: UInt64) -> (later: UInt64, measured: UInt64) {
        guard !supply.isUsedUp else { return (0, 0) }
        beginCooldown(now)
        if abandonedBy == nil { noteOverflow(now) }
        return supply.close(time, end: abandonedBy == nil ? 0 : window.to) { notTaken($0, due: $1, now: now) }
    }

    /// It waits for a stream, and will not get one.
    private func notTaken(_ sequence: UInt64, due: UInt64, now: UInt64) {
        recorder.notSent(1, cause: (abandonedBy ?? stoppedBy).index)
        // What comes due once the target is gone is given up at once.
        notBegun(sequence, due: due, now: abandonedBy == nil ? now : min(now, abandonedAt))
    }

    /// The target is gone, but not what the schedule asks for: that counts as it comes due, and once all workers are through, to
    /// the schedule's end.
    override func abandon(_ cause: FailureCause, now: UInt64) {
        (abandonedBy, abandonedAt) = (cause, now)
        leave()
        for last in retries.removeAll() { end(last) }
        joinSchedule(now)
        guard isOpenLoop else {
            // The span of a number of pushes ends with the last answer.
            return length == nil ? _ = closeSupply(now, until: now) : endEarly(now)
        }
        // No worker has had a connection yet: when the schedule begins, if it does, is not known.
        guard start != 0, !supply.isUsedUp else { return }
        beginCooldown(now)
        noteOverflow(now)
        giveUp(dueBy: now)
    }

    private func giveUp(dueBy now: UInt64) { supply.giveUp(dueBy: now) { notTaken($0, due: $1, now: now) } }

    private func giveUpRest(_ now: UInt64) {
        // One by one, so that parts know of them too, unless that would take seconds.
        let isShort = supply.left <= mostCountedApart
        let rest = closeSupply(now, until: isShort ? .max : window.from == .max ? now : max(now, window.from))
        guard rest.later > 0, window.from != .max else { return }
        window.noteDue(count: rest.measured)
        if isMeasuring { recorder.unanswered(after: 1, count: rest.later) }
    }

    override func stopped(_ cause: FailureCause, now: UInt64) {
        // The schedule counts to its end, as in the worker that has ended.
        if abandonedBy != nil, isOpenLoop, state.hasRunOut.load(ordering: .acquiring) { return }
        (stoppedBy, isStopped) = (cause, true)
        retries.stop()
        joinSchedule(now)
        if !supply.isUsedUp { lastEnd = max(lastEnd, now) }
        // When the run's time is over, so is the span.
        if cause == .runEnded {
            _ = closeSupply(now, until: now)
        } else {
            interruptedAt = now
            endEarly(now)
        }
    }

    private func endEarly(_ now: UInt64) {
        _ = closeSupply(now, until: now)
        window.cut(now)
    }

    // MARK: A push's way

    override func connection(of ticket: borrowing PushTicket) -> Int {
        (replay?.connection(ticket.sequence) ?? 0) % connectionCount
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        if isReplay, connection != self.connection(of: ticket) { movedPushes += 1 }
        composer.compose(ticket, connection: connection, into: &request, recorder)
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        recorder.sent()
        if !retriesOff { retries.noteSent(ticket) }
        if ticket.wasWritten { recorder.sentAgain() }
        window.noteSent(time, isAgain: ticket.wasWritten)
        if let times, isMeasuring, ticket.isMeasured {
            let sample = times.sample(ticket.sequence)
            if sample >= 0 { times.note(.departure, sample: sample, at: time) }
        }
    }

    override func writtenAfterEnd(at time: UInt64) {
        recorder.sent()
        window.noteSent(time)
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) {
        // An answer's time is that of its read, and may be before an end that has been told.
        lastEnd = max(lastEnd, time)
        let reason: UnsafeBufferPointer<UInt8>? = if case .rejected = outcome { ReasonText.find(in: body) } else { nil }
        if case .rejected(let status) = outcome, reason == nil, unexplained == nil {
            unexplained = UnexplainedAnswer(status: status, body: body)
        }
        if keepsFeedback, case .rejected(let status) = outcome, status == 410 || status == 400 {
            feedback.note(ticket.sequence, of: sends!, body, status: status)
        }
        if !retriesOff {
            if let last = retries.didEnd(ticket), Self.isUnsent(outcome, started: started, written: written) {
                return end(last)
            }
            let isRetried = retries.take(
                copy ticket, outcome, connection: connection, started: started, written: written, at: time,
                reason: reason, sent: recorder.counts.sent, asked: askedWait)
            askedWait = 0
            if isRetried { return }
        }
        end(
            ticket, outcome, connection: connection, started: started, written: written, at: time,
            reason: reason ?? UnsafeBufferPointer(start: nil, count: 0))
    }

    /// Nothing came of an attempt: the run or its target was over before the last byte of it was sent.
    private static func isUnsent(_ outcome: PushOutcome, started: UInt64, written: UInt64) -> Bool {
        guard case .failed(let cause) = outcome else { return false }
        return written == 0 && (started == 0 || cause.isEndOfRun)
    }

    /// Ends a push that is not sent again as its last attempt did.
    private func end(_ last: EndedAttempt) {
        last.reason.withUnsafeBufferPointer {
            end(
                last.ticket, last.outcome, connection: last.connection, started: last.started, written: last.written,
                at: last.time, reason: $0)
        }
    }

    @inline(__always)
    private func end(
        _ ticket: borrowing PushTicket, _ outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64, reason: UnsafeBufferPointer<UInt8>
    ) {
        let isMeasured = isMeasuring ? ticket.isMeasured : false
        if isMeasured, written != 0 {
            recorder.queued(written > ticket.due ? written &- ticket.due : 1)
            if isOpenLoop {
                recorder.wrote(
                    late: started > ticket.due ? started &- ticket.due : 1,
                    write: written > started ? written &- started : 1)
            }
        }
        // Several workers' clock readings may cross.
        let total = time > ticket.due ? time &- ticket.due : 1
        switch outcome {
        case .accepted:
            if isReplay ? replay!.isTraced(ticket.sequence) : true { accepted.mark(ticket.sequence) }
            if let intended { intended.note(ticket.sequence, due: ticket.due, isMeasured: ticket.isMeasured) }
            recorder.accepted(total: total, isMeasured: isMeasured)
            window.noteAnswer(time, total: total, isAccepted: true, isMeasured: ticket.isMeasured)
            if tracksFanOut { fanOut!.accepted(ticket.sequence, at: ticket.due &+ total &- start &+ fanOutBegin) }
        case .rejected(let status):
            recorder.rejected(
                status: Int(status), reason: reason, total: total, isMeasured: isMeasured)
            window.noteAnswer(time, total: total, isAccepted: false, isMeasured: ticket.isMeasured)
        case .failed(let cause):
            fail(ticket, cause, connection: connection, at: time)
            return
        }
        if isMeasured {
            // An answer may come before its push was written whole; then there was no round trip.
            if written != 0 { recorder.travelled(roundTrip: max(time, written &+ 1) &- written) }
            if isOpenLoop { recorder.served(max(time, started &+ 1) &- started) }
            if let times, case .accepted = outcome {
                let sample = times.sample(ticket.sequence)
                if sample >= 0 { times.note(.arrival, sample: sample, at: time) }
            }
        }
        if breaksDown {
            breakdowns.answered(
                ticket, outcome, connection: connection, total: total, isMeasured: isMeasured)
        }
    }

    private func fail(_ ticket: borrowing PushTicket, _ cause: FailureCause, connection: Int, at time: UInt64) {
        let waited = time > ticket.due ? time &- ticket.due : 1
        let isMeasured = isMeasuring ? ticket.isMeasured : false
        recorder.failed(cause: cause.index)
        if isMeasured { recorder.unanswered(after: waited) }
        if breaksDown {
            breakdowns.unanswered(
                ticket.sequence, connection: connection, isBegun: true, after: waited, isMeasured: isMeasured)
        }
    }

    override func askedToWait(_ time: UInt64) { askedWait = time }

    override func hasSignedAnew(
        connection: Int, started: UInt64, isLast: Bool, body: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let reason = ReasonText.find(in: body), reason.elementsEqual("ExpiredProviderToken".utf8) else {
            return false
        }
        let isAnew = composer.replaceToken(connection: connection, usedAt: started, now: clock())
        if !isAnew { refusedAnew += 1 } else if !isLast { sentAnew += 1 }
        return isAnew
    }

    override func requeued(_ ticket: borrowing PushTicket) { recorder.retried() }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        if case .opened = event { composer.connectionOpened(index) }
        connections.note(event)
        breakdowns.targets?.note(index, event)
        if isOpenLoop, start != 0, clock() >= window.to { lateConnections.note(event) }
    }

    /// Hints are for the end, when it is known whether a connection was open.
    override func connectionProblem(_ text: String) {
        state.problems.withLock { $0.note(NetworkError.withoutHint(text)) }
    }

    override func streamFault(_ text: String) {
        // Later ones would take the places of connections' problems.
        guard streamFault.isEmpty else { return }
        streamFault = text
        state.problems.withLock { $0.note(text) }
    }

    /// The figure that the run goes on for is known: what is due from then on is not sent.
    private func lookForEnd(_ now: UInt64) {
        let end = state.endsAt.load(ordering: .relaxed)
        guard end != .max else { return }
        mayEndEarly = false
        supply.end(at: end)
        window.cut(end)
        if supply.isUsedUp { beginCooldown(now) }
    }

    override func tick(now: UInt64, unixTime: Int64, inFlight: Int) {
        composer.unixTime = unixTime
        joinSchedule(now)
        if mayEndEarly { lookForEnd(now) }
        if isOpenLoop, isMeasuring { arrivals.tick(now) }
        if abandonedBy != nil {
            giveUp(dueBy: now)
        } else if isOpenLoop {
            noteOverflow(now)
        }
        box.offer(
            recorder, window: window, inFlight: inFlight, backlog: supply.waiting, position: supply.position,
            noConnection: noConnection, time: now, isLast: hasEnded)
    }
}
