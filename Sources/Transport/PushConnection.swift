import Glibc
import Networking

/// One connection of the pool: connecting, its streams' slots, batched writing, and how it ends. What is on the wire is a
/// subclass's business (`begin`, `send`, `consume`, `produce`, `reset`, `ping`).
///
/// Cost: batching, stamping and slot keeping are about 60 ns a push; one clock reading a write and one a read are shared
/// by all pushes in it.
class PushConnection {
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
    let slots: SlotTable
    let options: TransportOptions
    unowned(unsafe) let driver: PushDriver
    private let stream: ByteStream
    private let loop: EventLoop
    @exclusivity(unchecked) private(set) var state = State.connecting
    /// Why it closed, once it has.
    private(set) var cause: FailureCause?
    private(set) var causeText = ""
    /// The frames it is closed for, when the peer sends them without end.
    var flood: String?
    /// Why it drains, once it does.
    private var departure: ConnectionEnd?
    let connectDeadline: UInt64
    @exclusivity(unchecked) private(set) var answered: UInt64 = 0
    /// What it had answered when the pool looked at it last, while it drains.
    var settledAnswers: UInt64 = 0
    /// Pushes the peer refused unprocessed, to be sent again elsewhere.
    var refused: [PushTicket] = []

    private let clock = CycleClock.shared
    /// Time in calls that read and write, TLS and the kernel, counts of `CycleClock`.
    @exclusivity(unchecked) private(set) var transferCycles: UInt64 = 0
    /// The kernel's part of it.
    var socketCycles: UInt64 { handshakeCycles.map { stream.socketCycles &- $0 } ?? 0 }
    /// The kernel's part of the handshake; nil before it is done.
    private var handshakeCycles: UInt64?

    // Writing.
    @exclusivity(unchecked) private var output: SendBuffer
    private let unstamped: WrittenQueue
    @exclusivity(unchecked) private(set) var isWriteBlocked = false
    /// The peer has reset the connection: nothing can be written, but what it said before has yet to be read.
    @exclusivity(unchecked) private var isReset = false
    private var interest: Readiness = []
    private static let recordSize = 16_384
    /// Send-buffer bytes that must be free before a request is begun: its HEADERS frame must leave the session at once,
    /// because its header values lie in memory that the next request reuses.
    private static let requestRoom = 28_672

    // Keep-alive and time-outs.
    private(set) var lastRead: UInt64 = 0
    private var pingSent: UInt64?
    /// Before this time no push can have timed out, ns.
    private(set) var nextScan: UInt64 = 0
    /// When the bytes being consumed were read, ns.
    @exclusivity(unchecked) private(set) var readTime: UInt64 = 0
    /// Most streams at once, ours and the peer's limit taken together.
    @exclusivity(unchecked) var streamLimit: Int

    init(
        token: UInt64, index: Int, lane: Int, stream: ByteStream, options: TransportOptions, driver: PushDriver,
        loop: EventLoop, sendBuffers: BufferPool, now: UInt64
    ) {
        output = SendBuffer(sendBuffers)
        self.token = token
        self.index = index
        self.lane = lane
        self.options = options
        self.driver = driver
        self.loop = loop
        slots = SlotTable(capacity: options.streams)
        streamLimit = options.streams
        self.stream = stream
        unstamped = WrittenQueue(capacity: options.streams * 2)
        connectDeadline = now + options.connectTimeout
        lastRead = now
        interest = stream.interest
        loop.add(stream.descriptor, token: token, interest: interest)
    }

    deinit { output.release() }

    /// Calls of every push: without counting a reference, which costs two atomic operations.
    @inline(__always)
    final func withDriver(_ body: (PushDriver) -> Void) {
        Unmanaged.passUnretained(driver)._withUnsafeGuaranteedRef(body)
    }

    // MARK: What a subclass says on the wire

    /// The byte stream is there: starts the protocol.
    func begin() {}
    /// Opens a stream for a push. The caller has checked `canSend`.
    func send(_ ticket: PushTicket, now: UInt64) {}
    /// Takes bytes from the peer; nil, or what is wrong with them.
    func consume(_ bytes: UnsafePointer<UInt8>, count: Int) -> String? { nil }
    /// Moves what the protocol has to say to the send buffer, as far as it fits.
    func produce() {}
    /// Cancels a stream.
    func reset(slot: Int) {}
    /// The connection closes: marks the slot whose answer's header block has begun and will not end.
    func markUnfinishedHeaders() {}
    func ping() {}
    /// Bytes of DATA that may be sent on the connection now.
    var sendWindow: Int { .max }
    /// False when the protocol has nothing left to do.
    var isAlive: Bool { true }

    // MARK: Life

    var inFlight: Int { slots.used }

    /// True when one more push can be put on a stream now.
    @inline(__always)
    final var canSend: Bool {
        state == .open && !isWriteBlocked && !slots.isFull && slots.used < streamLimit && !unstamped.isFull
            && sendRoom >= Self.requestRoom && sendWindow > 0
    }

    var tlsDescription: String? { stream.tlsDescription }

    /// The descriptor is ready: connects on, reads, writes.
    ///
    /// - Returns: true when it should be called again though epoll may stay silent.
    final func handle(_ readiness: Readiness, scratch: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        switch state {
        case .closed: break
        case .connecting:
            switch stream.advance() {
            case .inProgress: updateInterest()
            case .failed: close(stream.failure.map(FailureCause.init) ?? .connectFailed, stream.failure)
            case .done:
                state = .settling
                handshakeCycles = stream.socketCycles
                lastRead = loop.now
                begin()
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
                if state == .settling, let other = Self.otherProtocol(buffer, count) {
                    close(.notHTTP2, text: "the peer speaks \(other)")
                    return false
                }
                if let problem = consume(buffer, count: count) {
                    produce()
                    flush()
                    close(.protocolViolation, text: "the peer broke HTTP/2: \(problem)")
                    return false
                }
                hasMore = stream.hasBufferedInput || isReset
            case .wouldBlock where !isReset:
                hasMore = false
            case .endOfStream where !isReset:
                close(.connectionClosed, text: "the peer closed the connection")
                return false
            case .wouldBlock, .endOfStream, .failed:
                close(stream.failure.map(FailureCause.init) ?? .connectionReset, stream.failure)
                return false
            }
        }
        produce()
        if !isAlive {
            // Over after GOAWAY, or because the session found the peer's frames wrong and said so.
            flush()
            if state == .draining {
                close(.connectionClosed, text: "the peer ended the connection")
            } else {
                close(.protocolViolation, text: "the peer broke HTTP/2")
            }
            return false
        }
        // Answers to the peer's frames do not wait for a turn to send pushes.
        if !output.isEmpty { flush() }
        return hasMore
    }

    /// What the first bytes are where SETTINGS were to come: a status line (RFC 9112 section 4), or a TLS alert (RFC 8446 section
    /// 6), which as the length of a frame would be beyond any limit we give.
    private static func otherProtocol(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> String? {
        let first = UnsafeBufferPointer(start: bytes, count: count)
        if first.starts(with: "HTTP/1.".utf8) { return "HTTP/1, not HTTP/2" }
        if first.starts(with: [0x15, 0x03]) { return "TLS, and was spoken to without: the target may be https://" }
        return nil
    }

    final func didSettle(limit: UInt32) {
        streamLimit = min(options.streams, Int(clamping: limit))
        if state == .settling {
            state = .open
            driver.connection(index, .opened)
        }
    }

    final func didReceiveGoAway(_ goAway: GoAway) {
        switch state {
        case .settling, .open:
            state = .draining
            departure = .goAway(goAway)
            driver.connection(index, .goAway)
        case .draining:
            // A graceful shutdown says it twice (RFC 9113 section 6.8).
            if case .goAway = departure { departure = .goAway(goAway) }
        case .connecting, .closed: break
        }
    }

    /// No stream can be begun any more: it drains as after GOAWAY.
    final func didUseUpStreams() {
        guard state == .open else { return }
        state = .draining
        departure = .streamIDsUsedUp
    }

    private func close(_ cause: FailureCause, _ error: NetworkError?) {
        close(cause, text: error?.description ?? cause.description)
    }

    /// Ends the connection: pushes that never reached the kernel go back to be sent elsewhere, the others fail.
    final func close(_ cause: FailureCause, text: String) {
        guard state != .closed else { return }
        let before = state
        state = .closed
        self.cause = cause
        causeText = text
        loop.remove(stream.descriptor)
        let now = loop.now
        markUnfinishedHeaders()
        for slot in 0..<slots.capacity where slots.slots[slot].stream != 0 {
            if slots.slots[slot].isAbandoned {
                slots.free(slot)
            } else if cause.isEndOfRun {
                finish(slot, .failed(cause), at: now)
            } else if slots.slots[slot].isInHeaders {
                // Whose answer has begun has processed the push, whole or not. A block that cannot be decoded breaks HTTP/2.
                finish(slot, .failed(cause == .protocolViolation ? .malformedAnswer : .answerIncomplete), at: now)
            } else if hasStatus(slot) {
                finish(slot, .failed(.answerIncomplete), at: now)
            } else if slots.slots[slot].written == 0 {
                requeue(slot, orFail: cause)
            } else {
                finish(slot, .failed(cause), at: now)
            }
        }
        if before == .draining {
            tellDeparture()
        } else if !cause.isEndOfRun {
            driver.connection(index, before == .open ? .lost : .connectFailed)
            driver.connection(index, .ended(flood.map(ConnectionEnd.flood) ?? .broken(cause)))
        }
    }

    /// Part of its answer has come; interim answers (RFC 9110 section 15.2) are none.
    private func hasStatus(_ slot: Int) -> Bool { slots.slots[slot].status >= 200 }

    private func tellDeparture() {
        if let departure { driver.connection(index, .ended(departure)) }
    }

    /// Nothing more will be asked of it: says goodbye.
    final func finishGracefully() {
        guard state != .closed else { return }
        if state != .connecting {
            produce()
            flush()
            if state == .closed { return }
            stream.finish()
        }
        loop.remove(stream.descriptor)
        if state == .draining { tellDeparture() }
        state = .closed
    }

    // MARK: Ends of pushes

    /// Tells the driver how the push ended and frees its slot.
    final func finish(_ slot: Int, _ outcome: PushOutcome, at time: UInt64) {
        let entry = slots.slots + slot
        withDriver {
            $0.finished(
                entry.pointee.ticket, outcome: outcome, connection: index, started: entry.pointee.started,
                written: entry.pointee.written, at: time, body: slots.body(slot))
        }
        slots.free(slot)
    }

    /// The peer did not process the push (RFC 9113 sections 6.8 and 8.7): it may be sent again.
    ///
    /// - Parameter cause: of its failure, where it has been sent too often.
    final func requeue(_ slot: Int, orFail cause: FailureCause = .refusedTooOften) {
        var ticket = slots.slots[slot].ticket
        if ticket.attempts >= options.retryLimit {
            finish(slot, .failed(cause), at: loop.now)
            return
        }
        ticket.attempts += 1
        if slots.slots[slot].written != 0 { ticket.wasWritten = true }
        driver.requeued(ticket)
        refused.append(ticket)
        slots.free(slot)
    }

    @inline(__always)
    final func didAnswer() { answered &+= 1 }

    // MARK: Writing

    /// Room left in the send buffer.
    final var sendRoom: Int { output.room }

    /// Appends bytes; the caller has checked `sendRoom`.
    @inline(__always)
    final func append(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        reserve(count).update(from: bytes, count: count)
    }

    /// Takes the next `count` bytes of the send buffer for the caller to fill, who has checked `sendRoom`.
    @inline(__always)
    final func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        output.reserve(count)
    }

    /// All of the push's bytes are in the send buffer.
    @inline(__always)
    final func didProduce(slot: Int) {
        let end = output.endOffset
        unstamped.append(
            .init(slot: Int32(truncatingIfNeeded: slot), stream: slots.slots[slot].stream, endOffset: end))
    }

    /// Writes whole batches while there are any; the rest waits for more pushes or `flush`.
    ///
    /// - Returns: true when there were.
    @inline(__always)
    final func flushFullBatches() -> Bool {
        guard output.count >= options.sendBatch else { return false }
        write(keeping: options.sendBatch)
        return true
    }

    /// Bytes not yet written.
    @inline(__always)
    final var pending: Int { output.count }

    /// Writes everything there is.
    final func flush() {
        if isWriteBlocked || state == .closed || state == .connecting { return }
        repeat {
            write(keeping: 1)
            if output.isEmpty, state != .closed { produce() }
        } while !output.isEmpty && !isWriteBlocked && state != .closed
        if state != .closed { updateInterest() }
    }

    /// Writes until fewer than `least` bytes are left or the socket is full.
    private func write(keeping least: Int) {
        while output.count >= least, !isWriteBlocked, let bytes = output.first {
            let count = min(output.count, max(Self.recordSize, options.sendBatch))
            let begin = clock.now()
            let result = stream.write(bytes, count: count)
            transferCycles &+= clock.now() &- begin
            switch result {
            case .bytes(let written):
                output.didWrite(written)
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
        output.tidy()
    }

    /// Notes which pushes have left with what was handed to the kernel at `time`.
    private func stamp(_ time: UInt64) {
        while !unstamped.isEmpty {
            let entry = unstamped.first
            if entry.endOffset > output.written { break }
            unstamped.removeFirst()
            let slot = slots.slots + Int(entry.slot)
            // The stream may be over already, by an early answer or a reset.
            if slot.pointee.stream == entry.stream, !slot.pointee.isAbandoned {
                slot.pointee.written = time
                withDriver { $0.written(slot.pointee.ticket, started: slot.pointee.started, at: time) }
            }
        }
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
    final func tick(now: UInt64) {
        switch state {
        case .closed: return
        case .connecting, .settling:
            if now >= connectDeadline {
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
        if now >= nextScan { nextScan = scan(now) }
        if let sent = pingSent {
            if now > sent &+ options.pingTimeout {
                close(.peerVanished, text: "no byte from the peer after PING")
            }
        } else if now > lastRead &+ options.pingInterval {
            pingSent = now
            ping()
            flush()
        }
    }

    /// Fails the pushes whose time is over.
    ///
    /// - Returns: when to look again: once the oldest push that is left has timed out, but not all the time. Pushes that are
    ///   begun later time out later.
    private func scan(_ now: UInt64) -> UInt64 {
        var oldest = now
        guard slots.used > 0 else { return oldest &+ options.pushTimeout &+ 1 }
        var hasEnded = false
        for slot in 0..<slots.capacity {
            let entry = slots.slots + slot
            guard entry.pointee.stream != 0, !entry.pointee.isAbandoned else { continue }
            guard now > entry.pointee.started &+ options.pushTimeout else {
                oldest = min(oldest, entry.pointee.started)
                continue
            }
            hasEnded = true
            entry.pointee.isAbandoned = true
            driver.finished(
                entry.pointee.ticket, outcome: .failed(hasStatus(slot) ? .answerIncomplete : .pushTimeout),
                connection: index, started: entry.pointee.started, written: entry.pointee.written, at: now,
                body: UnsafeBufferPointer(start: nil, count: 0))
            reset(slot: slot)
        }
        if hasEnded {
            produce()
            flush()
        }
        return max(oldest &+ options.pushTimeout &+ 1, now &+ min(20_000_000, options.pushTimeout / 4))
    }
}
