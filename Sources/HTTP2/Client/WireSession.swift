import Networking

/// Frames written and read here, for exactly this traffic: HEADERS of a few table references and the path, DATA with the
/// payload, both straight into the send buffer. Answers are read in `WireSession+Answers`, all else the peer says in
/// `WireSession+Control`; every violation ends the connection.
///
/// No allocation for a push but when flow control holds part of its payload back. Bounded: one frame of the peer's is gathered,
/// header blocks of at most 64 KB, and so many frames that bring no answer: 1,000 and 8 a push under way, and 33 a second.
public final class WireSession: ClientSession {
    // Behind a pointer, owned here: reading and changing it needs no exclusivity check.
    let input: UnsafeMutablePointer<FrameInput>
    let encoder: RequestEncoder
    let decoder: StatusDecoder
    private let settings: SessionSettings
    /// The id of the next stream; negative once they are used up.
    @exclusivity(unchecked) public private(set) var nextStream: Int32
    @exclusivity(unchecked) var hasSettings = false
    /// The peer has broken HTTP/2: it is not listened to any more.
    @exclusivity(unchecked) private var isTerminated = false

    // What the peer allows; `sendWindow` and the streams' windows besides.
    var widestWindow = 65_535
    @exclusivity(unchecked) var initialWindow = 65_535
    @exclusivity(unchecked) var peerMaxFrame = 16_384
    var maxStreams = UInt32.max
    /// Of the SETTINGS being read: the last and the largest initial window.
    var newWindow: (last: Int, largest: Int)?
    /// The last stream that was held back; when the connection's window is all that is short, the only one.
    @exclusivity(unchecked) private var lastHeld = 0

    // What we allow.
    let streamWindow: Int
    let receiveWindow: Int
    @exclusivity(unchecked) var unacknowledged = 0

    /// What the peer may send that brings no answer. A whole answer fills it for what is under way, and each DATA frame of ours lets
    /// the peer send some: PING, WINDOW_UPDATE, and an answer of a few frames to a push that has timed out. Windows that are given
    /// back for what was sent, however small the pieces, are not counted.
    private var budget = FrameBudget()
    private static let framesForData = 8
    /// A frame for which so many streams are looked at counts as two.
    private static let streamsForFrame = 100
    private var knownAnswers: UInt64 = 0
    private var knownDataFrames = 0
    /// DATA frames sent besides the first one of each push.
    private var moreDataFrames = 0
    /// When the bytes being read were received, ns.
    @exclusivity(unchecked) private var now: UInt64 = 0

    /// - Parameters:
    ///   - usesHuffman: code header strings where that makes them shorter.
    ///   - streams: most at once, whatever the peer allows.
    ///   - firstStream: where the stream ids begin, for who wants to see their end.
    public init(
        _ head: RequestHead, settings: SessionSettings, usesHuffman: Bool = false, streams: Int,
        sendBuffers: BufferPool, firstStream: Int32 = 1
    ) {
        self.settings = settings
        input = .allocate(capacity: 1)
        input.initialize(to: FrameInput(maxFrame: Int(settings.maxFrameSize), hasPreface: false))
        encoder = RequestEncoder(
            authority: head.authority, isSecure: head.isSecure, headerSets: head.headerSets,
            tableLimit: Int(settings.encoderTableSize), usesHuffman: usesHuffman)
        decoder = StatusDecoder(tableSize: Int(settings.headerTableSize))
        nextStream = firstStream
        streamWindow = max(Int(settings.streamWindow), 1)
        receiveWindow = Int(settings.connectionWindow)
        super.init(streams: streams, sendBuffers: sendBuffers)
    }

    deinit { input.deinitialize(count: 1).deallocate() }

    // MARK: Frames of ours

    public override func begin() {
        let preface = Frame.preface
        output.reserve(preface.count).update(from: preface, count: preface.count)
        let entries: [(UInt16, UInt32)] = [
            (Frame.Setting.headerTableSize, settings.headerTableSize), (Frame.Setting.enablePush, 0),
            (Frame.Setting.initialWindowSize, settings.streamWindow),
            (Frame.Setting.maxFrameSize, settings.maxFrameSize),
        ]
        let payload = frame(Frame.settings, flags: 0, stream: 0, length: entries.count * 6)
        for (place, entry) in entries.enumerated() {
            payload[place * 6] = UInt8(entry.0 >> 8)
            payload[place * 6 + 1] = UInt8(truncatingIfNeeded: entry.0)
            Frame.write32(entry.1, into: payload + place * 6 + 2)
        }
        if receiveWindow > 65_535 { openWindow(stream: 0, by: receiveWindow - 65_535) }
    }

    /// Appends a frame's header and returns the place of its payload, which the caller fills and has checked the room for:
    /// by `canSend` for requests, by `hasRoomToAnswer` for all small frames.
    @inline(__always)
    func frame(_ type: UInt8, flags: UInt8, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
        let place = output.reserve(Frame.headerLength &+ length)
        Frame.writeHeader(length: length, type: type, flags: flags, stream: stream, into: place)
        return place + Frame.headerLength
    }

    /// Room for the small frames that answer the peer's; a peer that asks for more than we can say is too much.
    var hasRoomToAnswer: Bool { output.room >= 64 }

    /// WINDOW_UPDATE: the peer may send so many bytes more.
    func openWindow(stream: Int32, by increment: Int) {
        Frame.write32(UInt32(increment), into: frame(Frame.windowUpdate, flags: 0, stream: stream, length: 4))
    }

    /// Without room for it RST_STREAM is not sent: the peer does not read, and will not miss it.
    func writeReset(_ index: Int, _ code: ErrorCode) {
        guard hasRoomToAnswer else { return }
        Frame.write32(
            code.rawValue, into: frame(Frame.reset, flags: 0, stream: streams.entries[index].id, length: 4))
    }

    public override func reset(_ index: Int) {
        writeReset(index, .cancel)
        streams.free(index)
    }

    public override func ping() {
        guard hasRoomToAnswer else { return }
        frame(Frame.ping, flags: 0, stream: 0, length: 8).update(repeating: 0, count: 8)
    }

    private func goAway(_ code: ErrorCode) {
        let payload = frame(Frame.goAway, flags: 0, stream: 0, length: 8)
        Frame.write32(0, into: payload)
        Frame.write32(code.rawValue, into: payload + 4)
    }

    // MARK: Requests

    public override func send(_ request: ClientRequest) -> Bool {
        let index = open()
        guard index >= 0 else { return false }
        let stream = streams.entries[index].id

        let header = output.reserve(Frame.headerLength)
        let length = encoder.write(
            set: request.headerSet, path: request.path, pathLength: request.pathLength,
            authorizationValue: request.authorization, authorizationVersion: request.authorizationVersion,
            identifier: request.identifier,
            into: header + Frame.headerLength)
        Frame.writeHeader(
            length: length, type: Frame.headers, flags: Frame.endHeaders, stream: stream, into: header)
        _ = output.reserve(length)

        let total = request.payloadLength
        if total <= sendWindow, total <= initialWindow, total <= peerMaxFrame {
            // Payloads are of a few KB.
            streams.entries[index].window = Int32(truncatingIfNeeded: initialWindow &- total)
            frame(Frame.data, flags: Frame.endStream, stream: stream, length: total)
                .update(from: request.payload, count: total)
            sendWindow &-= total
            didProduce(index)
        } else {
            streams.entries[index].window = Int32(initialWindow)
            streams.hold(index, request.payload, count: total)
            lastHeld = index
            resume(index)
        }
        return true
    }

    /// Takes the next stream, for a request to be written on: its index, or -1 when the ids are used up.
    @inline(__always)
    public func open() -> Int {
        let stream = nextStream
        guard stream > 0 else { return -1 }
        nextStream = stream &+ 2
        return streams.open(stream)
    }

    /// Sends what flow control allows of a payload held back.
    func resume(_ index: Int) {
        let entry = streams.entries + index
        guard let held = entry.pointee.held else { return }
        while true {
            let rest = held.pointee.rest
            let count = min(rest, peerMaxFrame, Int(entry.pointee.window), sendWindow, output.room - 4096)
            guard count > 0 else { return }
            let payload = frame(
                Frame.data, flags: count == rest ? Frame.endStream : 0, stream: entry.pointee.id, length: count)
            held.pointee.send(count, into: payload)
            entry.pointee.window -= Int32(count)
            sendWindow -= count
            moreDataFrames += 1
            if count == rest {
                streams.releaseHeld(index)
                didProduce(index)
                return
            }
        }
    }

    /// The send buffer has room again: what is held back goes on.
    public override func produce() { _ = resumeAll() }

    /// - Returns: how many places of streams were looked at.
    func resumeAll() -> Int {
        guard streams.heldBack > 0, sendWindow > 0 else { return 0 }
        resume(lastHeld)
        var left = streams.heldBack
        var index = 0
        while left > 0, sendWindow > 0 {
            if streams.entries[index].held != nil {
                left -= 1
                resume(index)
            }
            index += 1
        }
        return index
    }

    /// Calls `body` with each open stream's place.
    ///
    /// - Returns: how many places were looked at.
    func forEachOpen(_ body: (Int) -> Void) -> Int {
        var left = streams.used
        var index = 0
        while left > 0 {
            if streams.entries[index].id != 0 {
                left -= 1
                body(index)
            }
            index += 1
        }
        return index
    }

    // MARK: What the peer said

    public override func receive(_ bytes: UnsafePointer<UInt8>, count: Int, now: UInt64) -> Violation? {
        if isTerminated { return nil }
        self.now = now
        input.pointee.begin(bytes, count)
        var frame = FrameView()
        while true {
            switch input.pointee.next(&frame) {
            case .frame:
                if let violation = handle(frame) { return terminate(violation) }
            case .oversized(_, _, let length):
                return terminate(Violation(.frameSizeError, "a frame of \(length) bytes"))
            case .needsMore, .notHTTP2:
                input.pointee.keep()
                return nil
            }
        }
    }

    private func terminate(_ violation: Violation) -> Violation {
        isTerminated = true
        if hasRoomToAnswer { goAway(violation.code) }
        return violation
    }

    public override func isInHeaders(_ index: Int) -> Bool {
        super.isInHeaders(index) || input.pointee.unfinishedHeaders == streams.entries[index].id
    }

    /// Was this stream never opened by us?
    @inline(__always)
    func isIdle(_ stream: Int32) -> Bool { stream & 1 == 0 || (nextStream > 0 && stream >= nextStream) }

    /// A frame that brings no answer nearer: there may be so many of them.
    ///
    /// - Parameter looks: how many places of streams were looked at for it.
    @inline(never)
    func tolerate(_ frames: StaticString, looks: Int = 0) -> Violation? {
        let dataFrames = Int(nextStream >> 1) + moreDataFrames
        if answered != knownAnswers {
            budget.fill(beyond: Double(Self.framesForData * streams.used))
        } else {
            let most = FrameBudget.atOnce + Double(Self.framesForData * streams.capacity)
            budget.add(Double(Self.framesForData * max(0, dataFrames - knownDataFrames)), most: most)
        }
        (knownAnswers, knownDataFrames) = (answered, dataFrames)
        let cost = 1 + looks / Self.streamsForFrame
        return budget.take(now: Double(now) * 1e-9, cost: Double(cost)) ? nil : .flood(frames)
    }

    /// The answer is not one (RFC 9113 section 8.1.1): an error of its stream.
    func endMalformed(_ index: Int, _ fault: @autoclosure () -> String) {
        endBroken(index, .protocolError, "malformed answer: \(fault())")
    }

    func endBroken(_ index: Int, _ code: ErrorCode, _ fault: @autoclosure () -> String) {
        tellFault(fault())
        writeReset(index, code)
        end(index, .malformed)
    }
}
