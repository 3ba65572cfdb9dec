import Networking

/// One client's connection in an exam: its bytes, and what the play does to them on their way.
final class ExamConnection {
    let number: Int
    private let stream: ByteStream
    private unowned let stage: Stage
    private(set) var session: ExamSession!
    private var hasShaken = false
    private var interest: Readiness
    private(set) var isClosed = false
    /// The server has said its last word, and waits for the client to close until then.
    private var leaveBy: UInt64?
    private let handshakeBy: UInt64

    /// Bytes for the client, and how many were ever queued and written.
    private var outbox: [UInt8] = []
    private(set) var queued = 0
    private var written = 0

    // What a play may do.
    /// Time that bytes are on their way, ns, each way.
    var oneWay: UInt64 = 0
    /// Each byte is written by itself.
    var isTrickling = false
    /// After so many bytes nothing more is written, and the connection ends.
    var cutAfter: Int?
    /// Nothing is written any more, though everything is read.
    private(set) var isSilent = false

    private var arriving: [(due: UInt64, bytes: [UInt8])] = []
    private var leaving: [(due: UInt64, bytes: [UInt8])] = []

    /// Answers that wait because the client reads nothing, bytes: beyond it the connection is over.
    private static let mostUnread = 1 << 20

    init(_ number: Int, _ stream: ByteStream, _ stage: Stage) {
        self.number = number
        self.stream = stream
        self.stage = stage
        interest = stream.interest
        handshakeBy = stage.now + stage.pace.milliseconds(5000)
        session = ExamSession(number, stage, self)
        stage.loop.add(stream.descriptor, token: UInt64(number), interest: interest)
    }

    /// Something may be read or written.
    func handle() {
        if isClosed || !hasShaken && !shakeHands() { return }
        read()
        write()
    }

    private func shakeHands() -> Bool {
        switch stream.advance() {
        case .inProgress:
            updateInterest()
            return false
        case .failed:
            close(byClient: true)
            return false
        case .done:
            hasShaken = true
            stage.play.didConnect(self)
            return !isClosed
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<64 where !isClosed {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes where leaveBy != nil: continue
            case .bytes(let count):
                if oneWay == 0 {
                    session.receive(buffer[..<count])
                } else {
                    arriving.append((stage.now + oneWay, Array(buffer[..<count])))
                }
            case .wouldBlock: return updateInterest()
            case .endOfStream, .failed: return close(byClient: true)
            }
        }
    }

    /// Queues bytes for the client.
    func send(_ bytes: [UInt8]) {
        guard !isClosed, leaveBy == nil else { return }
        queued += bytes.count
        if isSilent { return }
        if oneWay == 0 { outbox += bytes } else { leaving.append((stage.now + oneWay, bytes)) }
        if outbox.count > Self.mostUnread { close(byClient: false) }
    }

    private func write() {
        while !isClosed, leaveBy == nil, hasShaken, !outbox.isEmpty {
            var count = isTrickling ? 1 : min(outbox.count, 16_384)
            if let cutAfter { count = min(count, cutAfter - written) }
            if count == 0 { return cut() }
            switch stream.write(outbox, count: count) {
            case .bytes(let moved):
                outbox.removeFirst(moved)
                written += moved
                // The rest in turns to come: the client gets it piece by piece.
                if isTrickling { return updateInterest() }
            case .wouldBlock: return updateInterest()
            case .endOfStream, .failed: return close(byClient: true)
            }
        }
        if !isClosed { updateInterest() }
    }

    private func updateInterest() {
        var wanted = stream.interest
        if hasShaken, !outbox.isEmpty, leaveBy == nil { wanted.insert(.writable) }
        guard wanted != interest, !isClosed else { return }
        interest = wanted
        stage.loop.modify(stream.descriptor, token: UInt64(number), interest: wanted)
    }

    /// Time has passed.
    func turn() {
        if isClosed { return }
        let now = stage.now
        if let leaveBy, now >= leaveBy { return close(byClient: false) }
        if !hasShaken {
            if now >= handshakeBy { close(byClient: false) }
            return
        }
        let come = arriving.prefix { $0.due <= now }
        arriving.removeFirst(come.count)
        for piece in come { session.receive(piece.bytes) }
        let gone = leaving.prefix { $0.due <= now }
        leaving.removeFirst(gone.count)
        for piece in gone { outbox += piece.bytes }
        write()
    }

    // MARK: How it ends

    /// Nothing is written any more, not even an end. What was said before goes out first: the client had it.
    func fallSilent() {
        write()
        isSilent = true
        session.wasCut(after: written)
        stage.journal.connections[number].silentFrom = stage.now
        outbox = []
        leaving = []
    }

    /// Ends it in the middle of whatever is being said.
    private func cut() {
        outbox = []
        leave()
    }

    /// Says goodbye once all is written, takes nothing in any more, and waits a moment for the client to close: closing with
    /// something unread would reset the connection and lose what is on its way.
    func leave() {
        guard !isClosed, leaveBy == nil else { return }
        write()
        guard !isClosed, leaveBy == nil else { return }
        leaveBy = stage.now + stage.pace.milliseconds(1000)
        stage.journal.connections[number].cutAt = stage.now
        stream.finish()
        session.end(after: written)
        updateInterest()
    }

    func close(byClient: Bool) {
        guard !isClosed else { return }
        isClosed = true
        stage.journal.connections[number].closedAt = stage.now
        stage.journal.connections[number].isClosedByClient = byClient && leaveBy == nil
        session.end(after: written)
        stage.loop.remove(stream.descriptor)
    }
}
