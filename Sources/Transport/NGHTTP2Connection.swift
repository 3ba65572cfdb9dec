import HTTP2
import Networking

/// A connection that speaks HTTP/2 through nghttp2.
///
/// Cost a push beyond `PushConnection`: nghttp2's submit, serialise and close (about 2 µs), one copy of the payload into
/// nghttp2's frame buffer and one of the frames into the send buffer (about 10 ns each for 333 bytes).
final class NGHTTP2Connection: PushConnection {
    private var session: PushSession!
    private let shared: RequestMemory

    init(
        token: UInt64, index: Int, lane: Int, stream: ByteStream, options: TransportOptions,
        driver: PushDriver, loop: EventLoop, shared: RequestMemory, sendBuffers: BufferPool, now: UInt64
    ) {
        self.shared = shared
        super.init(
            token: token, index: index, lane: lane, stream: stream, options: options, driver: driver,
            loop: loop, sendBuffers: sendBuffers, now: now)
    }

    override func begin() {
        session = PushSession(self, settings: options.session)
        produce()
    }

    override var sendWindow: Int { session.sendWindow }
    override var isAlive: Bool { session.isAlive }

    override func send(_ ticket: PushTicket, now: UInt64) {
        let index = slots.take()
        let slot = slots.slots + index
        slot.pointee.ticket = ticket
        slot.pointee.started = now
        driver.compose(ticket, connection: self.index, into: &shared.request)
        let block = shared.headers(for: shared.request)
        let stream = session.submitRequest(block, context: UInt(index &+ 1))
        guard stream > 0 else {
            // Stream ids are used up: the connection drains like after GOAWAY.
            slot.pointee.stream = .max
            requeue(index)
            didUseUpStreams()
            return
        }
        slot.pointee.stream = stream
        session.open(slot: index)
        produce()
        session.holdBackRest()
    }

    override func consume(_ bytes: UnsafePointer<UInt8>, count: Int) -> String? {
        session.receive(bytes, count: count)
    }

    override func produce() {
        guard let session else { return }
        var bytes: UnsafePointer<UInt8>?
        // A frame is at most 16,384 + 9 bytes unless the peer allows more, and nghttp2 never makes larger ones unasked.
        while sendRoom >= 20_480 {
            let count = session.nextOutput(&bytes)
            if count <= 0 { break }
            append(bytes!, count)
            if session.completed >= 0 {
                didProduce(slot: session.completed)
                session.completed = -1
            }
        }
    }

    override func reset(slot: Int) {
        session.submitReset(stream: slots.slots[slot].stream, code: .cancel)
    }

    override func ping() {
        session.submitPing()
        produce()
    }

    fileprivate var requestMemory: RequestMemory { shared }
}

/// nghttp2's view of the connection; forwards to the slots.
private final class PushSession: HTTP2Session {
    private unowned(unsafe) let connection: NGHTTP2Connection
    /// The slot whose payload lies in the shared request memory, -1 when none does.
    private var composing = -1
    private var composedOffset = 0
    /// The slot whose last body byte is in the frame just produced, -1 when none.
    var completed = -1
    private var current = -1

    init(_ connection: NGHTTP2Connection, settings: SessionSettings) {
        self.connection = connection
        super.init(.client, settings: settings)
    }

    func open(slot: Int) {
        composing = slot
        composedOffset = 0
    }

    /// What flow control kept back of the payload just composed is moved out of the shared memory.
    @inline(__always)
    func holdBackRest() {
        if composing >= 0 { holdBack() }
    }

    private func holdBack() {
        let request = connection.requestMemory.request
        connection.slots.slots[composing].held = HeldPayload.make(
            request.payload + composedOffset, count: request.payloadLength - composedOffset)
        composing = -1
    }

    override func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        let index: Int
        if composing >= 0, connection.slots.slots[composing].stream == stream {
            index = composing
            let request = connection.requestMemory.request
            let count = min(capacity, request.payloadLength &- composedOffset)
            buffer.update(from: request.payload + composedOffset, count: count)
            composedOffset &+= count
            if composedOffset == request.payloadLength {
                isLast = true
                completed = index
                composing = -1
            }
            return count
        }
        index = Int(context(stream: stream)) - 1
        guard index >= 0, let held = connection.slots.slots[index].held else {
            isLast = true
            return 0
        }
        // nghttp2 counts the window.
        let count = min(capacity, held.pointee.rest)
        held.pointee.send(count, into: buffer)
        if held.pointee.rest == 0 {
            isLast = true
            completed = index
            connection.slots.releaseHeld(index)
        }
        return count
    }

    override func didBeginHeaders(stream: Int32) {
        current = Int(bitPattern: context(stream: stream)) - 1
        if current >= 0 { connection.slots.slots[current].isInHeaders = true }
    }

    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        // ":status"; nghttp2 has checked that the value is three digits.
        if nameLength == 7, name[1] == 0x73, name[0] == 0x3A, valueLength == 3, current >= 0 {
            connection.slots.slots[current].status =
                UInt16(value[0] &- 48) &* 100 &+ UInt16(value[1] &- 48) &* 10 &+ UInt16(value[2] &- 48)
        }
        return true
    }

    override func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {
        let index = Int(bitPattern: context(stream: stream)) - 1
        if index >= 0 { connection.slots.appendBody(index, bytes, count) }
    }

    override func didEndHeaders(stream: Int32, endsStream: Bool) {
        let index = Int(bitPattern: context(stream: stream)) - 1
        if index >= 0 { connection.slots.slots[index].isInHeaders = false }
        if endsStream { didEndAnswer(stream) }
    }

    override func didEndData(stream: Int32) { didEndAnswer(stream) }

    /// The answer is whole. What is left of the request is not sent: a server may answer before it has it (RFC 9113 section
    /// 8.1).
    private func didEndAnswer(_ stream: Int32) {
        let index = Int(bitPattern: context(stream: stream)) - 1
        guard index >= 0 else { return }
        connection.slots.slots[index].isAnswered = true
        if connection.slots.slots[index].held != nil { submitReset(stream: stream, code: .cancel) }
    }

    override func didReceiveReset(stream: Int32) {
        let index = Int(bitPattern: context(stream: stream)) - 1
        if index >= 0 { connection.slots.slots[index].isReset = true }
    }

    override func didReceiveSettings(acknowledgement: Bool) {
        if !acknowledgement { connection.didSettle(limit: peerSettings.maxConcurrentStreams) }
    }

    override func didReceiveGoAway(lastStream: Int32, code: ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
        connection.didReceiveGoAway(GoAway(code: code, debugData: debugData))
    }

    override func didClose(stream: Int32, code: ErrorCode) {
        let index = Int(bitPattern: context(stream: stream)) - 1
        guard index >= 0 else { return }
        let slot = connection.slots.slots + index
        if composing == index { composing = -1 }
        if slot.pointee.isAbandoned {
            connection.slots.free(index)
            return
        }
        if slot.pointee.isAnswered {
            connection.didAnswer()
            let status = slot.pointee.status
            if status == 200 {
                connection.finish(index, .accepted, at: connection.readTime)
            } else if status == 0 {
                connection.finish(index, .failed(.malformedAnswer), at: connection.readTime)
            } else {
                connection.finish(index, .rejected(status: status), at: connection.readTime)
            }
        } else if code == .refusedStream, slot.pointee.status < 200 {
            connection.requeue(index)
        } else {
            // Streams that the session resets itself had answers that break HTTP/2.
            let cause: FailureCause = slot.pointee.isReset ? .streamReset(code) : .malformedAnswer
            connection.finish(index, .failed(cause), at: connection.readTime)
        }
    }
}
