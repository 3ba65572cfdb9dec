import HTTP2
import Networking

/// One connection of the pool: connecting, batched writing, reading, and how it ends. What is on the wire is its session's
/// business; what becomes of the pushes on its streams is in `PushConnection+Pushes`.
///
/// Cost: batching, stamping and slot keeping are about 60 ns a push; one clock reading a write and one a read are shared
/// by all pushes in it. The session is one of two known classes, called through the class's table once a push (`send`), and
/// calls back once for its end (`didEnd`); all else that is asked for a push is read from its stored properties.
final class PushConnection: ClientOwner {
    enum State {
        case connecting
        /// Connected and secured; the peer's SETTINGS are awaited.
        case settling
        case open
        /// GOAWAY received, or no stream id left: open streams are finished, none is begun.
        case draining
        case closed
    }

    let token: UInt64
    /// Its number within the run; a connection made after a loss takes the number of the lost one.
    let index: Int
    let lane: Int
    let session: ClientSession
    /// By the streams' indices.
    let slots: UnsafeMutablePointer<PushSlot>
    let options: TransportOptions
    unowned(unsafe) let driver: PushDriver
    let memory: RequestMemory
    private let stream: ByteStream
    let loop: EventLoop
    @exclusivity(unchecked) private(set) var state = State.connecting
    /// Why it closed, once it has.
    private(set) var cause: FailureCause?
    private(set) var causeText = ""
    /// It was told to go away, had answered all, and the peer closed it: no problem.
    private(set) var hasLeftQuietly = false
    /// While the peer's SETTINGS are awaited.
    private var first = FirstBytes(maxFrame: 0, isPlain: false)
    /// The frames it is closed for, when the peer sends them without end.
    private var flood: String?
    /// Why it drains, once it does; or the GOAWAY that came instead of SETTINGS, or with them.
    private(set) var departure: ConnectionEnd?
    /// SETTINGS have come, and the driver has not been told that the connection is open.
    @exclusivity(unchecked) private var isOpening = false
    /// What a GOAWAY said that was read with SETTINGS; nil: none was.
    private var refusal: String?
    private var connectDeadline: UInt64
    /// Connects with TLS to where the connection goes; nil: it is not to be asked.
    private var connectWithTLS: (() -> ByteStream?)?
    /// Under way while it is found out whether a peer that cannot be talked to without TLS speaks it.
    private var probe: ByteStream?
    /// What the connection closes for when it does not.
    private var suspicion: (cause: FailureCause, text: String)?
    private static let probeTime: UInt64 = 1_000_000_000
    /// Of what the pool has in flight.
    @exclusivity(unchecked) var counted = 0
    /// What it had answered when the pool looked at it last, while it drains.
    var settledAnswers: UInt64 = 0
    /// Pushes the peer refused unprocessed, to be sent again elsewhere.
    var refused: [PushTicket] = []

    private let clock = CycleClock.shared
    /// Time in calls that read and write, TLS and the kernel, counts of `CycleClock`.
    @exclusivity(unchecked) private(set) var transferCycles: UInt64 = 0
    /// The kernel's part of it.
    var socketCycles: UInt64 { handshakeCycles.map { stream.socketCycles &- $0 } ?? 0 }
    /// CPU time its handshake took, ns.
    var handshakeTime: UInt64 { stream.handshakeTime }
    /// The kernel's part of the handshake; nil before it is done.
    private var handshakeCycles: UInt64?

    // Writing.
    @exclusivity(unchecked) private(set) var isWriteBlocked = false
    /// The peer has reset the connection: nothing can be written, but what it said before has yet to be read.
    @exclusivity(unchecked) private var isReset = false
    private var interest: Readiness = []
    private static let recordSize = 16_384

    // Keep-alive and time-outs.
    private(set) var lastRead: UInt64 = 0
    private var pingSent: UInt64?
    /// Where the PING ends among the bytes given to the kernel; nil while it may still wait here.
    private var pingEnd: UInt64?
    /// How far the peer had taken what was sent before the PING, and then it.
    private var pingProgress: UInt64 = 0
    /// Before this time no push can have timed out, ns.
    private(set) var nextScan: UInt64 = 0
    /// When the bytes being consumed were read, ns.
    @exclusivity(unchecked) private(set) var readTime: UInt64 = 0

    /// - Parameter connectWithTLS: of one without TLS: makes the same connection with it, for a peer that hangs up without a word or does
    ///   not speak HTTP/2; nil: none is made.
    init(
        _ session: ClientSession, token: UInt64, index: Int, lane: Int, stream: ByteStream, options: TransportOptions,
        driver: PushDriver, loop: EventLoop, memory: RequestMemory, now: UInt64,
        connectWithTLS: (() -> ByteStream?)? = nil
    ) {
        self.session = session
        self.token = token
        self.index = index
        self.lane = lane
        self.options = options
        self.driver = driver
        self.loop = loop
        self.memory = memory
        self.stream = stream
        slots = .allocate(capacity: session.streams.capacity)
        slots.initialize(repeating: PushSlot(), count: session.streams.capacity)
        connectDeadline = now + options.connectTimeout
        self.connectWithTLS = connectWithTLS
        lastRead = now
        interest = stream.interest
        super.init()
        session.report(to: self)
        loop.add(stream.descriptor, token: token, interest: interest)
    }

    deinit { slots.deallocate() }

    // MARK: Life

    var inFlight: Int { session.inFlight }
    var answered: UInt64 { session.answered }

    /// True when one more push can be put on a stream now.
    @inline(__always)
    var canSend: Bool { state == .open && !isWriteBlocked && session.canSend }

    var tlsDescription: String? { stream.tlsDescription }

    /// The descriptor is ready: connects on, reads, writes.
    ///
    /// - Returns: true when it should be called again though epoll may stay silent.
    func handle(_ readiness: Readiness, scratch: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        switch state {
        case .closed: break
        case .connecting where probe != nil: advanceProbe()
        case .connecting:
            switch stream.advance() {
            case .inProgress: updateInterest()
            case .failed: close(stream.failure.map(FailureCause.init) ?? .connectFailed, stream.failure)
            case .done:
                state = .settling
                handshakeCycles = stream.socketCycles
                lastRead = loop.now
                first = FirstBytes(
                    maxFrame: Int(options.session.maxFrameSize), isPlain: stream.tlsDescription == nil)
                session.begin()
                flush()
                // The peer's first bytes may have come with its last handshake message.
                if state == .settling { return read(scratch) }
            }
        case .settling, .open, .draining:
            if !isReset, readiness.contains(.writable) || isWriteBlocked {
                isWriteBlocked = false
                flush()
            }
            if state != .closed, !readiness.isDisjoint(with: [.readable, .closed]) { return read(scratch) }
        }
        return false
    }

    /// Reads what is there, at most 16 times, so that one busy connection does not starve the others of this worker.
    ///
    /// - Returns: true when TLS still holds input that epoll will not tell about.
    private func read(_ scratch: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        let buffer = scratch.baseAddress!
        var hasMore = true
        var rounds = 0
        while hasMore, rounds < 16 {
            rounds += 1
            let begin = clock.now()
            let result = stream.read(into: buffer, capacity: scratch.count)
            transferCycles &+= clock.now() &- begin
            switch result {
            case .bytes(let count):
                readTime = loop.now
                lastRead = readTime
                pingSent = nil
                if state == .settling {
                    switch first.judge(UnsafeBufferPointer(start: buffer, count: count)) {
                    case .http2: break
                    case .undecided: continue
                    case .other, .refused:
                        closeUnsettled()
                        return false
                    }
                }
                let violation = session.receive(buffer, count: count, now: readTime)
                if state == .settling, let refusal {
                    close(.connectionClosed, text: refusal)
                    return false
                }
                if let violation {
                    close(violation)
                    return false
                }
                hasMore = stream.hasBufferedInput || isReset
            case .wouldBlock where !isReset:
                hasMore = false
            case .endOfStream where !isReset:
                if closeUnsettled() { return false }
                close(.connectionClosed, text: "the peer closed the connection")
                return false
            case .wouldBlock, .endOfStream, .failed:
                if closeUnsettled() { return false }
                if let failure = stream.failure, failure.mayExpectTLS,
                    beginProbe(orClose: FailureCause(failure), failure.description)
                {
                    return false
                }
                close(stream.failure.map(FailureCause.init) ?? .connectionReset, stream.failure)
                return false
            }
        }
        if isOpening { tellOpened() }
        session.produce()
        if !session.isAlive { return endOver() }
        // Answers to the peer's frames do not wait for a turn to send pushes.
        if !session.output.isEmpty { flush() }
        return hasMore
    }

    /// The session has nothing left to do, after GOAWAY, or because it found the peer's frames wrong and said so.
    ///
    /// - Returns: false, as `read`: there is nothing more to read.
    private func endOver() -> Bool {
        flush()
        if let problem = session.violation {
            close(.protocolViolation, text: "the peer broke HTTP/2: \(problem)")
        } else if state != .draining {
            close(.protocolViolation, text: "the peer broke HTTP/2")
        } else if inFlight > 0 {
            close(.connectionClosed, text: "the peer ended the connection")
        }
        // All that was begun is answered: the pool says goodbye.
        return false
    }

    /// Closes for what the first bytes are where SETTINGS were to come; nothing more comes, or need not.
    ///
    /// - Returns: false when they tell nothing.
    @discardableResult
    private func closeUnsettled() -> Bool {
        guard state == .settling else { return false }
        switch first.judgeEnd() {
        case .http2, .undecided: return false
        case .other(let text):
            if !text.hasPrefix(FirstBytes.speaksTLS), beginProbe(orClose: .notHTTP2, text) { return true }
            close(.notHTTP2, text: text)
        case .refused(let goAway, let text):
            departure = .goAway(goAway)
            close(.connectionClosed, text: text)
        }
        return true
    }

    /// The peer may have expected TLS: asks it, once.
    ///
    /// - Parameter cause: what the connection closes for when it did not.
    /// - Returns: false when there is nothing to ask.
    private func beginProbe(orClose cause: FailureCause, _ text: String) -> Bool {
        guard state == .settling, let connectWithTLS else { return false }
        self.connectWithTLS = nil
        guard let probe = connectWithTLS() else { return false }
        loop.remove(stream.descriptor)
        self.probe = probe
        suspicion = (cause, text)
        state = .connecting
        connectDeadline = min(connectDeadline, loop.now &+ Self.probeTime)
        interest = probe.interest
        loop.add(probe.descriptor, token: token, interest: interest)
        return true
    }

    private func advanceProbe() {
        guard let probe else { return }
        switch probe.advance() {
        case .inProgress:
            guard probe.interest != interest else { return }
            interest = probe.interest
            loop.modify(probe.descriptor, token: token, interest: interest)
        case .done: close(.notHTTP2, text: FirstBytes.speaksTLS)
        case .failed:
            switch probe.failure?.kind {
            case .certificate, .clientCertificate, .alpn: close(.notHTTP2, text: FirstBytes.speaksTLS)
            default: endProbe()
            }
        }
    }

    /// It speaks no TLS, as far as can be told.
    private func endProbe() {
        if let suspicion { close(suspicion.cause, text: suspicion.text) }
    }

    override func didSettle() {
        if state == .settling, refusal == nil {
            state = .open
            connectWithTLS = nil
            isOpening = true
        }
    }

    private func tellOpened() {
        isOpening = false
        driver.connection(index, .opened)
    }

    override func didReceiveGoAway(code: ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
        let goAway = GoAway(code: code, debugData: debugData)
        switch state {
        case .settling, .open:
            departure = .goAway(goAway)
            if state == .settling || isOpening {
                // Read with SETTINGS, before anything was sent: the connection never opened.
                (state, isOpening) = (.settling, false)
                refusal = FirstBytes.refusal(goAway, debugData)
            } else {
                state = .draining
                driver.connection(index, .goAway)
            }
        case .draining:
            // A graceful shutdown says it twice (RFC 9113 section 6.8).
            if case .goAway = departure { departure = .goAway(goAway) }
        case .connecting, .closed: break
        }
    }

    override func didEnd(_ slot: Int, _ ending: StreamEnding) {
        switch ending {
        case .answered(status: 200): finish(slot, .accepted, at: readTime)
        case .answered(let status): reject(slot, status)
        case .refused: requeue(slot)
        case .reset(let code): finish(slot, .failed(.streamReset(code)), at: readTime)
        case .malformed: finish(slot, .failed(.malformedAnswer), at: readTime)
        }
    }

    override func didFindFault(_ text: String) { driver.streamFault(text) }

    /// No stream can be begun any more: it drains as after GOAWAY.
    func didUseUpStreams() {
        guard state == .open else { return }
        state = .draining
        departure = .streamIDsUsedUp
    }

    /// Says so, as far as it can, and closes.
    private func close(_ violation: Violation) {
        session.produce()
        flush()
        if violation.isFlood { flood = violation.text }
        let problem = violation.isFlood ? "\(violation.text) without end, and no answer" : violation.text
        close(.protocolViolation, text: "the peer broke HTTP/2: \(problem)")
    }

    private func close(_ cause: FailureCause, _ error: NetworkError?) {
        close(cause, text: error?.description ?? cause.description)
    }

    /// Ends the connection: pushes that never reached the kernel go back to be sent elsewhere, the others fail.
    func close(_ cause: FailureCause, text: String) {
        guard state != .closed else { return }
        if isOpening { tellOpened() }
        let before = state
        state = .closed
        self.cause = cause
        causeText = text
        loop.remove((probe ?? stream).descriptor)
        probe = nil
        hasLeftQuietly = before == .draining && inFlight == 0 && cause == .connectionClosed
        endPushes(cause)
        if before == .draining {
            tellDeparture()
        } else if !cause.isEndOfRun {
            driver.connection(index, before == .open ? .lost : .connectFailed)
            driver.connection(index, .ended(flood.map(ConnectionEnd.flood) ?? departure ?? .broken(cause)))
        }
    }

    private func tellDeparture() {
        if let departure { driver.connection(index, .ended(departure)) }
    }

    /// Nothing more will be asked of it: says goodbye.
    func finishGracefully() {
        guard state != .closed else { return }
        if state != .connecting {
            session.produce()
            flush()
            if state == .closed { return }
            stream.finish()
        }
        loop.remove((probe ?? stream).descriptor)
        probe = nil
        if state == .draining { tellDeparture() }
        state = .closed
    }

    // MARK: Writing

    /// Writes whole batches while there are any; the rest waits for more pushes or `flush`.
    ///
    /// - Returns: true when there were.
    @inline(__always)
    func flushFullBatches() -> Bool {
        guard session.pending >= options.sendBatch else { return false }
        write(keeping: options.sendBatch)
        return true
    }

    /// Bytes not yet written.
    @inline(__always)
    var pending: Int { session.pending }

    /// Writes everything there is.
    func flush() {
        if isWriteBlocked || state == .closed || state == .connecting { return }
        repeat {
            write(keeping: 1)
            if session.output.isEmpty, state != .closed { session.produce() }
        } while !session.output.isEmpty && !isWriteBlocked && state != .closed
        if state != .closed { updateInterest() }
    }

    /// Writes until fewer than `least` bytes are left or the socket is full.
    private func write(keeping least: Int) {
        while session.output.count >= least, !isWriteBlocked, let bytes = session.output.first {
            let count = min(session.output.count, max(Self.recordSize, options.sendBatch))
            let begin = clock.now()
            let result = stream.write(bytes, count: count)
            transferCycles &+= clock.now() &- begin
            switch result {
            case .bytes(let written):
                session.output.didWrite(written)
                stamp(stream.sendTime)
            case .wouldBlock:
                isWriteBlocked = true
                updateInterest()
            case .failed where stream.failure?.kind == .reset:
                // GOAWAY, and answers, may have come before: the connection closes when they are read.
                isReset = true
                isWriteBlocked = true
                updateInterest()
            case .endOfStream, .failed:
                close(stream.failure.map(FailureCause.init) ?? .connectionReset, stream.failure)
                return
            }
        }
        session.output.tidy()
    }

    private func updateInterest() {
        var wanted = stream.interest
        if isWriteBlocked { wanted.insert(.writable) }
        if wanted != interest {
            interest = wanted
            loop.modify(stream.descriptor, token: token, interest: wanted)
        }
    }

    // MARK: Time

    /// Time-outs of connecting, of single pushes, and of the peer as a whole.
    ///
    /// - Parameter judgesFrom: no push is given up before then, ns.
    func tick(now: UInt64, judgesFrom: UInt64 = 0) {
        switch state {
        case .closed: return
        case .connecting, .settling:
            if now >= connectDeadline, probe != nil {
                endProbe()
            } else if now >= connectDeadline {
                close(
                    .connectTimeout,
                    text: "no usable connection after \(options.connectTimeout / 1_000_000) ms "
                        + (state == .connecting ? "(TCP and TLS)" : "(the peer's SETTINGS never came)"))
            }
            return
        case .open, .draining: break
        }
        if isReset {
            close(.connectionReset, stream.failure)
            return
        }
        if now >= max(nextScan, judgesFrom) { nextScan = scan(now) }
        if let sent = pingSent {
            if hasPingMoved() {
                pingSent = now
            } else if now > sent &+ options.pingTimeout {
                close(.peerVanished, text: "no byte from the peer after PING")
            }
        } else if now > lastRead &+ options.pingInterval {
            pingSent = now
            session.ping()
            flush()
            pingEnd = nil
            _ = hasPingMoved()
        }
    }

    /// The PING queues behind pushes, here and in the kernel: a peer that has taken some of that since the last look is alive, and
    /// has not been asked before it has the PING. What is behind the PING does not count, or one that has hung would seem to live.
    private func hasPingMoved() -> Bool {
        let before = pingProgress
        if isWriteBlocked {
            pingProgress = session.output.written &+ stream.progress.taken
        } else {
            let (given, taken) = stream.progress
            let end = pingEnd ?? given
            pingEnd = end
            pingProgress = min(taken, end)
        }
        return pingProgress != before
    }
}
