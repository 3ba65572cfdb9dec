import HTTP2
import Networking

/// One client that speaks HTTP/2. Of what it does not read a quarter of a MiB is kept in frames, and nothing more is read from it; the
/// rest of its answers waits in one piece.
final class FramedConnection: ServedConnection {
    private let session: FramedSession
    private var unsent: [UInt8] = []
    /// How many of `unsent` are gone.
    private var sent = 0
    /// Since when something is unsent.
    private var unsentSince: UInt64 = 0
    private var idleSince: UInt64
    /// What was read before it was known to be HTTP/2.
    private var first: [UInt8]
    /// All is said; what the client still sends is read so that the close does not take the last frames away from it.
    private var isFinished = false
    private var hasSaidGoodbye = false

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// Bytes of bodies in frames, and those written at a time, so that one who reads fast leaves time for others.
    private static let mostWritten = 1 << 18
    /// Bytes of answers that wait, from which on no more requests are taken.
    private static let mostUnsent = 16 << 20
    /// Requests that are taken in one turn.
    private static let mostTaken = 100

    /// - Parameter first: what was read of it, the preface and what came with it.
    init(following plain: ServedConnection, _ first: [UInt8], _ now: UInt64) {
        self.first = first
        idleSince = now
        session = FramedSession(limits: plain.limits, now: now)
        session.bodyRoom = Self.mostWritten
        super.init(following: plain)
    }

    override var held: Int { session.held + unsent.capacity + first.count }
    override var flushesLater: Bool { true }
    override var hasMore: Bool {
        !isClosed && !isFinished && unsent.isEmpty && (mayTake || stream.hasBufferedInput)
    }
    /// A request is complete, and there is room for its answer.
    private var mayTake: Bool { session.hasComplete && session.unsentAnswers < Self.mostUnsent }

    override func handle(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, now: UInt64,
        answer: (PlainRequest, _ stream: Int32) -> PlainResponse?
    ) -> Bool {
        session.now = now
        if !unsent.isEmpty { write(now) }
        guard !isClosed, unsent.isEmpty else { return false }
        if !mayTake { read(buffer, now) }
        if !isClosed, !isFinished { takeRequests(answer) }
        write(now)
        return hasMore
    }

    private func read(_ buffer: UnsafeMutableBufferPointer<UInt8>, _ now: UInt64) {
        if !first.isEmpty {
            let bytes = first
            first = []
            return bytes.withUnsafeBufferPointer { receive($0.baseAddress!, $0.count, now) }
        }
        switch stream.read(into: buffer.baseAddress!, capacity: buffer.count) {
        case .bytes(let count): if !isFinished { receive(buffer.baseAddress!, count, now) }
        case .wouldBlock: break
        case .endOfStream, .failed: close()
        }
    }

    private func receive(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ now: UInt64) {
        let problem = session.receive(bytes, count: count)
        refused += session.takeRefused()
        idleSince = now
        if problem != nil {
            refused += 1
            finish(now)
        } else {
            look(at: session.nextDue)
        }
    }

    private func takeRequests(_ answer: (PlainRequest, Int32) -> PlainResponse?) {
        for _ in 0..<Self.mostTaken {
            guard mayTake, let (stream, request) = session.take() else { return }
            if let response = answer(request, stream) { _ = session.respond(response, stream: stream) }
            if isClosed { return }
        }
    }

    // MARK: Answers that come later

    override func respond(_ response: PlainResponse, stream: Int32, _ now: UInt64) -> Bool {
        session.now = now
        look(at: now + limits.answer)
        return session.respond(response, stream: stream)
    }

    override func leaveUnanswered(stream: Int32, _ now: UInt64) {
        session.now = now
        session.leaveUnanswered(stream)
        look(at: now + limits.answer)
    }

    override func reset(stream: Int32) { session.submitReset(stream: stream, code: .internalError) }

    override func flushAnswers(_ now: UInt64) {
        session.now = now
        write(now)
    }

    // MARK: Writing

    private func write(_ now: UInt64) {
        var left = Self.mostWritten
        while !isClosed {
            if !unsent.isEmpty {
                guard writeUnsent(now) else { return }
            }
            guard left > 0 else { return setInterest([.readable, .writable]) }
            session.resumeBodies()
            var bytes: UnsafePointer<UInt8>?
            let count = session.nextOutput(&bytes)
            guard count > 0, let bytes else { break }
            left -= count
            write(bytes, count, now)
            session.didWriteOutput()
        }
        guard !isClosed else { return }
        setInterest(.readable)
        if isFinished {
            if !hasSaidGoodbye { stream.finish() }
            hasSaidGoodbye = true
            return
        }
        if !session.isAlive { return finish(now) }
        if session.isEmpty { look(at: now + limits.idle) }
    }

    private func write(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ now: UInt64) {
        var done = 0
        while done < count {
            switch stream.write(bytes + done, count: count - done) {
            case .bytes(let written): done += written
            case .wouldBlock:
                unsent = Array(UnsafeBufferPointer(start: bytes + done, count: count - done))
                sent = 0
                unsentSince = now
                look(at: now + limits.answer)
                return
            case .endOfStream, .failed: return close()
            }
        }
    }

    /// - Returns: false when the client does not take all of it now.
    private func writeUnsent(_ now: UInt64) -> Bool {
        while sent < unsent.count {
            let result = unsent.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + sent, count: $0.count - sent)
            }
            switch result {
            case .bytes(let count): sent += count
            case .wouldBlock:
                setInterest(.writable)
                return false
            case .endOfStream, .failed:
                close()
                return false
            }
        }
        unsent = []
        sent = 0
        return true
    }

    /// Says what is left to say, and waits for the client to close.
    private func finish(_ now: UInt64) {
        guard !isFinished else { return }
        isFinished = true
        deadline = now + limits.parting
        write(now)
    }

    // MARK: Time passes

    private func look(at time: UInt64) { if !isFinished { deadline = min(deadline, time) } }

    override func expire(_ now: UInt64) {
        session.now = now
        let isStuck = !unsent.isEmpty && now >= unsentSince + limits.answer
        guard !isFinished, session.hasBegun, !isStuck, session.endOverdue() else {
            refused += session.takeRefused()
            return close()
        }
        refused += session.takeRefused()
        if session.isEmpty, now >= idleSince + limits.idle {
            session.terminate(code: .noError)
            return finish(now)
        }
        deadline = session.isEmpty ? idleSince + limits.idle : .max
        if !unsent.isEmpty { look(at: unsentSince + limits.answer) }
        look(at: session.nextDue)
        write(now)
    }
}
