import Measurement
import Networking
import Payloads
import Scenarios
import Signing
import Synchronization
import Transport

/// What all workers of a run share: touched when the first push is taken and for each accepted one's ledger bit.
final class RunState: Sendable {
    /// Start of the schedule, ns of the monotonic clock; 0 until the first connection is ready.
    let start = Atomic<UInt64>(0)
    /// Which pushes were accepted, one bit each.
    let accepted: DeliveryLedger

    init(accepted: DeliveryLedger) { self.accepted = accepted }

    /// The start, set by whoever asks first.
    func begin(_ now: UInt64) -> UInt64 {
        let (_, original) = start.compareExchange(expected: 0, desired: now, ordering: .relaxed)
        return original == 0 ? now : original
    }
}

/// One worker's side of a run: says when the next push is due, signs and encodes it, and records how it went.
///
/// Cost a push: three clock readings and five histogram records besides encoding and signing; no allocation, no lock.
final class WorkerDriver: PushDriver {
    let recorder = Recorder(causes: FailureCause.count)
    let box: SnapshotBox
    private(set) var opened: UInt64 = 0
    private(set) var lost: UInt64 = 0
    private(set) var connectFailures: UInt64 = 0
    private(set) var goAways: UInt64 = 0
    private(set) var reconnects: UInt64 = 0
    /// What no connection could be made for; nil while all is well.
    private(set) var abandonedBy: FailureCause?
    /// When the last push ended, ns.
    private(set) var lastEnd: UInt64 = 0

    private let state: RunState
    private let share: WorkerShare
    private let schedule: ArrivalSchedule
    private let limit: UInt64
    private let duration: UInt64?
    private let writer: PayloadWriter
    private let signer: TokenSigner?
    private let run: RunID
    private let sendsIdentifier: Bool
    private var next: UInt64 = 0
    private var start: UInt64 = 0
    private var unixTime = MonotonicClock.unixSeconds()

    init(
        inputs: RunInputs, share: WorkerShare, state: RunState, box: SnapshotBox, signer: TokenSigner?
    ) {
        self.state = state
        self.share = share
        self.box = box
        self.signer = signer
        schedule = inputs.scenario.schedule
        duration = inputs.scenario.duration
        limit =
            inputs.scenario.plannedPushes.map { share.count(of: $0) }
            ?? inputs.scenario.pushes.map { share.count(of: $0) } ?? .max
        writer = PayloadWriter(
            mix: inputs.mix, population: inputs.population, run: inputs.run, seed: inputs.scenario.seed)
        run = inputs.run
        sendsIdentifier = inputs.scenario.apnsID
    }

    /// Bytes the payload memory must have.
    var payloadCapacity: Int { writer.maximumPayloadSize + PayloadWriter.slack }
    var tokensSigned: UInt64 { signer?.tokensSigned ?? 0 }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        if next >= limit { return .finished }
        if start == 0 { start = state.begin(now) }
        let sequence = share.sequence(next)
        var due = now
        if let offset = schedule.dueOffset(sequence) {
            due = start &+ offset
            if due > now { return .notBefore(due) }
        } else if let duration, now >= start &+ duration {
            next = limit
            return .finished
        }
        next &+= 1
        recorder.take()
        ticket.sequence = sequence
        ticket.due = due
        ticket.attempts = 0
        return .push
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        let begin = MonotonicClock.now()
        if let signer { request.authorization = signer.authorization(connection: connection, unixTime: unixTime) }
        let signed = MonotonicClock.now()
        let sequence = ticket.sequence
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
        let encoded = MonotonicClock.now()
        recorder.composed(sign: signed &- begin, encode: encoded &- signed)
    }

    override func written(due: UInt64, at time: UInt64) {
        recorder.written(queue: time &- due)
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, written: UInt64, at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) {
        lastEnd = time
        // An answer can be read in the same instant as, or before, its push's last bytes are noted as written.
        let trip = written != 0 && time > written ? time &- written : 1
        switch outcome {
        case .accepted:
            state.accepted.mark(ticket.sequence)
            recorder.accepted(roundTrip: trip, total: time &- ticket.due)
        case .rejected(let status):
            recorder.rejected(
                status: Int(status), reason: Self.reason(body), roundTrip: trip, total: time &- ticket.due)
        case .failed(let cause):
            recorder.failed(cause: cause.index)
        }
    }

    override func requeued(_ ticket: borrowing PushTicket) { recorder.retried() }

    override func abandon(_ cause: FailureCause) { abandonedBy = cause }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        switch event {
        case .opened:
            opened += 1
            signer?.connectionOpened(index, unixTime: MonotonicClock.unixSeconds())
        case .lost: lost += 1
        case .connectFailed: connectFailures += 1
        case .goAway: goAways += 1
        case .reconnecting: reconnects += 1
        }
    }

    override func tick(now: UInt64, inFlight: Int) {
        unixTime = MonotonicClock.unixSeconds()
        box.offer(recorder, inFlight: inFlight, time: now)
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
