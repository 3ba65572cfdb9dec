import Measurement
import Networking
import Payloads
import Scenarios
import Signing
import Transport

/// One worker's side of a run: says when the next push is due, signs and encodes it, and records how it went.
///
/// Cost a push: three histogram records (open loop: six), and for one push in 16 two clock readings, besides encoding and
/// signing; no allocation, no lock.
final class WorkerDriver: PushDriver {
    let recorder = Recorder(causes: FailureCause.count)
    let breakdowns: Breakdowns
    let box: SnapshotBox
    private(set) var opened: UInt64 = 0
    private(set) var lost: UInt64 = 0
    private(set) var connectFailures: UInt64 = 0
    private(set) var goAways: UInt64 = 0
    private(set) var reconnects: UInt64 = 0
    /// What no connection could be made for; nil while all is well.
    private(set) var abandonedBy: FailureCause?
    /// When the last push ended, ns.
    @exclusivity(unchecked) private(set) var lastEnd: UInt64 = 0
    /// Intended time of the first push that is measured, ns; `.max` before.
    @exclusivity(unchecked) private(set) var firstMeasured = UInt64.max
    /// When that push was answered, ns.
    @exclusivity(unchecked) private(set) var firstAnswer = UInt64.max
    /// When the last push had been taken, ns, and how many were open then; 0 before.
    private(set) var cooldownFrom: UInt64 = 0
    private(set) var cooldownPushes: UInt64 = 0
    /// CPU time for getting provider tokens, ns: all signatures, and uses of a token by one in 16.
    @exclusivity(unchecked) private(set) var signTime: UInt64 = 0
    /// How late each push was taken that could have been on time, as far as that is the generator's own fault: since it was due,
    /// or since the engine last waited with nothing to do, whichever was later.
    @exclusivity(unchecked) private(set) var loopLag = LatencyHistogram()

    private let state: RunState
    private let share: WorkerShare
    private let limit: UInt64
    private let duration: UInt64?
    private let warmup: UInt64
    private let warmupPushes: UInt64
    private let waitsForSteadyState: Bool
    private let writer: PayloadWriter
    private let signer: TokenSigner?
    private let run: RunID
    private let sendsIdentifier: Bool
    private let clock = CycleClock.shared
    private let isMeasuring: Bool
    private let times: PushTimes?
    private let isOpenLoop: Bool
    private let breaksDown: Bool
    private let burnsTime: Bool
    @exclusivity(unchecked) private var burner: TimeBurner
    /// Open loop only.
    @exclusivity(unchecked) private var cursor: ArrivalCursor?
    @exclusivity(unchecked) private var backlog: Backlog?
    /// When push `next` is due, ns; 0 before it was asked for.
    @exclusivity(unchecked) private var nextDue: UInt64 = 0
    /// When the engine last had nothing to do, ns: from then on, being late is ours.
    @exclusivity(unchecked) private var idleUntil: UInt64 = 0
    @exclusivity(unchecked) private(set) var retries: Retries
    private let retriesOff: Bool
    @exclusivity(unchecked) private var next: UInt64 = 0
    @exclusivity(unchecked) private var start: UInt64 = 0
    @exclusivity(unchecked) private var unixTime: Int64 = 0
    /// Pushes composed so far, to pick those whose encoding is timed.
    @exclusivity(unchecked) private var composed: UInt64 = 0
    /// One push in so many has its encoding timed, and the use of a token that is there already.
    static let sample: UInt64 = 16

    init(inputs: RunInputs, share: WorkerShare, state: RunState, box: SnapshotBox, signer: TokenSigner?) {
        self.state = state
        self.share = share
        self.box = box
        self.signer = signer
        let scenario = inputs.scenario
        duration = scenario.duration
        limit = (inputs.planned ?? scenario.pushes).map { share.count(of: $0) } ?? .max
        warmup = scenario.warmup
        warmupPushes = scenario.warmupPushes
        waitsForSteadyState = scenario.warmupAuto
        isMeasuring = scenario.measure
        times = state.times
        writer = PayloadWriter(mix: inputs.mix, population: inputs.population, run: inputs.run, seed: scenario.seed)
        run = inputs.run
        sendsIdentifier = scenario.apnsID
        breakdowns = Breakdowns(inputs, writer: writer)
        retries = Retries(scenario, worker: share.worker)
        retriesOff = retries.isOff
        isOpenLoop = inputs.schedule != nil
        breaksDown = breakdowns.isOn
        burner = TimeBurner(perPush: inputs.injectedCPU)
        burnsTime = inputs.injectedCPU > 0
        if let schedule = inputs.schedule {
            cursor = schedule.cursor()
            backlog = Backlog(schedule, share: share, bound: scenario.backlog / UInt64(scenario.threads))
        }
    }

    /// Bytes the payload memory must have.
    var payloadCapacity: Int { writer.maximumPayloadSize + PayloadWriter.slack }
    var tokensSigned: UInt64 { signer?.tokensSigned ?? 0 }

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

    /// Fails what waits to be sent again and will not be.
    func giveUpRetries() {
        for ticket in retries.removeAll() {
            recorder.failed(cause: (abandonedBy ?? .interrupted).index)
            if breaksDown { breakdowns.failed(ticket, connection: -1, start: start) }
        }
    }

    private func takeNew(_ now: UInt64, _ ticket: inout PushTicket) -> Supply {
        if next >= limit {
            beginCooldown(now)
            return .finished
        }
        if start == 0 { start = state.begin(now) }
        var due = now
        if isOpenLoop {
            if nextDue == 0 { findNextDue() }
            if nextDue > now { return .notBefore(nextDue) }
            if now &- nextDue > backlog!.harmlessLateness, !dropOverflowed(now) { return .finished }
            if isMeasuring { loopLag.record(max(1, now &- min(max(nextDue, idleUntil), now))) }
            due = nextDue
            nextDue = 0
        } else if let duration, now >= start &+ duration {
            next = limit
            beginCooldown(now)
            return .finished
        }
        ticket.sequence = share.sequence(next)
        ticket.due = due
        ticket.attempts = 0
        ticket.retries = 0
        next &+= 1
        recorder.take()
        return .push
    }

    override func idled(until time: UInt64) { idleUntil = time }

    /// The last push has been taken: what is open now is only waited for.
    private func beginCooldown(_ now: UInt64) {
        guard cooldownFrom == 0 else { return }
        cooldownFrom = now
        cooldownPushes = recorder.counts.taken - recorder.counts.ended
    }

    private func findNextDue() {
        nextDue = start &+ cursor!.due(share.sequence(next))
    }

    /// Passes over what has overflowed.
    ///
    /// - Returns: false when nothing is left.
    private func dropOverflowed(_ now: UInt64) -> Bool {
        countOverflowed(now)
        let following = backlog!.pass(next)
        guard following != next else { return true }
        next = following
        guard next < limit else { return false }
        findNextDue()
        return true
    }

    private func countOverflowed(_ now: UInt64) {
        guard now > start else { return }
        let count = backlog!.advance(elapsed: now &- start, next: next, limit: limit)
        guard count > 0 else { return }
        recorder.overflowed(count, cause: FailureCause.overflowed.index)
        lastEnd = now
    }

    // MARK: A push's way

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        let sequence = ticket.sequence
        composed &+= 1
        let isSampled = isMeasuring ? composed & (Self.sample - 1) == 0 : false
        sign(connection, isSampled, &request)
        let begin = isSampled ? clock.now() : 0
        let profile = writer.profileIndex(sequence: sequence)
        request.headerSet = profile
        request.tokenLength = writer.writeToken(device: writer.device(sequence: sequence), into: request.token)
        request.payloadLength = writer.write(
            sequence: sequence, profile: profile, unixTime: UInt64(truncatingIfNeeded: unixTime),
            into: request.payload)
        if sendsIdentifier {
            PushID.write(run: run, sequence: sequence, into: request.identifier)
            request.hasIdentifier = true
        }
        if burnsTime { burner.burn() }
        if isSampled, isMeasured(ticket) {
            recorder.encoded(clock.nanoseconds(from: begin, to: clock.now()))
        }
    }

    /// A signature is always timed, the use of a token that is there already now and then.
    @inline(__always)
    private func sign(_ connection: Int, _ isSampled: Bool, _ request: inout PushRequest) {
        guard let signer else { return }
        let mayHaveToSign = isMeasuring && signer.mayHaveToSign
        if isSampled || mayHaveToSign {
            let begin = clock.now()
            request.authorization = signer.authorization(connection: connection, unixTime: unixTime)
            let time = clock.nanoseconds(from: begin, to: clock.now())
            recorder.signed(time)
            signTime &+= mayHaveToSign ? time : time &* Self.sample
        } else {
            request.authorization = signer.authorization(connection: connection, unixTime: unixTime)
        }
    }

    /// Not in the warm-up.
    @inline(__always)
    private func isMeasured(_ ticket: borrowing PushTicket) -> Bool {
        if ticket.sequence < warmupPushes { return false }
        if waitsForSteadyState { return ticket.due >= state.measuredFrom.load(ordering: .relaxed) }
        return ticket.due &- start >= warmup
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        recorder.sent()
        guard isMeasuring, isMeasured(ticket) else { return }
        if let times {
            let sample = times.sample(ticket.sequence)
            if sample >= 0 { times.note(.departure, sample: sample, at: time) }
        }
        recorder.queued(time &- ticket.due)
        if isOpenLoop { recorder.wrote(late: max(started &- ticket.due, 1), write: max(time &- started, 1)) }
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) {
        lastEnd = time
        if !retriesOff {
            let copy = PushTicket(
                sequence: ticket.sequence, due: ticket.due, attempts: ticket.attempts, retries: ticket.retries)
            if retries.take(copy, outcome, sent: recorder.counts.sent, now: time) { return }
        }
        switch outcome {
        case .accepted:
            state.accepted.mark(ticket.sequence)
            recorder.accepted()
        case .rejected(let status): recorder.rejected(status: Int(status), reason: Self.reason(body))
        case .failed(let cause):
            recorder.failed(cause: cause.index)
            if breaksDown { breakdowns.failed(ticket, connection: connection, start: start) }
            return
        }
        let isMeasured = isMeasuring ? isMeasured(ticket) : false
        if isMeasured {
            if firstMeasured == .max {
                firstMeasured = ticket.due
                firstAnswer = time
            }
            // An answer can be read in the same instant as, or before, its push's last bytes are noted as written.
            recorder.answered(
                roundTrip: written != 0 && time > written ? time &- written : 1, total: time &- ticket.due)
            if isOpenLoop { recorder.served(time &- started) }
            if let times, case .accepted = outcome {
                let sample = times.sample(ticket.sequence)
                if sample >= 0 { times.note(.arrival, sample: sample, at: time) }
            }
        }
        if breaksDown {
            breakdowns.answered(
                ticket, outcome, connection: connection, at: time, start: start, isMeasured: isMeasured)
        }
    }

    override func requeued(_ ticket: borrowing PushTicket) { recorder.retried() }

    override func abandon(_ cause: FailureCause) { abandonedBy = cause }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        switch event {
        case .opened:
            opened += 1
            signer?.connectionOpened(index, unixTime: unixTime)
        case .lost: lost += 1
        case .connectFailed: connectFailures += 1
        case .goAway: goAways += 1
        case .reconnecting: reconnects += 1
        }
    }

    override func tick(now: UInt64, unixTime: Int64, inFlight: Int) {
        self.unixTime = unixTime
        if isOpenLoop, start != 0, next < limit { countOverflowed(now) }
        box.offer(recorder, inFlight: inFlight, backlog: backlog?.waiting(next: next) ?? 0, time: now)
    }

    /// The text after `"reason":"` in an error answer; empty when there is none.
    static func reason(_ body: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let key = Array("\"reason\"".utf8)
        var place = 0
        while place + key.count < body.count {
            if body[place..<(place + key.count)].elementsEqual(key) {
                var start = place + key.count
                while start < body.count, body[start] != 0x22 { start += 1 }
                var end = start + 1
                while end < body.count, body[end] != 0x22, body[end] > 0x20, body[end] < 0x7F { end += 1 }
                guard end < body.count, body[end] == 0x22 else { break }
                return UnsafeBufferPointer(rebasing: body[(start + 1)..<end])
            }
            place += 1
        }
        return UnsafeBufferPointer(start: nil, count: 0)
    }
}
