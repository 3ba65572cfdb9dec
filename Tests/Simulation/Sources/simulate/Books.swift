import HTTP2
import Harness
import Transport

/// Everything that is known of pushes and connections from outside, and the rules each word of an engine is held to. It knows
/// only what was handed to the network, what was read of it, and what the engine told its driver.
final class Books {
    /// Where a push is.
    private enum Place {
        case nowhere
        /// Taken, or refused and to be sent again.
        case inEngine
        case onStream(Attempt)
        case ended
    }

    private final class Push {
        var place = Place.nowhere
        var due: UInt64 = 0
        var takenAt: UInt64 = 0
        var attempts: UInt8 = 0
        var retries: UInt8 = 0
    }

    private let world: World
    private let drawn: DrawnRun
    /// Of each worker, by the number of a connection: the link that is open under it.
    private var current: [[Int: LinkBooks]]
    private var openingOf: [LinkBooks?]
    private(set) var links: [LinkBooks] = []
    private var pushes: [UInt64: Push] = [:]
    private var inEngine: [Int]
    /// What the driver said last when it was asked, since the worker's turn began.
    private var lastSupply: [Supply?]
    private var lastNew: [UInt64?]
    private var hasAbandoned: [Bool]
    private var isEnding: [Bool]
    /// What was asked of the run.
    var request = RunControl.Request.none
    /// Why: what the pushes end with that it ends.
    var requestCause = FailureCause.interrupted
    /// When the run began, ns; 0 before.
    var runStart: () -> UInt64 = { 0 }
    /// Of each worker: when it looked for pushes whose time is over, and before when it must not, ns.
    private var lastTick: [UInt64?]
    private var judgesFrom: [UInt64]
    /// How long judging was put off since pushes were judged last, and from when on, ns.
    private var putOff: [(time: UInt64, since: UInt64)]
    private(set) var opened: UInt64 = 0
    private(set) var goAways: UInt64 = 0

    init(_ world: World, _ drawn: DrawnRun) {
        self.world = world
        self.drawn = drawn
        let workers = drawn.scenario.threads
        current = Array(repeating: [:], count: workers)
        openingOf = Array(repeating: nil, count: workers)
        inEngine = Array(repeating: 0, count: workers)
        lastSupply = Array(repeating: nil, count: workers)
        lastNew = Array(repeating: nil, count: workers)
        hasAbandoned = Array(repeating: false, count: workers)
        isEnding = Array(repeating: false, count: workers)
        lastTick = Array(repeating: nil, count: workers)
        judgesFrom = Array(repeating: 0, count: workers)
        putOff = Array(repeating: (0, 0), count: workers)
    }

    /// The bytes of some connection were spoilt.
    var isUncertain: Bool { links.contains { $0.isUncertain } }

    /// Pushes whose last byte was handed over at least once.
    var writtenPushes: Set<UInt64> {
        Set(links.flatMap(\.attempts).filter { $0.writtenAt > 0 }.map(\.sequence))
    }

    func addLink(worker: Int) -> LinkBooks {
        let link = LinkBooks(links.count, worker: worker, world: world) { [unowned self] link in
            openingOf[worker] = link
            if !link.isUncertain { opened += 1 }
        }
        link.willClose = { [unowned self] in checkClose($0) }
        links.append(link)
        return link
    }

    /// A connection that is open is only given up for a reason.
    private func checkClose(_ link: LinkBooks) {
        let isRight =
            !link.isOpen || link.isUncertain || link.isBroken || hasVanished(link) || request == .abort
            || (link.isDraining && link.openCount == 0) || isEnding[link.worker]
            || (hasAbandoned[link.worker] && link.openCount == 0)
        world.check(isRight, "link \(link.number) is closed for no reason")
    }

    /// The worker says goodbye to its connections.
    func willEnd(_ worker: Int) { isEnding[worker] = true }

    // MARK: What the engine asks and says

    func took(_ worker: Int, _ supply: Supply, _ ticket: PushTicket, asked now: UInt64, isOpenLoop: Bool) {
        lastSupply[worker] = supply
        guard case .push = supply else { return }
        let push = pushes[ticket.sequence] ?? Push()
        pushes[ticket.sequence] = push
        world.tell("worker \(worker): takes push \(ticket.sequence), due \(World.milliseconds(ticket.due))")
        world.check(
            ticket.sequence % UInt64(drawn.scenario.threads) == UInt64(worker),
            "push \(ticket.sequence) is not its worker's")
        if ticket.retries == 0 {
            if case .nowhere = push.place {} else { world.fail("push \(ticket.sequence) is taken twice") }
            world.check(lastNew[worker].map { $0 < ticket.sequence } ?? true, "pushes are taken out of turn")
            lastNew[worker] = ticket.sequence
            world.check(
                isOpenLoop ? ticket.due <= now : ticket.due == max(now, runStart()),
                "push \(ticket.sequence) is taken before it is due")
        } else {
            if case .ended = push.place {
            } else {
                world.fail("push \(ticket.sequence) is retried while it is under way")
            }
            world.check(ticket.retries == push.retries + 1, "push \(ticket.sequence): retries miscounted")
            world.check(ticket.due == push.due, "push \(ticket.sequence): the retry has another due time")
        }
        world.check(ticket.attempts == 0, "push \(ticket.sequence) comes with attempts")
        push.place = .inEngine
        push.due = ticket.due
        push.takenAt = now
        push.attempts = 0
        push.retries = ticket.retries
        inEngine[worker] += 1
    }

    func composed(_ worker: Int, _ ticket: PushTicket, connection: Int) {
        guard let push = pushes[ticket.sequence], case .inEngine = push.place else {
            return world.fail("push \(ticket.sequence) is put on a stream without being there")
        }
        guard let link = current[worker][connection] else {
            return world.fail("a push is put on connection \(connection), which is not open")
        }
        checkTicket(ticket, push)
        let attempt = link.begin(sequence: ticket.sequence)
        world.tell("worker \(worker): push \(ticket.sequence) is on stream \(attempt.stream) of link \(link.number)")
        world.check(
            link.isUncertain || (!link.isDraining && !link.isBroken), "a push is put on a connection that is going away"
        )
        world.check(
            link.isUncertain || link.openCount <= min(drawn.scenario.streams, link.streamLimit),
            "\(link.openCount) streams are open, more than allowed")
        push.place = .onStream(attempt)
        inEngine[worker] -= 1
    }

    private func checkTicket(_ ticket: PushTicket, _ push: Push) {
        world.check(
            ticket.due == push.due && ticket.attempts == push.attempts && ticket.retries == push.retries,
            "push \(ticket.sequence) has changed: due \(ticket.due) for \(push.due), attempts \(ticket.attempts) for \(push.attempts)"
        )
    }

    func written(_ worker: Int, _ ticket: PushTicket, started: UInt64, at time: UInt64) {
        guard let push = pushes[ticket.sequence], case .onStream(let attempt) = push.place else {
            return world.fail("push \(ticket.sequence) is written, but on no stream")
        }
        checkTicket(ticket, push)
        checkStarted(ticket, push, attempt, started)
        world.check(!attempt.isWrittenTold, "push \(ticket.sequence) is told as written twice")
        world.check(
            attempt.writtenAt == time,
            "push \(ticket.sequence) is told as written at \(World.milliseconds(time)); its last byte was handed over at \(World.milliseconds(attempt.writtenAt))"
        )
        attempt.isWrittenTold = true
    }

    private func checkStarted(_ ticket: PushTicket, _ push: Push, _ attempt: Attempt, _ started: UInt64) {
        world.check(
            started >= push.takenAt && started <= attempt.composedAt,
            "push \(ticket.sequence) is said to be on its stream since \(World.milliseconds(started))")
    }

    func requeued(_ worker: Int, _ ticket: PushTicket) {
        guard let push = pushes[ticket.sequence], case .onStream(let attempt) = push.place else {
            return world.fail("push \(ticket.sequence) is to be sent again, but is on no stream")
        }
        world.tell("worker \(worker): push \(ticket.sequence) is to be sent again")
        world.note(.requeued)
        push.attempts += 1
        checkTicket(ticket, push)
        world.check(
            mayBeSentAgain(attempt),
            "push \(ticket.sequence) is to be sent again, though it was neither refused nor kept from being written")
        end(attempt)
        push.place = .inEngine
        inEngine[worker] += 1
    }

    private func mayBeSentAgain(_ attempt: Attempt) -> Bool {
        if attempt.link.isUncertain || attempt.isRefused { return true }
        return attempt.ending == nil && attempt.writtenAt == 0 && attempt.status == nil
            && (attempt.link.isBroken || hasVanished(attempt.link))
    }

    private func hasVanished(_ link: LinkBooks) -> Bool {
        world.clock.now > link.lastReadAt + drawn.scenario.pingInterval + drawn.scenario.pingTimeout
    }

    private func end(_ attempt: Attempt) {
        attempt.isEnded = true
        attempt.link.openCount -= 1
    }

    func finished(
        _ worker: Int, _ ticket: PushTicket, _ outcome: PushOutcome, started: UInt64, written: UInt64, at time: UInt64
    ) {
        guard let push = pushes[ticket.sequence] else { return world.fail("push \(ticket.sequence) ends unknown") }
        world.tell("worker \(worker): push \(ticket.sequence) ends, \(outcome)")
        checkTicket(ticket, push)
        world.check(time <= world.clock.now, "push \(ticket.sequence) ends in the future")
        switch push.place {
        case .nowhere, .ended: world.fail("push \(ticket.sequence) ends twice")
        case .inEngine:
            inEngine[worker] -= 1
            world.check(started == 0 && written == 0, "push \(ticket.sequence) ends on no stream, but with times")
            guard case .failed(let cause) = outcome else {
                return world.fail("push \(ticket.sequence) is answered, but on no stream")
            }
            world.check(
                ![.interrupted, .runEnded].contains(cause) || request != .none && cause == requestCause,
                "push \(ticket.sequence) ends with \(cause) on no stream")
        case .onStream(let attempt):
            checkStarted(ticket, push, attempt, started)
            world.check(written == attempt.writtenAt, "push \(ticket.sequence) ends with another time of writing")
            if !attempt.link.isUncertain { explain(attempt, ticket, outcome, started: started, at: time) }
            end(attempt)
        }
        push.place = .ended
    }

    /// Is the end what the network's events make of it?
    private func explain(
        _ attempt: Attempt, _ ticket: PushTicket, _ outcome: PushOutcome, started: UInt64, at time: UInt64
    ) {
        let what = "push \(ticket.sequence) on stream \(attempt.stream) of link \(attempt.link.number)"
        func byAnswer(_ status: Int?) {
            guard case .answered(let read)? = attempt.ending, status == nil || read == status else {
                return world.fail(
                    "\(what) ends with \(outcome); the network says \(String(describing: attempt.ending))")
            }
            world.check(time >= attempt.endingReadAt, "\(what) is answered before its answer was read")
        }
        let link = attempt.link
        let hasBeenSentTooOften = Int(ticket.attempts) >= drawn.scenario.retryLimit
        let isHalfSaid = link.unfinishedHeaders == attempt.stream
        // It may have been delivered, or has been tried often enough.
        let isLost = attempt.status == nil && !isHalfSaid && (attempt.writtenAt > 0 || hasBeenSentTooOften)
        let hasTimedOut = time > started + drawn.scenario.pushTimeout
        switch outcome {
        case .accepted: byAnswer(200)
        case .rejected(let status): byAnswer(Int(status))
        case .failed(let cause):
            let isRight: Bool
            switch cause {
            case .pushTimeout:
                world.note(.timedOut)
                isRight = attempt.ending == nil && attempt.status == nil && hasTimedOut
            case .refusedTooOften:
                world.note(.refusedTooOften)
                isRight = hasBeenSentTooOften && attempt.isRefused
            case requestCause: isRight = request == .abort && attempt.ending == nil
            case .connectionClosed: isRight = attempt.ending == nil && link.sawEnd && isLost
            case .connectionReset: isRight = attempt.ending == nil && link.sawFailure && isLost
            case .peerVanished:
                world.note(.vanished)
                isRight = attempt.ending == nil && hasVanished(link) && isLost
            case .protocolViolation: isRight = attempt.ending == nil && link.isViolated && isLost
            case .malformedAnswer:
                world.note(.brokenAnswers)
                if case .malformed? = attempt.ending {
                    isRight = true
                } else {
                    // A header block that cannot be decoded.
                    isRight = attempt.ending == nil && link.isViolated
                }
            case .answerIncomplete:
                let hasEnded = link.sawEnd || link.sawFailure || link.isViolated || hasVanished(link)
                isRight =
                    attempt.ending == nil
                    && (attempt.status != nil && (hasTimedOut || hasEnded) || isHalfSaid && hasEnded)
            default:
                if case .reset(let code)? = attempt.ending {
                    isRight = cause == .streamReset(ErrorCode(rawValue: code)) && !attempt.isRefused
                } else {
                    isRight = false
                }
            }
            world.check(
                isRight,
                "\(what) fails with \(cause); the network says \(String(describing: attempt.ending)), written \(attempt.writtenAt > 0)"
            )
        }
    }

    func abandoned(_ worker: Int, _ cause: FailureCause) {
        world.tell("worker \(worker): gives up, \(cause)")
        world.note(.gaveUp)
        hasAbandoned[worker] = true
        if zip(hasAbandoned, isEnding).contains(where: { !$0 && !$1 }) { world.note(.gaveUpAlone) }
    }

    func connection(_ worker: Int, _ index: Int, _ event: ConnectionEvent) {
        world.tell("worker \(worker): connection \(index) \(event)")
        switch event {
        case .opened:
            guard let link = openingOf[worker] else {
                return world.fail("connection \(index) is open without SETTINGS")
            }
            openingOf[worker] = nil
            current[worker][index] = link
        case .goAway: goAways += 1
        case .connectFailed:
            // Told to go away in the read that brought SETTINGS: it never opened.
            if let link = openingOf[worker], link.isDraining {
                openingOf[worker] = nil
                if !link.isUncertain { opened -= 1 }
            }
        default: break
        }
    }

    /// The worker has looked for pushes whose time is over: it may do so every 100 ms, or quarter of the time-out. When it
    /// stood still for more than 100 ms, none is over for as long again; all such waiting is at most a time-out before it looks again.
    func didTick(_ worker: Int, _ now: UInt64) {
        let timeout = drawn.scenario.pushTimeout
        if let last = lastTick[worker], now - last > 100_000_000 {
            if putOff[worker].time == 0 { putOff[worker].since = now }
            let more = min(now - last, timeout - putOff[worker].time)
            putOff[worker].time += more
            judgesFrom[worker] = max(judgesFrom[worker], now + more)
        }
        lastTick[worker] = now
        guard now >= judgesFrom[worker] else { return }
        if now - putOff[worker].since >= timeout { putOff[worker].time = 0 }
        let limit = timeout + min(100_000_000, timeout / 4) + 1
        for link in links where link.worker == worker && link.openCount > 0 {
            for attempt in link.openAttempts {
                world.check(
                    attempt.composedAt + limit >= now, "push \(attempt.sequence) should have timed out by now")
            }
        }
    }

    // MARK: What must hold between

    /// The worker is about to wait: it must have nothing to do that it can do.
    func willWait(_ worker: Int, until end: UInt64) {
        guard end > world.clock.now else { return }
        for link in links where link.worker == worker { link.checkHeldBack() }
        guard request == .none, !hasAbandoned[worker] else { return }
        var hasWork = inEngine[worker] > 0
        switch lastSupply[worker] {
        case .push: hasWork = true
        case .notBefore(let due):
            // Where pushes are dense, those of 500 µs leave together.
            world.check(
                end <= max(due, world.clock.now) + 500_000,
                "worker \(worker) sleeps until \(World.milliseconds(end)), a push is due at \(World.milliseconds(due))")
        default: break
        }
        guard hasWork else { return }
        for link in links where link.worker == worker {
            let canSend =
                link.isOpen && !link.isClosed && !link.isUncertain && !link.isBroken && !link.isDraining
                && !link.isBlocked
                && link.openCount < min(drawn.scenario.streams, link.streamLimit) && link.connectionWindow > 8192
            world.check(!canSend, "worker \(worker) waits, though it could send on link \(link.number)")
        }
    }

    /// A worker's turn is over: everything it has read and written is told.
    func didTurn(_ worker: Int) {
        lastSupply[worker] = nil
        for link in links where link.worker == worker {
            for attempt in link.untold {
                world.check(
                    link.isUncertain || attempt.isEnded,
                    "push \(attempt.sequence) on stream \(attempt.stream) of link \(link.number): nothing was said of \(String(describing: attempt.ending))"
                )
            }
            link.untold.removeAll()
            for attempt in link.unstamped {
                world.check(
                    attempt.isWrittenTold || attempt.isEnded,
                    "push \(attempt.sequence) was written, and nothing said of it")
            }
            link.unstamped.removeAll()
            world.check(
                !(link.mustBeClosed || link.isClosed) || link.openCount == 0,
                "link \(link.number) is broken, \(link.openCount) pushes still on it")
        }
    }

    /// The worker has ended.
    func didEnd(_ worker: Int) {
        world.check(inEngine[worker] == 0, "\(inEngine[worker]) pushes are left in worker \(worker)")
        for link in links where link.worker == worker {
            world.check(link.openCount == 0, "\(link.openCount) pushes are left on link \(link.number)")
        }
    }
}
