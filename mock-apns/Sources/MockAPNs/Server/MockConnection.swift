import HTTP2
import Networking

/// One client's connection: TLS, reading, and writing whole records. What is not written at once is kept here, and while
/// it is, nothing more is read: a client that does not read its answers cannot make the server grow.
final class MockConnection {
    /// Its number, over all of the server's.
    let token: UInt64
    let role: ListenerRole
    let openedAt: UInt64
    private let stream: ByteStream
    private let worker: MockWorker
    private(set) var session: MockSession?
    private var unsent: [UInt8] = []
    private var unsentOffset = 0
    /// Since when something is unsent, ns.
    private var unsentSince: UInt64 = 0
    private var interest: Readiness
    private(set) var isClosed = false
    /// Bytes that wait for the client, as far as they are more than `freelyHeld`.
    private(set) var held = 0
    /// Requests it had had at the last tick.
    private var requestsBefore: UInt64 = 0
    /// Bytes that each connection may hold without being counted.
    private static let freelyHeld = 8192
    /// What TLS keeps of records that the socket does not take, bytes.
    private static let sealedRecords = MockWorker.bufferSize
    private let handshakeDeadline: UInt64
    private let failsHandshake: Bool
    private var lastHeard: UInt64
    private(set) var bytesIn: UInt64 = 0
    private(set) var bytesOut: UInt64 = 0
    /// Told to go away, answered and finished; the client may close until `leaveBy`.
    private var isLeaving = false
    private var leaveBy: UInt64 = .max
    /// The next of the plan's SETTINGS changes, and when.
    private var nextChange = 0
    private var nextChangeAt: UInt64 = .max

    // The emulated link, when there is one.
    private var input: DelayLine?
    private var output: DelayLine?
    /// Nothing is done before: the connection is still on its way.
    private var notBefore: UInt64 = 0
    private var handshakeSteps = 0
    /// When the worker will call `linkIsDue`.
    private var plannedAt: UInt64?

    init(token: UInt64, role: ListenerRole, stream: ByteStream, worker: MockWorker, now: UInt64) {
        self.token = token
        self.role = role
        self.stream = stream
        self.worker = worker
        MockStatistics.add(stream.handshakeTime, to: worker.statistics.handshakeTime)
        openedAt = now
        lastHeard = now
        let plan = worker.dice.plan
        let link = plan.link
        // TCP's handshake takes one round trip, TLS' first flight another.
        notBefore = link.roundTrip == 0 ? 0 : now + link.roundTrip * (worker.isSecure ? 2 : 1)
        handshakeDeadline = now + worker.configuration.handshakeTimeout + 4 * link.roundTrip
        failsHandshake = worker.dice.failsHandshake()
        let rates = [link.bandwidth, plan.connections.slowReading].compactMap { $0 }
        if !link.isPerfect || !rates.isEmpty {
            input = DelayLine(
                delay: link.roundTrip / 2, jitter: link.jitter, bandwidth: rates.min(), seed: worker.dice.seed())
        }
        if !link.isPerfect {
            output = DelayLine(
                delay: link.roundTrip / 2, jitter: link.jitter, bandwidth: link.bandwidth, seed: worker.dice.seed())
        }
        if let first = plan.connections.settings.first { nextChangeAt = now + first.after }
        interest = stream.interest
        worker.loop.add(stream.descriptor, token: token, interest: interest)
    }

    var peer: String { stream.peerAddress }
    var tlsDescription: String? { stream.tlsDescription }

    /// - Returns: true when it should be called again though epoll may stay silent.
    func handle(_ readiness: Readiness) -> Bool {
        if isClosed { return false }
        if worker.now < notBefore {
            setInterest([])
            plan(notBefore)
            return false
        }
        if session == nil, !shakeHands() { return false }
        if readiness.contains(.writable) { flush() }
        if isClosed || !unsent.isEmpty { return false }
        return read()
    }

    /// - Returns: true once there is a session.
    private func shakeHands() -> Bool {
        if failsHandshake, worker.isSecure ? handshakeSteps > 0 : true { return breakHandshake() }
        let before = stream.handshakeTime
        let result = stream.advance()
        MockStatistics.add(stream.handshakeTime &- before, to: worker.statistics.handshakeTime)
        switch result {
        // All its steps at once: this thread had to wait for a core meanwhile.
        case .done where failsHandshake: return breakHandshake()
        case .inProgress:
            handshakeSteps += 1
            // TLS 1.2 needs another round trip.
            if stream.isTLS12, handshakeSteps == 2 { notBefore = worker.now + worker.dice.plan.link.roundTrip }
            updateInterest()
            return false
        case .failed:
            MockStatistics.increment(worker.statistics.handshakesFailed)
            worker.log.debug("connection \(token): \(stream.failure?.description ?? "handshake failed")")
            close()
            return false
        case .done:
            session = MockSession(worker, token: token, role: role, certificate: stream.peerCertificate)
            worker.log.debug("connection \(token) from \(peer): \(tlsDescription ?? "plaintext"), \(role.environment)")
            flush()
            return !isClosed
        }
    }

    private func breakHandshake() -> Bool {
        MockStatistics.increment(worker.statistics.handshakesFailed)
        drop()
        return false
    }

    /// It has stopped reading, may go on, and what is there the event loop cannot see.
    var wantsTurn: Bool {
        !isClosed && session != nil && unsent.isEmpty && input?.isFull != true && stream.hasBufferedInput
    }
    /// Its turn will come.
    var isLagging = false

    private func read() -> Bool {
        let buffer = worker.readBuffer
        var hasMore = true
        var rounds = 0
        while hasMore, rounds < 16, unsent.isEmpty, input?.isFull != true {
            rounds += 1
            switch stream.read(into: buffer.baseAddress!, capacity: buffer.count) {
            case .bytes where isLeaving: continue
            case .bytes(let count):
                bytesIn += UInt64(count)
                // What is to happen some time after a push counts from when its bytes were here, not from the wake-up.
                worker.readClock()
                lastHeard = worker.now
                if input != nil {
                    input!.put(buffer.baseAddress!, count: count, now: worker.now)
                } else if !process(UnsafePointer(buffer.baseAddress!), count) {
                    return false
                }
                hasMore = stream.hasBufferedInput
            case .wouldBlock:
                hasMore = false
            case .endOfStream, .failed:
                if session?.hasBegun == false { MockStatistics.increment(worker.statistics.handshakesFailed) }
                close()
                return false
            }
        }
        if input != nil {
            takeInput()
            if isClosed { return false }
        }
        flush()
        return hasMore && !isClosed && unsent.isEmpty && input?.isFull != true
    }

    /// - Returns: false when the connection is over.
    private func process(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard let session else { return false }
        let problem = session.receive(bytes, count: count)
        session.keepBorrowed()
        session.shrinkInput()
        guard let problem else { return true }
        if !session.hasBegun { MockStatistics.increment(worker.statistics.handshakesFailed) }
        worker.log.debug("connection \(token): \(problem)")
        flush()
        close()
        return false
    }

    /// Writes what there is, in whole records as far as possible.
    private func flush() {
        guard let session, !isClosed else { return }
        if !unsent.isEmpty, !writeUnsent() { return }
        while output?.isFull != true {
            // Also those for which there was no room while the socket was full.
            session.resumeBodies()
            var bytes: UnsafePointer<UInt8>?
            let count = session.nextOutput(&bytes)
            guard count > 0 else { break }
            send(bytes!, count)
            if unsent.isEmpty { session.didWriteOutput() } else { session.releaseOutput() }
            if isClosed || !unsent.isEmpty { return }
        }
        if output != nil {
            sendOutput()
            if isClosed || !unsent.isEmpty { return }
        }
        finishIfDone(session)
    }

    private func finishIfDone(_ session: MockSession) {
        if output?.isEmpty == false {
            updateInterest()
            return
        }
        if session.closing == .rst {
            stream.reset()
            return close()
        }
        if session.isDone, !isLeaving {
            // Closing with something unread would reset the connection and lose answers on their way: the client closes.
            isLeaving = true
            leaveBy = worker.now + worker.lingerTime
            stream.finish()
        }
        if !isLeaving, !session.isAlive {
            stream.finish()
            close()
        } else {
            updateInterest()
        }
    }

    /// Gives `count` bytes to the link or the socket.
    private func send(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        bytesOut += UInt64(count)
        session?.willWrite()
        if output != nil { worker.readClock() }
        if worker.configuration.batchesAnswers { return pass(bytes, count) }
        var offset = 0
        while offset < count, !isClosed {
            let length = Frame.wholeLength(bytes + offset, count - offset) ?? count - offset
            // Behind what the socket did not take.
            if unsent.isEmpty {
                pass(bytes + offset, length)
            } else {
                unsent += UnsafeBufferPointer(start: bytes + offset, count: length)
            }
            offset += length
        }
    }

    private func pass(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        if output != nil {
            output!.put(bytes, count: count, now: worker.now)
        } else {
            write(bytes, count)
        }
    }

    /// Writes `count` bytes, keeping what the socket does not take.
    private func write(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        var offset = 0
        while offset < count {
            switch stream.write(bytes + offset, count: count - offset) {
            case .bytes(let written): offset += written
            case .wouldBlock:
                unsent = Array(UnsafeBufferPointer(start: bytes + offset, count: count - offset))
                unsentOffset = 0
                unsentSince = worker.now
                updateInterest()
                return
            case .endOfStream, .failed:
                close()
                return
            }
        }
    }

    /// - Returns: true when nothing is left.
    private func writeUnsent() -> Bool {
        while unsentOffset < unsent.count {
            let result = unsent.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + unsentOffset, count: unsent.count - unsentOffset)
            }
            switch result {
            case .bytes(let written): unsentOffset += written
            case .wouldBlock:
                updateInterest()
                return false
            case .endOfStream, .failed:
                close()
                return false
            }
        }
        unsent = []
        unsentOffset = 0
        return true
    }

    private func updateInterest() {
        if isClosed { return }
        var wanted = stream.interest
        if !unsent.isEmpty { wanted = .writable }
        if input?.isFull == true { wanted.remove(.readable) }
        setInterest(wanted)
    }

    private func setInterest(_ wanted: Readiness) {
        guard wanted != interest else { return }
        interest = wanted
        worker.loop.modify(stream.descriptor, token: token, interest: wanted)
    }

    // MARK: Memory

    /// Looks at what waits for the client.
    ///
    /// - Returns: how much more that is than before.
    func noteHeld() -> Int {
        let before = held
        held = 0
        if let session, !isClosed {
            var bytes = session.held + unsent.capacity
            if worker.isSecure, !unsent.isEmpty { bytes += Self.sealedRecords }
            if bytes > Self.freelyHeld { held = bytes }
        }
        return held - before
    }

    /// Closes it without a word.
    func drop() {
        stream.reset()
        close()
    }

    // MARK: The emulated link

    private func plan(_ time: UInt64) {
        if let plannedAt, plannedAt <= time { return }
        plannedAt = time
        worker.linkIsDue(at: time, connection: token)
    }

    private func takeInput() {
        while let bytes = input!.take(now: worker.now) {
            let goesOn = bytes.withUnsafeBufferPointer { process($0.baseAddress!, $0.count) }
            if !goesOn { return }
        }
        if let next = input!.nextDue { plan(next) }
    }

    private func sendOutput() {
        while unsent.isEmpty, !isClosed, let bytes = output!.take(now: worker.now) {
            bytes.withUnsafeBufferPointer { write($0.baseAddress!, $0.count) }
        }
        if let next = output!.nextDue, !isClosed { plan(next) }
    }

    /// Something planned on the link is due.
    ///
    /// - Parameter time: when it was planned for; a plan that an earlier one has replaced is passed over.
    func linkIsDue(_ time: UInt64) {
        guard !isClosed, plannedAt == time else { return }
        plannedAt = nil
        if session == nil {
            setInterest(stream.interest)
            return
        }
        if input != nil { takeInput() }
        flush()
    }

    // MARK: Time passes

    func tick(now: UInt64) {
        if isClosed { return }
        if now > leaveBy { return close() }
        let faults = worker.dice.plan.connections
        if let every = faults.tcpResetEvery, now - openedAt > every {
            worker.log.debug("connection \(token): reset, for its age")
            return drop()
        }
        guard let session, session.hasBegun else {
            if now > handshakeDeadline {
                MockStatistics.increment(worker.statistics.handshakesFailed)
                worker.log.debug(
                    "connection \(token): no \(session == nil ? "TLS handshake" : "HTTP/2 preface") in time")
                close()
            }
            return
        }
        let limits = worker.configuration
        if isUnread(now) {
            MockStatistics.increment(worker.statistics.bounds.unread)
            worker.log.debug("connection \(token): its answers are not read")
            return drop()
        }
        if session.requests == requestsBefore { session.giveBackMemory() } else { session.settleMemory() }
        requestsBefore = session.requests
        var hasSomething = endHeldBack(session, now)
        if now >= nextChangeAt, changeSettings(faults, now) { hasSomething = true }
        if isIdle(session, now) || hasStuckHeaders(session, now) {
            session.goAway(.idleTimeout)
            // Streams that nothing more comes of do not hold an idle one.
            if session.openStreams > 0, isIdle(session, now) { leaveBy = min(leaveBy, now + worker.lingerTime) }
            hasSomething = true
        } else if let age = faults.goAwayAge, now - openedAt > age {
            session.goAway(.shutdown)
            hasSomething = true
        }
        var ended: [Int32] = []
        if limits.requestTimeout > 0, session.openStreams > 0, now > limits.requestTimeout {
            ended = session.endUnfinished(begunBefore: now - limits.requestTimeout)
        }
        if hasSomething || !ended.isEmpty { flush() }
        if !ended.isEmpty, !isClosed {
            for stream in ended { session.submitReset(stream: stream, code: .noError) }
            flush()
        }
    }

    private func isIdle(_ session: MockSession, _ now: UInt64) -> Bool {
        let limit = worker.configuration.idleTimeout
        guard limit > 0, now > lastHeard, now - lastHeard > limit else { return false }
        return session.openStreams == 0 || !session.hasAnswersDue
    }

    /// What was written has not been taken in time.
    private func isUnread(_ now: UInt64) -> Bool {
        let limit = worker.configuration.writeTimeout
        return limit > 0 && !unsent.isEmpty && now > unsentSince && now - unsentSince > limit
    }

    /// Resets streams whose answers have waited too long for the client's windows.
    ///
    /// - Returns: true when there were any.
    private func endHeldBack(_ session: MockSession, _ now: UInt64) -> Bool {
        let limit = worker.configuration.writeTimeout
        guard limit > 0, now > limit else { return false }
        let streams = session.streamsHeldBack(before: Double(now - limit) * 1e-9)
        for stream in streams {
            MockStatistics.increment(worker.statistics.bounds.heldBack)
            worker.log.debug("connection \(token), stream \(stream): the window for its answer is not opened")
            session.submitReset(stream: stream, code: .cancel)
        }
        return !streams.isEmpty
    }

    /// A header block is not whole in time. Nothing else can be said until it is (RFC 9113 section 6.10): the connection goes.
    private func hasStuckHeaders(_ session: MockSession, _ now: UInt64) -> Bool {
        let limit = worker.configuration.requestTimeout
        guard limit > 0, let since = session.unfinishedHeadersSince else { return false }
        return now > since && now - since > limit
    }

    private func changeSettings(_ faults: ConnectionFaults, _ now: UInt64) -> Bool {
        guard nextChange < faults.settings.count, let session else {
            nextChangeAt = .max
            return false
        }
        session.change(faults.settings[nextChange])
        nextChange += 1
        if faults.repeatsSettings { nextChange %= faults.settings.count }
        if nextChange < faults.settings.count {
            let change = faults.settings[nextChange]
            nextChangeAt = faults.repeatsSettings ? now + change.after : openedAt + change.after
        } else {
            nextChangeAt = .max
        }
        return true
    }

    /// Gives an answer whose time has come; `flushAnswers` sends it.
    ///
    /// - Returns: false when its stream is over.
    func respond(stream: Int32, _ answer: PushAnswer) -> Bool {
        !isClosed && session?.respond(stream: stream, answer) == true
    }

    func flushAnswers() { flush() }

    /// Says that the server goes away, and why; what was begun is still answered.
    func shutDown() {
        guard let session, !isClosed else { return close() }
        session.goAway(.shutdown)
        flush()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        session?.abandonAnswers()
        worker.loop.remove(stream.descriptor)
    }
}
