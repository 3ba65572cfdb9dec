import Glibc
import HTTP2

/// The pushes of a connection: sent, written, ended, timed out.
extension PushConnection {
    /// Calls of every push: without counting a reference, which costs two atomic operations.
    @inline(__always)
    func withDriver(_ body: (PushDriver) -> Void) {
        Unmanaged.passUnretained(driver)._withUnsafeGuaranteedRef(body)
    }

    /// Opens a stream for a push. The caller has checked `canSend`.
    func send(_ ticket: PushTicket, now: UInt64) {
        let slot = session.nextIndex
        slots[slot].ticket = ticket
        slots[slot].started = now
        slots[slot].written = 0
        withDriver { $0.compose(ticket, connection: index, into: &memory.request) }
        if session.send(memory.composed) { return }
        // Stream ids are used up: the connection drains as after GOAWAY.
        requeue(slot)
        didUseUpStreams()
    }

    /// Notes which pushes have left with what was handed to the kernel at `time`.
    func stamp(_ time: UInt64) {
        while !session.unwritten.isEmpty {
            let entry = session.unwritten.first
            if entry.endOffset > session.output.written { break }
            session.unwritten.removeFirst()
            let index = Int(entry.index)
            let stream = session.streams.entries + index
            // The stream may be over already, by an early answer or a reset.
            if stream.pointee.id == entry.stream, !stream.pointee.isAbandoned {
                let slot = slots + index
                slot.pointee.written = time
                withDriver { $0.written(slot.pointee.ticket, started: slot.pointee.started, at: time) }
            } else {
                driver.writtenAfterEnd(at: time)
            }
        }
    }

    // MARK: Ends

    /// The connection has closed: pushes that never reached the kernel go back to be sent elsewhere, the others fail.
    func endPushes(_ cause: FailureCause) {
        let now = loop.now
        let streams = session.streams
        for slot in 0..<streams.capacity where streams.entries[slot].id != 0 {
            defer { session.forget(slot) }
            // The end of these was told when their time was over.
            if streams.entries[slot].isAbandoned { continue }
            if cause.isEndOfRun {
                finish(slot, .failed(cause), at: now)
            } else if session.isInHeaders(slot) {
                // Whose answer has begun has processed the push, whole or not. A block that cannot be decoded breaks HTTP/2.
                finish(slot, .failed(cause == .protocolViolation ? .malformedAnswer : .answerIncomplete), at: now)
            } else if session.hasStatus(slot) {
                finish(slot, .failed(.answerIncomplete), at: now)
            } else if slots[slot].written == 0 {
                requeue(slot, orFail: cause)
            } else {
                finish(slot, .failed(cause), at: now)
            }
        }
    }

    /// Tells the driver how the push ended.
    func finish(_ slot: Int, _ outcome: PushOutcome, at time: UInt64) {
        let push = slots + slot
        withDriver {
            $0.finished(
                push.pointee.ticket, outcome: outcome, connection: index, started: push.pointee.started,
                written: push.pointee.written, at: time, body: session.streams.body(slot))
        }
    }

    /// An answer other than 200.
    func reject(_ slot: Int, _ status: UInt16) {
        if status == 403 {
            let isLast = slots[slot].ticket.attempts >= options.retryLimit
            let isAnew = driver.hasSignedAnew(
                connection: index, started: slots[slot].started, isLast: isLast, body: session.streams.body(slot))
            if isAnew, !isLast { return requeue(slot) }
        }
        if let text = session.retryAfter(slot), let wait = Self.wait(retryAfter: text, unixTime: loop.unixSeconds) {
            driver.askedToWait(wait)
        }
        finish(slot, .rejected(status: status), at: readTime)
    }

    /// What `retry-after` asks for, seconds or a date in one of its three forms (RFC 9110 sections 5.6.7 and 10.2.3), ns.
    static func wait(retryAfter text: String, unixTime: Int64) -> UInt64? {
        let most: UInt64 = 1_000_000_000
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return min(UInt64(text) ?? most, most) * 1_000_000_000
        }
        return date(text).map { min(UInt64(max(0, $0 - unixTime)), most) * 1_000_000_000 }
    }

    private static let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(separator: " ")

    /// UNIX seconds of a date as HTTP has it.
    private static func date(_ text: String) -> Int64? {
        var words = text.split { " ,-".contains($0) }
        // The form of asctime has its month first, and the year at its end.
        if words.count == 5 { words = [words[0], words[2], words[1], words[4], words[3], "GMT"] }
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]),
            let day = Int32(words[1]), let year = Int32(words[3]), (1...31).contains(day), (0...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int32($0) }
        guard time.count == 3, time.allSatisfy({ (0...60).contains($0) }) else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (
            year < 70 ? year + 100 : year < 100 ? year : year - 1900, Int32(month), day
        )
        (date.tm_hour, date.tm_min, date.tm_sec) = (time[0], time[1], time[2])
        return Int64(timegm(&date))
    }

    /// The peer did not process the push: it may be sent again.
    ///
    /// - Parameter cause: of its failure, where it has been sent too often.
    func requeue(_ slot: Int, orFail cause: FailureCause = .refusedTooOften) {
        var ticket = slots[slot].ticket
        if ticket.attempts >= options.retryLimit {
            finish(slot, .failed(cause), at: loop.now)
            return
        }
        ticket.attempts += 1
        if slots[slot].written != 0 { ticket.wasWritten = true }
        driver.requeued(ticket)
        refused.append(ticket)
    }

    // MARK: Time-outs

    /// Fails the pushes whose time is over.
    ///
    /// - Returns: when to look again: once the oldest push that is left has timed out, but not all the time. Pushes that are
    ///   begun later time out later.
    func scan(_ now: UInt64) -> UInt64 {
        var oldest = now
        let streams = session.streams
        guard streams.used > 0 else { return oldest &+ options.pushTimeout &+ 1 }
        var hasEnded = false
        for slot in 0..<streams.capacity {
            guard streams.entries[slot].id != 0, !streams.entries[slot].isAbandoned else { continue }
            let push = slots[slot]
            guard now > push.started &+ options.pushTimeout else {
                oldest = min(oldest, push.started)
                continue
            }
            hasEnded = true
            driver.finished(
                push.ticket, outcome: .failed(session.hasStatus(slot) ? .answerIncomplete : .pushTimeout),
                connection: index, started: push.started, written: push.written, at: now,
                body: UnsafeBufferPointer(start: nil, count: 0))
            session.reset(slot)
        }
        if hasEnded {
            session.produce()
            flush()
        }
        return max(oldest &+ options.pushTimeout &+ 1, now &+ min(20_000_000, options.pushTimeout / 4))
    }
}
