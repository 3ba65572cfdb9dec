/// What an observer on the client's wire knows of one connection: every byte handed over and every byte read, taken apart by
/// the rules of RFC 9113 as plainly as they can be written.
final class LinkBooks {
    enum Mark { case violation, corruption }

    let number: Int
    let worker: Int
    private let world: World
    /// The stream of the next attempt.
    private(set) var nextStream: Int32 = 1
    private(set) var attempts: [Attempt] = []
    private var firstOpen = 0
    /// Attempts of which the engine has not told the end.
    var openCount = 0
    /// Ended by the network, and to be told before the worker's turn is over.
    var untold: [Attempt] = []
    var unstamped: [Attempt] = []

    // The client's bytes.
    private var said = FrameCutter()
    private var hasPreface = false
    private var dataHandedOver = 0
    var isBlocked = false
    private(set) var pingedAt: UInt64 = 0

    // The server's bytes.
    private var heard = FrameCutter()
    private var marks: [(kind: Mark, offset: Int)] = []
    private var block: (stream: Int32, endsStream: Bool, bytes: [UInt8])?
    private(set) var lastReadAt: UInt64
    private(set) var isOpen = false
    private(set) var isDraining = false
    private(set) var isViolated = false
    /// Bytes were spoilt: nothing certain is known any more.
    private(set) var isUncertain = false
    private(set) var sawEnd = false
    private(set) var sawFailure = false
    /// The client has let go of it.
    private(set) var isClosed = false
    private(set) var streamLimit = Int.max
    private(set) var connectionGrants = 65_535
    private var initialWindow = 65_535
    private var largestWindow = 65_535
    /// Called when SETTINGS have come for the first time, or may have.
    let didOpen: (LinkBooks) -> Void
    /// Called when the client closes.
    var willClose: ((LinkBooks) -> Void)?

    init(_ number: Int, worker: Int, world: World, didOpen: @escaping (LinkBooks) -> Void) {
        self.number = number
        self.worker = worker
        self.world = world
        self.didOpen = didOpen
        lastReadAt = world.clock.now
    }

    /// The connection is over for the client, for a reason the network gave; after a write that failed there may be something
    /// to read.
    var isBroken: Bool { mustBeClosed || sawFailure }
    var mustBeClosed: Bool { sawEnd || isViolated || hasReadFailure }
    private var hasReadFailure = false
    /// Bytes of DATA that may still be handed over.
    var connectionWindow: Int { connectionGrants - dataHandedOver }

    func mark(_ kind: Mark, at offset: Int) { marks.append((kind, offset)) }

    /// The engine puts a push on the next stream.
    func begin(sequence: UInt64) -> Attempt {
        let attempt = Attempt(
            sequence: sequence, link: self, stream: nextStream, composedAt: world.clock.now)
        attempt.granted = 0
        attempts.append(attempt)
        nextStream += 2
        openCount += 1
        return attempt
    }

    /// Those that have not ended.
    var openAttempts: [Attempt] {
        while firstOpen < attempts.count, attempts[firstOpen].isEnded { firstOpen += 1 }
        return attempts[firstOpen...].filter { !$0.isEnded }
    }

    private func attempt(_ stream: Int32) -> Attempt? {
        let place = Int(stream / 2)
        return stream & 1 == 1 && place < attempts.count ? attempts[place] : nil
    }

    // MARK: What the client says

    func didWrite(_ bytes: UnsafePointer<UInt8>, _ count: Int, began: UInt64) {
        isBlocked = false
        world.digest.add(began)
        world.digest.add(UnsafeBufferPointer(start: bytes, count: count))
        world.tell("link \(number): the client hands over \(count) bytes")
        said.put(UnsafeBufferPointer(start: bytes, count: count))
        if !hasPreface {
            guard said.rest.count >= 24 else { return }
            world.check(
                said.rest[..<24].elementsEqual("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), "the preface is not one")
            said.skip(24)
            hasPreface = true
        }
        while let frame = said.next() { didSay(frame, began) }
    }

    private func didSay(_ frame: FrameCutter.Frame, _ began: UInt64) {
        world.tell("  \(FrameBytes.name(frame.type)) stream \(frame.stream), \(frame.payload.count) bytes")
        switch frame.type {
        case 0:
            guard let attempt = attempt(frame.stream) else { return world.fail("DATA on a stream never begun") }
            dataHandedOver += frame.payload.count
            attempt.dataCount += frame.payload.count
            attempt.tail = Array((attempt.tail + frame.payload).suffix(80))
            world.check(isUncertain || connectionWindow >= 0, "more DATA than the connection's window allows")
            world.check(
                isUncertain || attempt.dataCount <= largestWindow + attempt.granted,
                "more DATA than the window of stream \(frame.stream) allows")
            if frame.flags & 1 != 0 { didComplete(attempt, began) } else { world.note(.starvedWindows) }
        case 1: world.check(attempt(frame.stream) != nil, "HEADERS on stream \(frame.stream) without a push")
        case 6: if frame.flags & 1 == 0 { pingedAt = began }
        default: break
        }
    }

    private func didComplete(_ attempt: Attempt, _ began: UInt64) {
        world.check(
            Self.sequence(attempt.tail) == attempt.sequence,
            "stream \(attempt.stream) carries push \(String(describing: Self.sequence(attempt.tail))), not \(attempt.sequence)"
        )
        world.check(attempt.writtenAt == 0, "stream \(attempt.stream) is ended twice")
        attempt.writtenAt = began
        if !attempt.isEnded { unstamped.append(attempt) }
    }

    /// The number in the trace tag, `…-NUMBER"}` at the payload's end.
    private static func sequence(_ payload: [UInt8]) -> UInt64? {
        guard payload.suffix(2).elementsEqual("\"}".utf8), let dash = payload.lastIndex(of: 0x2D) else { return nil }
        return UInt64(String(decoding: payload[(dash + 1)..<(payload.count - 2)], as: UTF8.self))
    }

    /// Nothing is held back that may be sent.
    func checkHeldBack() {
        guard openCount > 0, !isUncertain, !isBroken, !isBlocked, connectionWindow > 0 else { return }
        for attempt in openAttempts where attempt.writtenAt == 0 {
            world.check(
                initialWindow + attempt.granted - attempt.dataCount <= 0,
                "stream \(attempt.stream) of link \(number) is held back, though its window is open")
        }
    }

    // MARK: What the client reads

    /// The stream of a header block of which something was read, and not all.
    var unfinishedHeaders: Int32? {
        if let block { return block.stream }
        // What follows a violation is not looked at.
        let head = Array(heard.rest.prefix(9))
        guard !isViolated, head.count == 9, head[3] == 1 else { return nil }
        return head[5...].reduce(0) { $0 << 8 | Int32($1) }
    }

    func didClose() {
        willClose?(self)
        isClosed = true
    }

    func didEnd() {
        world.tell("link \(number): the client reads the end")
        sawEnd = true
    }

    func didFail(reading: Bool) {
        world.tell("link \(number): the client is told of a reset")
        sawFailure = true
        if reading { hasReadFailure = true }
    }

    func didRead(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        let now = world.clock.now
        lastReadAt = now
        world.digest.add(now)
        world.digest.add(UnsafeBufferPointer(start: UnsafePointer(bytes), count: count))
        world.tell("link \(number): the client reads \(count) bytes")
        if isViolated { return }
        if isUncertain { return didOpen(self) }
        heard.put(UnsafeBufferPointer(start: bytes, count: count))
        while true {
            if let mark = marks.first, mark.offset == heard.position, !heard.rest.isEmpty {
                if mark.kind == .corruption {
                    isUncertain = true
                    return didOpen(self)
                }
                let isOversized = heard.rest.starts(with: [0xFF, 0xFF, 0xFF]) && heard.rest.count >= 9
                guard isOversized || heard.next() != nil else { return }
                isViolated = true
                return
            }
            guard let frame = heard.next() else { return }
            didHear(frame, now)
        }
    }

    private func didHear(_ frame: FrameCutter.Frame, _ now: UInt64) {
        world.tell(
            "  \(FrameBytes.name(frame.type)) stream \(frame.stream), flags \(frame.flags), \(frame.payload.count) bytes"
        )
        var payload = frame.payload[...]
        if frame.flags & 8 != 0, frame.type < 2 { payload = payload.dropFirst().dropLast(Int(payload[0])) }
        let endsStream = frame.flags & 1 != 0
        switch frame.type {
        case 0:
            guard let attempt = attempt(frame.stream) else { return }
            if attempt.status == nil { return malformed(attempt, now) }
            if endsStream { attempt.end(.answered(status: attempt.status!), at: now) }
        case 1:
            if frame.flags & 4 != 0 {
                didHearAnswer(frame.stream, endsStream, Array(payload), now)
            } else {
                block = (frame.stream, endsStream, Array(payload))
            }
        case 9:
            guard let begun = block else { return }
            block = nil
            didHearAnswer(begun.stream, begun.endsStream, begun.bytes + payload, now)
        case 3:
            world.note(.streamResets)
            attempt(frame.stream)?.end(.reset(code: FrameBytes.number(payload)), at: now)
        case 4: if !endsStream { didHearSettings(payload) }
        case 7:
            world.note(.goAways)
            let last = Int32(bitPattern: FrameBytes.number(payload.prefix(4)) & 0x7FFF_FFFF)
            isDraining = true
            for attempt in attempts where attempt.stream > last {
                attempt.end(attempt.status == nil ? .passedOver : .malformed, at: now)
            }
        case 8:
            let increment = Int(FrameBytes.number(payload))
            if frame.stream == 0 { connectionGrants += increment } else { attempt(frame.stream)?.granted += increment }
        default: break
        }
    }

    private func didHearSettings(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        while rest.count >= 6 {
            let value = FrameBytes.number(rest.dropFirst(2).prefix(4))
            switch FrameBytes.number(rest.prefix(2)) {
            case 3: streamLimit = Int(value)
            case 4:
                initialWindow = Int(value)
                largestWindow = max(largestWindow, initialWindow)
            default: break
            }
            rest = rest.dropFirst(6)
        }
        if !isOpen, !isDraining {
            isOpen = true
            didOpen(self)
        } else if isOpen {
            world.note(.settingsChanges)
        }
    }

    private func malformed(_ attempt: Attempt, _ now: UInt64) { attempt.end(.malformed, at: now) }

    /// RFC 9113 section 8.1: interim answers, the answer, and nothing after it but DATA.
    private func didHearAnswer(_ stream: Int32, _ endsStream: Bool, _ block: [UInt8], _ now: UInt64) {
        guard let attempt = attempt(stream), attempt.ending == nil else { return }
        guard let status = Self.status(block), attempt.status == nil else { return malformed(attempt, now) }
        if status < 200 {
            if endsStream { malformed(attempt, now) }
            return
        }
        attempt.status = status
        if endsStream { attempt.end(.answered(status: status), at: now) }
    }

    /// `:status` as the mock and the network write it, first in the block.
    private static func status(_ block: [UInt8]) -> Int? {
        // A dynamic table of no size may be announced first (RFC 7541 section 6.3).
        let block = block.first == 0x20 ? Array(block.dropFirst()) : block
        guard let first = block.first else { return nil }
        let known: [UInt8: Int] = [
            0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500,
        ]
        if let status = known[first] { return status }
        guard block.count >= 5, first == 0x08, block[1] == 3 else { return nil }
        return Int(String(decoding: block[2..<5], as: UTF8.self))
    }
}
