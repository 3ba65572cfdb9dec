import Glibc

/// The server's side of one HTTP/2 connection (RFC 9113), frames read and written here for requests that are nearly all alike.
///
/// Bytes from the client go into `receive`, bytes for it come out of `nextOutput`. What the client did is told by the `did…`
/// methods, which a subclass overrides; they may answer at once with the `submit…` methods. SETTINGS and PING are answered,
/// windows kept open, and every frame and header field judged here; a broken rule of the connection ends it with GOAWAY, one
/// of a stream ends that with RST_STREAM.
///
/// Limits that SETTINGS announce bind the client once it has acknowledged them (RFC 9113 section 6.5.3); before, what was allowed
/// until then is still borne, and what they newly allow already is.
///
/// Bounded: one frame of 16 KB is gathered, header blocks up to 64 KB in at most 8 CONTINUATION frames, 1,000 answers to PING
/// and SETTINGS that wait to be written, 1,000 SETTINGS of ours that are not acknowledged, 1,000 streams reset in a burst and 33 a
/// second after it, by the client or for its mistakes, and 1,000 streams of a client that has acknowledged no limit.
///
/// Cost: about 110 ns a push and 2,070 instructions, decoding its header block and a short answer included (`make
/// bench-instructions`, stage server-push).
open class ServerSession {
    // Behind pointers, owned here: reading and changing them needs no exclusivity check.
    let input: UnsafeMutablePointer<FrameInput>
    let output: UnsafeMutablePointer<FrameOutput>
    let streams: UnsafeMutablePointer<ServerStreams>
    let repeated: UnsafeMutablePointer<RepeatedBlocks>
    let decoder: HPACKDecoder
    let isTraced: Bool

    // Limits of ours; those announced are not acknowledged yet.
    var announced: [[(identifier: UInt16, value: UInt32)]] = []
    @exclusivity(unchecked) var initialReceiveWindow = 65_535
    /// Streams there may be now: the acknowledged limit, or a larger one that is announced.
    @exclusivity(unchecked) var streamLimit = ServerSession.unlimitedStreams
    var acknowledgedStreams = ServerSession.unlimitedStreams
    var acknowledgedFrame = 16_384
    let connectionWindow: Int
    @exclusivity(unchecked) var receiveWindow = 65_535
    @exclusivity(unchecked) var streamWindow = 65_535
    let maxHeaderList: Int

    // Limits of the client's.
    @exclusivity(unchecked) var sendWindow = 65_535
    @exclusivity(unchecked) var initialSendWindow = 65_535
    var peerMaxFrame = 16_384
    var peerTableSize = 4096
    /// The client allows a smaller table than before: the next block begins with the size of ours, which is 0 (RFC 9113 section
    /// 4.3.1, RFC 7541 section 6.3).
    @exclusivity(unchecked) var isTableToSay = false
    @exclusivity(unchecked) private var heldBack = 0
    /// The connection's window has been opened since streams that are held back were looked at: that is done once a read, however many
    /// WINDOW_UPDATE are in it.
    @exclusivity(unchecked) var hasWiderWindow = false
    /// Bytes waiting in the output from which on bodies wait, for `resumeBodies`: a client with wide windows takes no more memory.
    @exclusivity(unchecked) public final var bodyRoom = Int.max

    @exclusivity(unchecked) var hasSettings = false
    /// The highest stream that was begun.
    @exclusivity(unchecked) public internal(set) var lastStream: Int32 = 0
    @exclusivity(unchecked) var goAwayLimit = Int32.max
    var hasSentGoAway = false
    private var hasReceivedGoAway = false
    @exclusivity(unchecked) private var isTerminated = false
    @exclusivity(unchecked) var waitingAnswers = 0
    /// Streams reset by the client, or by us for what it did.
    private var resets = FrameBudget()
    private var empties = FrameBudget()
    /// Of the SETTINGS being read: the last and the largest initial window.
    var newWindow: (last: Int, largest: Int)?
    /// The highest stream seen, also of those that came after GOAWAY.
    @exclusivity(unchecked) var highestStream: Int32 = 0
    /// The last stream whose HEADERS made it depend on itself.
    @exclusivity(unchecked) var selfDependent: Int32 = 0

    static let mostWaitingAnswers = 1000
    /// CONTINUATION frames of a header block.
    static let mostPieces = 8
    /// While nothing is acknowledged there is no limit by RFC 9113; this many is enough for every client known, and few enough for
    /// one that never acknowledges anything.
    public static let unlimitedStreams = 1000

    /// - Parameter classify: a number from 1 to 127 for a header name that matters to the owner, 0 for any other; it comes back with
    ///   every such field. Names that HTTP/2 has rules for are those of `HeaderMark`.
    public static func names(_ classify: @escaping @Sendable (UnsafePointer<UInt8>, Int) -> UInt8) -> HPACKNames {
        HPACKNames { name, length in
            let mark = HeaderMark.of(name, length)
            return mark == HeaderMark.other ? classify(name, length) & 127 : mark
        }
    }

    /// Starts a session; the first `nextOutput` holds SETTINGS.
    ///
    /// - Parameters:
    ///   - isTraced: every frame is told to `didTransfer`.
    ///   - names: by `names(_:)`, for all sessions of an owner.
    public init(settings: SessionSettings, isTraced: Bool = false, names: HPACKNames) {
        self.isTraced = isTraced
        input = .allocate(capacity: 1)
        input.initialize(to: FrameInput(hasPreface: true))
        output = .allocate(capacity: 1)
        output.initialize(to: FrameOutput())
        streams = .allocate(capacity: 1)
        streams.initialize(to: ServerStreams())
        repeated = .allocate(capacity: 1)
        repeated.initialize(to: RepeatedBlocks())
        decoder = HPACKDecoder(tableSize: 4096, names: names)
        connectionWindow = max(65_535, Int(settings.connectionWindow))
        maxHeaderList = settings.maxHeaderListSize.map(Int.init) ?? .max
        var entries: [(identifier: UInt16, value: UInt32)] = [
            (Frame.Setting.headerTableSize, settings.headerTableSize),
            (Frame.Setting.initialWindowSize, settings.streamWindow),
            (Frame.Setting.maxFrameSize, settings.maxFrameSize),
        ]
        if let limit = settings.maxConcurrentStreams { entries.append((Frame.Setting.maxConcurrentStreams, limit)) }
        if let size = settings.maxHeaderListSize { entries.append((Frame.Setting.maxHeaderListSize, size)) }
        submitSettings(entries)
        if connectionWindow > 65_535 {
            openWindow(stream: 0, by: connectionWindow - 65_535)
            receiveWindow = connectionWindow
        }
    }

    deinit {
        input.deinitialize(count: 1).deallocate()
        output.deinitialize(count: 1).deallocate()
        streams.deinitialize(count: 1).deallocate()
        repeated.deinitialize(count: 1).deallocate()
    }

    // MARK: Bytes

    /// Takes bytes from the client.
    ///
    /// - Returns: nil when all is well, or what makes the connection unusable; a GOAWAY may then wait in `nextOutput`.
    public final func receive(_ bytes: UnsafePointer<UInt8>, count: Int) -> String? {
        if isTerminated { return nil }
        input.pointee.begin(bytes, count)
        while true {
            var frame = FrameView()
            switch input.pointee.next(&frame) {
            case .frame:
                if let violation = handle(frame) {
                    switch violation.scope {
                    case .stream(let stream):
                        reset(stream, violation.code)
                        if let violation = countReset() { return end(violation) }
                    case .connection: return end(violation)
                    }
                }
            case .oversized(let type, let stream, _):
                // Only DATA leaves the connection's state as it is; what is too long cannot be passed over cheaply, though.
                terminate(code: .frameSizeError)
                return "a frame of type \(type) on stream \(stream) longer than allowed"
            case .notHTTP2:
                isTerminated = true
                return "not HTTP/2: no connection preface"
            case .needsMore:
                input.pointee.keep()
                if hasWiderWindow {
                    hasWiderWindow = false
                    sendHeldBack()
                }
                return nil
            }
        }
    }

    private func end(_ violation: Violation) -> String {
        terminate(code: violation.code)
        return violation.text
    }

    /// Everything there is for the client now; 0 bytes when nothing. Valid until the next call on this session.
    @inline(__always)
    public final func nextOutput(_ bytes: inout UnsafePointer<UInt8>?) -> Int {
        let taken = output.pointee.take()
        waitingAnswers = 0
        bytes = taken.baseAddress
        return taken.count
    }

    /// Bytes that `nextOutput` would return.
    @inline(__always)
    public final var waitingOutput: Int { output.pointee.count }

    /// What `nextOutput` returned has been written: memory that only a burst needed is given back.
    public final func didWriteOutput() { output.pointee.shrink() }

    /// Bytes of memory for frames and header blocks that came in pieces.
    @inline(__always)
    public final var inputCapacity: Int { input.pointee.capacity }

    /// Gives back memory for frames that came in pieces and for long header fields, where it is much; what `didReceiveData` told is then
    /// gone.
    @inline(__always)
    public final func shrinkInput() {
        if input.pointee.capacity > Self.usualInput { input.pointee.shrink() }
        decoder.shrinkScratch()
    }
    private static let usualInput = 8192

    /// The client does not take what is written: nothing is kept for what comes next; what `nextOutput` returned is then gone.
    public final func releaseOutput() { output.pointee.release() }

    /// No stream is open: gives back memory that only traffic needs.
    public final func rest() {
        guard streams.pointee.count == 0 else { return }
        streams.pointee.shrink()
        output.pointee.release()
        input.pointee.shrink()
    }

    /// The client has begun with HTTP/2's preface and SETTINGS.
    public final var hasBegun: Bool { hasSettings }

    /// A header block has begun and not ended.
    public final var isInHeaders: Bool { input.pointee.isInBlock }

    /// False once the connection is over: nothing left to read or write.
    public final var isAlive: Bool {
        if output.pointee.count > 0 { return true }
        if isTerminated { return false }
        return streams.pointee.count > 0 || !(hasSentGoAway || hasReceivedGoAway)
    }

    // MARK: Frames of ours

    @inline(__always)
    final func writeFrame(_ type: UInt8, flags: UInt8, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
        output.pointee.frame(type, flags: flags, stream: stream, length: length)
    }

    /// WINDOW_UPDATE: the client may send so many bytes more.
    final func openWindow(stream: Int32, by increment: Int) {
        let payload = writeFrame(Frame.windowUpdate, flags: 0, stream: stream, length: 4)
        Frame.write32(UInt32(increment), into: payload)
        if isTraced { trace(Frame.windowUpdate, flags: 0, stream: stream, payload, 4) }
    }

    final func trace(_ type: UInt8, flags: UInt8, stream: Int32, _ payload: UnsafePointer<UInt8>, _ length: Int) {
        didTransfer(
            FrameSummary(type: type, flags: flags, stream: stream, payload: payload, length: length), isSent: true)
    }

    /// Answers `stream`; a body comes from `nextData` when `hasBody`.
    @inline(__always)
    public final func submitResponse(_ block: ResponseBlock, stream: Int32, hasBody: Bool) {
        let slot = streams.pointee.find(stream)
        guard slot >= 0, !streams.pointee.slots[slot].hasHeaders else { return }
        let flags = Frame.endHeaders | (hasBody ? 0 : Frame.endStream)
        let prefix = isTableToSay ? 1 : 0
        let payload = writeFrame(Frame.headers, flags: flags, stream: stream, length: prefix &+ block.count)
        if isTableToSay {
            payload[0] = 0x20
            isTableToSay = false
        }
        (payload + prefix).update(from: block.bytes, count: block.count)
        if isTraced { trace(Frame.headers, flags: flags, stream: stream, payload, prefix &+ block.count) }
        streams.pointee.slots[slot].hasHeaders = true
        if hasBody {
            sendBody(slot)
        } else {
            finishAnswer(slot)
        }
    }

    private func finishAnswer(_ slot: Int) {
        streams.pointee.slots[slot].isAnswered = true
        if streams.pointee.slots[slot].isEnded { close(slot, .finished, .noError) }
    }

    @inline(__always)
    final func close(_ slot: Int, _ ending: ServerStreams.Ending, _ code: ErrorCode) {
        let id = streams.pointee.slots[slot].id
        if streams.pointee.slots[slot].isHeldBack { heldBack &-= 1 }
        didClose(stream: id, context: streams.pointee.slots[slot].context, code: code)
        streams.pointee.close(slot, ending)
    }

    /// Sends as much of a body as the windows allow.
    final func sendBody(_ slot: Int) {
        let stream = streams.pointee.slots[slot].id
        while true {
            let window = min(sendWindow, streams.pointee.slots[slot].sendWindow)
            guard window > 0, output.pointee.count < bodyRoom else {
                if !streams.pointee.slots[slot].isHeldBack {
                    streams.pointee.slots[slot].isHeldBack = true
                    streams.pointee.slots[slot].heldSince = monotonicSeconds
                    heldBack &+= 1
                }
                return
            }
            let room = min(window, peerMaxFrame, 16_384)
            var isLast = false
            var taken = 0
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { buffer in
                taken = nextData(stream: stream, buffer: buffer.baseAddress!, capacity: room, isLast: &isLast)
                let flags = isLast ? Frame.endStream : 0
                let payload = writeFrame(Frame.data, flags: flags, stream: stream, length: taken)
                payload.update(from: buffer.baseAddress!, count: taken)
                if isTraced { trace(Frame.data, flags: flags, stream: stream, payload, taken) }
            }
            sendWindow &-= taken
            streams.pointee.slots[slot].sendWindow &-= taken
            if isLast {
                if streams.pointee.slots[slot].isHeldBack {
                    streams.pointee.slots[slot].isHeldBack = false
                    heldBack &-= 1
                }
                finishAnswer(slot)
                return
            }
        }
    }

    /// Goes on with bodies that waited for room in the output, after `nextOutput`.
    public final func resumeBodies() { sendHeldBack() }

    final func sendHeldBack() {
        guard heldBack > 0, output.pointee.count < bodyRoom else { return }
        for slot in streams.pointee.open where streams.pointee.slots[slot].isHeldBack && sendWindow > 0 {
            sendBody(slot)
        }
    }

    /// Streams of which part of the answer has waited for the client's windows since before then.
    ///
    /// - Parameter time: as `monotonicSeconds`.
    public final func streamsHeldBack(before time: Double) -> [Int32] {
        guard heldBack > 0 else { return [] }
        let slots = streams.pointee.slots
        return streams.pointee.open.filter { slots[$0].isHeldBack && slots[$0].heldSince < time }.map { slots[$0].id }
    }

    /// The whole answer to a stream that the client has not ended is written.
    public final func isAnsweredEarly(stream: Int32) -> Bool {
        let slot = streams.pointee.find(stream)
        return slot >= 0 && streams.pointee.slots[slot].isAnswered
    }

    /// Resets an open stream.
    public final func submitReset(stream: Int32, code: ErrorCode) {
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else { return }
        writeReset(stream, code)
        close(slot, .resetByServer, code)
    }

    private func writeReset(_ stream: Int32, _ code: ErrorCode) {
        let payload = writeFrame(Frame.reset, flags: 0, stream: stream, length: 4)
        Frame.write32(code.rawValue, into: payload)
        if isTraced { trace(Frame.reset, flags: 0, stream: stream, payload, 4) }
    }

    /// RFC 9113 section 10.5: streams opened and reset at once cost the server, not the client.
    final func countReset() -> Violation? {
        resets.take(now: monotonicSeconds) ? nil : Violation(.enhanceYourCalm, "streams reset too often")
    }

    /// RFC 9113 section 10.5: DATA frames without bytes that end nothing cost the client nothing.
    final func countEmpty() -> Violation? {
        empties.take(now: monotonicSeconds) ? nil : Violation(.enhanceYourCalm, "too many empty DATA frames")
    }

    /// A stream error: RST_STREAM, whether the stream is open or not.
    private func reset(_ stream: Int32, _ code: ErrorCode) {
        let slot = streams.pointee.find(stream)
        writeReset(stream, code)
        if slot >= 0 { close(slot, .resetByServer, code) } else { streams.pointee.refuse(stream) }
    }

    /// Announces settings: values by identifiers of `Frame.Setting`.
    public final func submitSettings(_ entries: [(identifier: UInt16, value: UInt32)]) {
        guard !entries.isEmpty else { return }
        let payload = writeFrame(Frame.settings, flags: 0, stream: 0, length: entries.count * 6)
        for (index, entry) in entries.enumerated() {
            payload[index * 6] = UInt8(entry.identifier >> 8)
            payload[index * 6 + 1] = UInt8(entry.identifier & 255)
            Frame.write32(entry.value, into: payload + index * 6 + 2)
        }
        if isTraced { trace(Frame.settings, flags: 0, stream: 0, payload, entries.count * 6) }
        announced.append(entries)
        setLimits()
        // RFC 9113 section 6.5.3.
        if announced.count > Self.mostWaitingAnswers { terminate(code: .settingsTimeout) }
    }

    /// The limits of now, from what is acknowledged and what is announced.
    final func setLimits() {
        streamLimit = acknowledgedStreams
        var frame = acknowledgedFrame
        for (identifier, value) in announced.joined() {
            switch identifier {
            case Frame.Setting.maxConcurrentStreams: streamLimit = max(streamLimit, Int(value))
            case Frame.Setting.maxFrameSize: frame = max(frame, Int(value))
            default: break
            }
        }
        input.pointee.maxFrame = frame
    }

    /// GOAWAY naming the last stream that was begun, with `debugData`; streams up to it go on, later ones are passed over.
    public final func submitGoAway(code: ErrorCode, debugData: [UInt8] = []) {
        let payload = writeFrame(Frame.goAway, flags: 0, stream: 0, length: 8 + debugData.count)
        Frame.write32(UInt32(bitPattern: lastStream), into: payload)
        Frame.write32(code.rawValue, into: payload + 4)
        (payload + 8).update(from: debugData, count: debugData.count)
        if isTraced { trace(Frame.goAway, flags: 0, stream: 0, payload, 8 + debugData.count) }
        hasSentGoAway = true
        goAwayLimit = min(goAwayLimit, lastStream)
    }

    /// Queues GOAWAY and ends the session once it is written.
    public final func terminate(code: ErrorCode) {
        guard !isTerminated else { return }
        submitGoAway(code: code)
        isTerminated = true
    }

    /// What `didBeginRequest` gave for every open stream.
    public final var contexts: [UInt] { streams.pointee.open.map { streams.pointee.slots[$0].context } }

    /// What `didBeginRequest` gave for `stream`; 0 when it is gone.
    @inline(__always)
    public final func context(stream: Int32) -> UInt {
        let slot = streams.pointee.find(stream)
        return slot >= 0 ? streams.pointee.slots[slot].context : 0
    }

    // MARK: Frames of the client's

    @inline(__always)
    private func handle(_ frame: FrameView) -> Violation? {
        if isTraced {
            didTransfer(
                FrameSummary(
                    type: frame.type, flags: frame.flags, stream: frame.stream, payload: frame.payload,
                    length: frame.length), isSent: false)
        }
        if input.pointee.isInBlock || !hasSettings {
            if input.pointee.isInBlock, frame.type != Frame.continuation || frame.stream != input.pointee.blockStream {
                return Violation(.protocolError, "a frame of type \(frame.type) inside a header block")
            }
            if !hasSettings, frame.type != Frame.settings || frame.flags & Frame.acknowledgement != 0 {
                return Violation(.protocolError, "the first frame is not SETTINGS")
            }
        }
        switch frame.type {
        case Frame.data: return data(frame)
        case Frame.headers: return headers(frame)
        case Frame.priority: return priority(frame)
        case Frame.reset: return resetByClient(frame)
        case Frame.settings: return settings(frame)
        case Frame.pushPromise: return Violation(.protocolError, "PUSH_PROMISE from a client")
        case Frame.ping: return ping(frame)
        case Frame.goAway:
            if frame.stream != 0 { return Violation(.protocolError, "GOAWAY on stream \(frame.stream)") }
            if frame.length < 8 { return Violation(.frameSizeError, "GOAWAY of \(frame.length) bytes") }
            hasReceivedGoAway = true
            return nil
        case Frame.windowUpdate: return windowUpdate(frame)
        case Frame.continuation: return continuation(frame)
        default: return nil
        }
    }

    /// A stream that was never begun.
    @inline(__always)
    final func isIdle(_ stream: Int32) -> Bool { stream > highestStream || stream & 1 == 0 }

    /// An error of a stream; on a stream that is idle there is nothing to reset but the connection.
    final func streamError(_ stream: Int32, _ code: ErrorCode, _ text: String) -> Violation {
        Violation(code, text, scope: isIdle(stream) ? .connection : .stream(stream))
    }

    // MARK: What the client did

    /// A header block has begun, and does not end in its first frame.
    open func didBeginHeaders(stream: Int32) {}

    /// A request begins; returns what `context` is to be for it.
    open func didBeginRequest(stream: Int32) -> UInt { 0 }

    /// A request begins whose header fields, `:path` apart, are those that `didEndHeaders` has noted under this number; no field of it is
    /// told. Returns what `context` is to be for it.
    ///
    /// - Parameter path: valid until the call returns.
    open func didRepeatRequest(stream: Int32, headers number: Int, path: UnsafeBufferPointer<UInt8>) -> UInt { 0 }

    /// All fields of a request have been told, and they are right. Whoever returns true has noted them under this number, below
    /// `mostRepeated`, in the place of what was noted there before: requests that repeat them are told by `didRepeatRequest`.
    open func didEndHeaders(context: UInt, _ number: Int) -> Bool { false }

    /// Header fields that may be noted at once.
    public static let mostRepeated = RepeatedBlocks.most

    /// What was noted by `didEndHeaders` counts no longer.
    public final func forgetHeaders() { repeated.pointee.forget() }

    /// One header field, valid by HTTP/2's rules so far; false resets the stream.
    open func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool { true }

    /// A request has more header bytes than `SessionSettings.maxHeaderListSize`, or than its owner wanted: what was told of them is not
    /// all. False resets the stream; who returns true has answered it.
    open func didReceiveTooManyHeaders(stream: Int32, context: UInt) -> Bool { false }

    /// Part of a body; the bytes lie in what was given to `receive` and stay valid until that call returns.
    open func didReceiveData(stream: Int32, context: UInt, _ bytes: UnsafePointer<UInt8>, _ count: Int) {}

    /// A request is complete.
    open func didEnd(stream: Int32, context: UInt) {}

    /// `stream` is over, by its end or a reset of either side.
    open func didClose(stream: Int32, context: UInt, code: ErrorCode) {}

    /// A frame came, or was made; called for traced sessions only.
    open func didTransfer(_ frame: FrameSummary, isSent: Bool) {}

    /// Seconds since an arbitrary point, never going back; an owner with a clock of its own says what that says.
    open var monotonicSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Asks for body bytes of `stream`: writes up to `capacity` bytes, says how many, and sets `isLast` with the last.
    open func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        isLast = true
        return 0
    }
}
