import Glibc
import HTTP2
import Networking

/// A connection whose frames are written here, for exactly this traffic: HEADERS of a few table references and the path,
/// DATA with the payload, both straight into the send buffer. Reading is `WireReader`'s business.
///
/// No allocation for a push but when flow control holds part of its payload back.
final class WireConnection: PushConnection {
    private let shared: RequestMemory
    private let encoder: RequestEncoder
    private let reader: WireReader
    /// Negative once the ids are used up.
    @exclusivity(unchecked) var nextStream: Int32 = 1
    /// Slot by stream: place (id / 2) & mask. A stream that is still open when its place is wanted again is displaced.
    private let byStream: UnsafeMutablePointer<Int32>
    private let mask: Int
    @exclusivity(unchecked) private var displaced: [Int32: Int32] = [:]

    // What the peer allows.
    @exclusivity(unchecked) private(set) var connectionWindow = 65_535
    private var widestWindow = 65_535
    @exclusivity(unchecked) private(set) var initialWindow = 65_535
    @exclusivity(unchecked) private var peerMaxFrame = 16_384
    private var maxStreams = UInt32.max
    /// Of the SETTINGS being read: the last and the largest initial window.
    private var newWindow: (last: Int, largest: Int)?
    /// DATA frames sent besides the first one of each push.
    @exclusivity(unchecked) private(set) var moreDataFrames = 0
    /// Slots with payload held back by flow control.
    @exclusivity(unchecked) private(set) var heldBack = 0
    /// The last that was; when the connection's window is all that is short, the only one.
    private var lastHeld = 0

    // What we allow.
    private let receiveWindow: Int
    private var unacknowledged = 0
    private var hasToldFault = false

    init(
        token: UInt64, index: Int, lane: Int, target: Target, stream: ByteStream, options: TransportOptions,
        driver: PushDriver, loop: EventLoop, shared: RequestMemory, sendBuffers: BufferPool, now: UInt64
    ) {
        self.shared = shared
        encoder = RequestEncoder(
            authority: target.authority, isSecure: target.tls != nil, headerSets: shared.headerSets,
            tableLimit: Int(options.session.encoderTableSize), usesHuffman: options.huffman)
        reader = WireReader(settings: options.session, streams: options.streams)
        receiveWindow = Int(options.session.connectionWindow)
        var size = 64
        while size < options.streams * 2 { size <<= 1 }
        mask = size - 1
        byStream = .allocate(capacity: size)
        byStream.initialize(repeating: -1, count: size)
        super.init(
            token: token, index: index, lane: lane, stream: stream, options: options, driver: driver,
            loop: loop, sendBuffers: sendBuffers, now: now)
    }

    deinit { byStream.deallocate() }

    override var sendWindow: Int { connectionWindow }

    // MARK: Frames of ours

    override func begin() {
        let settings = options.session
        Frame.preface.withUnsafeBufferPointer { append($0.baseAddress!, $0.count) }
        let entries: [(UInt16, UInt32)] = [
            (Frame.Setting.headerTableSize, settings.headerTableSize), (Frame.Setting.enablePush, 0),
            (Frame.Setting.initialWindowSize, settings.streamWindow),
            (Frame.Setting.maxFrameSize, settings.maxFrameSize),
        ]
        let output = frame(Frame.settings, flags: 0, stream: 0, length: entries.count * 6)
        for (place, entry) in entries.enumerated() {
            output[place * 6] = UInt8(entry.0 >> 8)
            output[place * 6 + 1] = UInt8(truncatingIfNeeded: entry.0)
            Frame.write32(entry.1, into: output + place * 6 + 2)
        }
        if receiveWindow > 65_535 { windowUpdate(stream: 0, by: receiveWindow - 65_535) }
    }

    /// Appends a frame's header and returns the place of its payload, which the caller fills and has checked the room for:
    /// by `canSend` for requests, by `hasRoomToAnswer` for all small frames.
    @inline(__always)
    private func frame(_ type: UInt8, flags: UInt8, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
        let output = reserve(Frame.headerLength + length)
        Frame.writeHeader(length: length, type: type, flags: flags, stream: stream, into: output)
        return output + Frame.headerLength
    }

    func windowUpdate(stream: Int32, by increment: Int) {
        Frame.write32(
            UInt32(increment), into: frame(Frame.windowUpdate, flags: 0, stream: stream, length: 4))
    }

    /// Without room for it RST_STREAM is not sent: the peer does not read, and will not miss it.
    func reset(stream: Int32, code: ErrorCode) {
        guard hasRoomToAnswer else { return }
        Frame.write32(code.rawValue, into: frame(Frame.reset, flags: 0, stream: stream, length: 4))
    }

    override func reset(slot: Int) {
        reset(stream: slots.slots[slot].stream, code: .cancel)
        close(slot)
    }

    override func markUnfinishedHeaders() {
        if let stream = reader.unfinishedHeaders, let index = slot(of: stream) { slots.slots[index].isInHeaders = true }
    }

    override func ping() {
        guard hasRoomToAnswer else { return }
        frame(Frame.ping, flags: 0, stream: 0, length: 8).update(repeating: 0, count: 8)
    }

    func answerPing(_ opaque: UnsafePointer<UInt8>) {
        frame(Frame.ping, flags: Frame.acknowledgement, stream: 0, length: 8).update(from: opaque, count: 8)
    }

    func acknowledgeSettings() {
        _ = frame(Frame.settings, flags: Frame.acknowledgement, stream: 0, length: 0)
    }

    private func goAway(_ code: ErrorCode) {
        let output = frame(Frame.goAway, flags: 0, stream: 0, length: 8)
        Frame.write32(0, into: output)
        Frame.write32(code.rawValue, into: output + 4)
    }

    /// Room for the small frames that answer the peer's; a peer that asks for more than we can say is too much.
    var hasRoomToAnswer: Bool { sendRoom >= 64 }

    // MARK: Requests

    override func send(_ ticket: PushTicket, now: UInt64) {
        let index = slots.take()
        let slot = slots.slots + index
        slot.pointee.ticket = ticket
        slot.pointee.started = now
        withDriver { $0.compose(ticket, connection: self.index, into: &shared.request) }
        let stream = nextStream
        slot.pointee.stream = stream
        guard stream > 0 else {
            // Stream ids are used up: the connection drains like after GOAWAY.
            slot.pointee.stream = .max
            requeue(index)
            didUseUpStreams()
            return
        }
        nextStream = stream &+ 2
        remember(stream, index)

        let header = reserve(Frame.headerLength)
        let block = header + Frame.headerLength
        let length = encoder.write(
            set: shared.request.headerSet, path: shared.path, pathLength: shared.pathLength,
            authorizationValue: shared.request.authorization,
            identifier: shared.request.hasIdentifier ? UnsafePointer(shared.request.identifier) : nil, into: block)
        Frame.writeHeader(
            length: length, type: Frame.headers, flags: Frame.endHeaders, stream: stream, into: header)
        _ = reserve(length)

        let total = shared.request.payloadLength
        // Payloads are of a few KB.
        slot.pointee.window = Int32(truncatingIfNeeded: initialWindow &- total)
        if total <= connectionWindow, total <= initialWindow, total <= peerMaxFrame {
            frame(Frame.data, flags: Frame.endStream, stream: stream, length: total)
                .update(from: shared.request.payload, count: total)
            connectionWindow &-= total
            didProduce(slot: index)
        } else {
            slot.pointee.window = Int32(initialWindow)
            slot.pointee.held = HeldPayload.make(shared.request.payload, count: total)
            heldBack += 1
            lastHeld = index
            resume(index)
        }
    }

    /// Sends what flow control allows of a payload held back.
    private func resume(_ index: Int) {
        let slot = slots.slots + index
        guard let held = slot.pointee.held else { return }
        while true {
            let rest = held.pointee.rest
            let count = min(rest, peerMaxFrame, Int(slot.pointee.window), connectionWindow, sendRoom - 4096)
            guard count > 0 else { return }
            let output = frame(
                Frame.data, flags: count == rest ? Frame.endStream : 0, stream: slot.pointee.stream, length: count)
            held.pointee.send(count, into: output)
            slot.pointee.window -= Int32(count)
            connectionWindow -= count
            moreDataFrames += 1
            if count == rest {
                slots.releaseHeld(index)
                heldBack -= 1
                didProduce(slot: index)
                return
            }
        }
    }

    /// The send buffer has room again: what is held back goes on.
    override func produce() {
        guard heldBack > 0, connectionWindow > 0 else { return }
        resume(lastHeld)
        guard heldBack > 0 else { return }
        for index in 0..<slots.capacity where slots.slots[index].held != nil && slots.slots[index].stream != 0 {
            resume(index)
        }
    }

    // MARK: Streams

    /// Opens a stream as if a push had been sent on it, so that what its answer costs can be measured alone.
    func pretend() -> Int32 {
        let index = slots.take()
        let stream = nextStream
        slots.slots[index].stream = stream
        nextStream = stream &+ 2
        remember(stream, index)
        return stream
    }

    private func remember(_ stream: Int32, _ index: Int) {
        let place = Int(stream >> 1) & mask
        let old = byStream[place]
        if old >= 0 {
            let other = slots.slots[Int(old)].stream
            if other != 0, other != stream, Int(other >> 1) & mask == place { displaced[other] = old }
        }
        byStream[place] = Int32(truncatingIfNeeded: index)
    }

    /// The slot of an open stream; nil when it is over.
    @inline(__always)
    func slot(of stream: Int32) -> Int? {
        let found = byStream[Int(stream >> 1) & mask]
        if found >= 0, slots.slots[Int(found)].stream == stream { return Int(found) }
        return displaced.isEmpty ? nil : displaced[stream].map(Int.init)
    }

    /// Was this stream never opened by us?
    func isIdle(_ stream: Int32) -> Bool { stream & 1 == 0 || (nextStream > 0 && stream >= nextStream) }

    @inline(__always)
    private func forget(_ index: Int) {
        if slots.slots[index].held != nil { heldBack -= 1 }
        if !displaced.isEmpty { displaced[slots.slots[index].stream] = nil }
    }

    /// A stream whose push has ended before is over.
    private func close(_ index: Int) {
        forget(index)
        slots.free(index)
    }

    /// The answer is complete.
    func didEnd(_ index: Int) {
        let slot = slots.slots + index
        let status = slot.pointee.status
        if slot.pointee.held != nil { reset(stream: slot.pointee.stream, code: .cancel) }
        forget(index)
        if slot.pointee.isAbandoned {
            slots.free(index)
            return
        }
        didAnswer()
        if status == 200 {
            finish(index, .accepted, at: readTime)
        } else {
            finish(index, status == 0 ? .failed(.malformedAnswer) : .rejected(status: status), at: readTime)
        }
    }

    /// The answer is not one (RFC 9113 section 8.1.1): an error of its stream.
    func didReceiveMalformed(_ index: Int, _ fault: @autoclosure () -> String) {
        didBreakStream(index, .protocolError, "malformed answer: \(fault())")
    }

    /// Tells what is wrong with the first of the connection's broken streams.
    private func tell(_ fault: @autoclosure () -> String) {
        if hasToldFault { return }
        hasToldFault = true
        driver.streamFault(fault())
    }

    func didBreakStream(_ index: Int, _ code: ErrorCode, _ fault: @autoclosure () -> String) {
        tell(fault())
        reset(stream: slots.slots[index].stream, code: code)
        forget(index)
        if slots.slots[index].isAbandoned {
            slots.free(index)
        } else {
            finish(index, .failed(.malformedAnswer), at: readTime)
        }
    }

    func didReset(_ index: Int, code: ErrorCode) {
        forget(index)
        let hasStatus = slots.slots[index].status != 0
        if slots.slots[index].isAbandoned {
            slots.free(index)
        } else if code == .refusedStream, !hasStatus {
            requeue(index)
        } else {
            if code == .refusedStream { tell("malformed answer: REFUSED_STREAM after :status") }
            finish(index, .failed(.streamReset(code)), at: readTime)
        }
    }

    // MARK: What the peer said

    override func consume(_ bytes: UnsafePointer<UInt8>, count: Int) -> String? {
        guard let violation = reader.consume(bytes, count, self) else { return nil }
        if hasRoomToAnswer { goAway(violation.code) }
        guard violation.isFlood else { return violation.text }
        flood = violation.text
        return "\(violation.text) without end, and no answer"
    }

    func didReceive(setting: UInt16, value: UInt32) -> WireReader.Violation? {
        switch setting {
        case Frame.Setting.headerTableSize: encoder.setPeerTableSize(Int(value))
        case Frame.Setting.enablePush where value != 0:
            return .init(.protocolError, "SETTINGS_ENABLE_PUSH \(value) from a server")
        case Frame.Setting.maxConcurrentStreams: maxStreams = value
        case Frame.Setting.initialWindowSize:
            guard value <= 0x7FFF_FFFF else { return .init(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE \(value)") }
            newWindow = (Int(value), max(newWindow?.largest ?? 0, Int(value)))
        case Frame.Setting.maxFrameSize:
            guard (16_384...16_777_215).contains(value) else {
                return .init(.protocolError, "SETTINGS_MAX_FRAME_SIZE \(value)")
            }
            // Larger frames than this would gain nothing.
            peerMaxFrame = min(Int(value), 16_384)
        default: break
        }
        return nil
    }

    /// All settings of a frame are known. RFC 9113 section 6.9.2: a change of the initial window counts for open streams too, and
    /// may make their windows negative. However often a frame changes it, the streams are looked at once.
    func takeInitialWindow() -> WireReader.Violation? {
        guard let (last, largest) = newWindow else { return nil }
        newWindow = nil
        let (change, rise) = (last - initialWindow, largest - initialWindow)
        initialWindow = last
        for index in 0..<slots.capacity where slots.slots[index].stream != 0 {
            let before = Int(slots.slots[index].window)
            guard before + rise <= 0x7FFF_FFFF, let window = Int32(exactly: before + change) else {
                return .init(.flowControlError, "a stream's window overflows")
            }
            slots.slots[index].window = window
        }
        return nil
    }

    /// All values are taken over and acknowledged. Only now may larger windows be used: the peer goes by the acknowledgement
    /// (RFC 9113 section 6.5.3).
    func didReceiveSettings() {
        produce()
        didSettle(limit: maxStreams)
    }

    /// The increment is of what was sent: it opens no window wider than it has been.
    func givesBack(_ increment: Int) -> Bool { connectionWindow + increment <= widestWindow }
    func givesBack(_ increment: Int, slot index: Int) -> Bool {
        Int(slots.slots[index].window) + increment <= initialWindow
    }

    func didReceiveWindow(_ increment: Int) -> WireReader.Violation? {
        connectionWindow += increment
        widestWindow = max(widestWindow, connectionWindow)
        guard connectionWindow <= 0x7FFF_FFFF else {
            return .init(.flowControlError, "the connection's window overflows")
        }
        produce()
        return nil
    }

    func didReceiveWindow(_ increment: Int, slot index: Int) {
        guard let window = Int32(exactly: Int(slots.slots[index].window) + increment) else {
            return didBreakStream(index, .flowControlError, "WINDOW_UPDATE beyond 2^31-1")
        }
        slots.slots[index].window = window
        resume(index)
    }

    func didReceiveGoAway(lastStream: Int32, _ goAway: GoAway) {
        didReceiveGoAway(goAway)
        for index in 0..<slots.capacity where slots.slots[index].stream > lastStream {
            forget(index)
            if slots.slots[index].isAbandoned {
                slots.free(index)
            } else if slots.slots[index].status == 0 {
                requeue(index)
            } else {
                tell("malformed answer: GOAWAY says that a push with a :status was not processed")
                finish(index, .failed(.malformedAnswer), at: readTime)
            }
        }
    }

    /// DATA of so many bytes came, padding included: the connection's flow control towards us.
    func didReceiveData(length: Int) -> WireReader.Violation? {
        unacknowledged += length
        guard unacknowledged <= receiveWindow else {
            return .init(.flowControlError, "more DATA than the window allows")
        }
        if unacknowledged >= receiveWindow / 2 {
            windowUpdate(stream: 0, by: unacknowledged)
            unacknowledged = 0
        }
        return nil
    }
}
