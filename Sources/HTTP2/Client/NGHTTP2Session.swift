import CNghttp2
import Glibc
import Networking

/// A client session that leaves HTTP/2 to nghttp2, which answers SETTINGS and PING, updates windows, and judges every frame by
/// RFC 9113: an owned `nghttp2_session`, and what it asks and tells in its callbacks.
///
/// Cost a push: nghttp2's submit, serialise and close, most of it stream objects and HPACK (about 2 µs, callgrind), one copy of the
/// payload into nghttp2's frame buffer and one of the frames into the send buffer (about 10 ns each for 333 bytes).
public final class NGHTTP2Session: ClientSession {
    private let session: OpaquePointer
    private let headers: RequestHeaders
    private var request: ClientRequest?
    /// The stream whose payload lies in `request`, -1 when none does.
    private var composing = -1
    private var composedOffset = 0
    /// Why nghttp2 ended the connection, once it has said so to the peer.
    private var problem: String?
    /// What nghttp2 said first of a stream's header fields or messages that it found wrong.
    private var said: String?
    /// The stream whose last byte is in the frame just produced, -1 when none.
    private var completed = -1

    /// - Parameters:
    ///   - headers: the worker's, used by one session at a time.
    ///   - streams: most at once, whatever the peer allows.
    public init(_ headers: RequestHeaders, settings: SessionSettings, streams: Int, sendBuffers: BufferPool) {
        self.headers = headers
        var options: OpaquePointer?
        precondition(nghttp2_option_new(&options) == 0, "out of memory")
        nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2_option_set_max_deflate_dynamic_table_size(options, Int(settings.encoderTableSize))
        // The pool waits for the peer's SETTINGS before it sends a request, so no guess is needed.
        nghttp2_option_set_peer_max_concurrent_streams(options, UInt32.max)
        var created: OpaquePointer?
        let status = nghttp2_session_client_new2(&created, callbacks.pointer, nil, options)
        nghttp2_option_del(options)
        precondition(status == 0, "nghttp2: \(String(cString: nghttp2_strerror(status)))")
        session = created!
        super.init(streams: streams, sendBuffers: sendBuffers)
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        announce(settings)
    }

    deinit { nghttp2_session_del(session) }

    private func announce(_ settings: SessionSettings) {
        let entries = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableSize),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow),
            (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings.maxFrameSize), (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
        ].map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, noFlags, entries, entries.count)
        if settings.connectionWindow > 65_535 {
            nghttp2_session_set_local_window_size(session, noFlags, 0, Int32(clamping: settings.connectionWindow))
        }
    }

    // MARK: Verbs

    public override func begin() { produce() }

    public override func receive(_ bytes: UnsafePointer<UInt8>, count: Int, now: UInt64) -> Violation? {
        let status = nghttp2_session_mem_recv(session, bytes, count)
        sendWindow = Int(nghttp2_session_get_remote_window_size(session))
        return status < 0 ? Violation(.protocolError, String(cString: nghttp2_strerror(Int32(status)))) : nil
    }

    public override func send(_ request: ClientRequest) -> Bool {
        let block = headers.block(for: request)
        var provider = nghttp2_data_provider()
        provider.read_callback = readData
        let stream = nghttp2_submit_request(session, nil, block.fields, block.count, &provider, nil)
        guard stream > 0 else { return false }
        composing = streams.open(stream)
        composedOffset = 0
        self.request = request
        produce()
        // What flow control kept back of the payload is moved out of its owner's memory.
        if composing >= 0 {
            streams.hold(
                composing, request.payload + composedOffset, count: request.payloadLength - composedOffset)
            composing = -1
        }
        self.request = nil
        return true
    }

    public override func produce() {
        var bytes: UnsafePointer<UInt8>?
        // A frame is at most 16,384 + 9 bytes unless the peer allows more, and nghttp2 never makes larger ones unasked.
        while output.room >= 20_480 {
            let count = nghttp2_session_mem_send(session, &bytes)
            if count <= 0 { break }
            output.reserve(count).update(from: bytes!, count: count)
            if completed >= 0 {
                didProduce(completed)
                completed = -1
            }
        }
        sendWindow = Int(nghttp2_session_get_remote_window_size(session))
    }

    public override func reset(_ index: Int) {
        streams.entries[index].isAbandoned = true
        submitReset(streams.entries[index].id)
    }

    private func submitReset(_ stream: Int32) {
        nghttp2_submit_rst_stream(session, noFlags, stream, ErrorCode.cancel.rawValue)
    }

    public override func ping() {
        nghttp2_submit_ping(session, noFlags, nil)
        produce()
    }

    public override var violation: String? { problem }

    public override var isAlive: Bool {
        nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
    }

    // MARK: What nghttp2 asks and tells

    /// Body bytes of `stream`: writes up to `capacity` bytes, says how many, and sets `isLast` with the last.
    fileprivate func nextData(
        _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int, _ isLast: inout Bool
    ) -> Int {
        guard let index = streams.find(stream) else {
            isLast = true
            return 0
        }
        if index == composing, let request {
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
        guard let held = streams.entries[index].held else {
            isLast = true
            return 0
        }
        // nghttp2 counts the window.
        let count = min(capacity, held.pointee.rest)
        held.pointee.send(count, into: buffer)
        if held.pointee.rest == 0 {
            isLast = true
            completed = index
            streams.releaseHeld(index)
        }
        return count
    }

    fileprivate func didBeginHeaders(_ stream: Int32) {
        if let index = streams.find(stream) { streams.entries[index].isInHeaders = true }
    }

    fileprivate func didReceiveHeader(
        _ stream: Int32, _ name: UnsafePointer<UInt8>, _ nameLength: Int, _ value: UnsafePointer<UInt8>,
        _ valueLength: Int
    ) {
        if nameLength == 11, valueLength <= 64, memcmp(name, "retry-after", 11) == 0, let index = streams.find(stream) {
            let value = UnsafeBufferPointer(start: value, count: valueLength)
            return keepRetryAfter(String(decoding: value, as: UTF8.self), index, streams.entries[index].status)
        }
        // ":status"; nghttp2 has checked that the value is three digits.
        guard nameLength == 7, name[1] == 0x73, name[0] == 0x3A, valueLength == 3, let index = streams.find(stream)
        else { return }
        streams.entries[index].status =
            UInt16(value[0] &- 48) &* 100 &+ UInt16(value[1] &- 48) &* 10 &+ UInt16(value[2] &- 48)
    }

    fileprivate func didReceiveData(_ stream: Int32, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        if let index = streams.find(stream) { streams.appendBody(index, bytes, count) }
    }

    fileprivate func didReceive(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue:
            guard let index = streams.find(header.stream_id) else { return }
            streams.entries[index].isInHeaders = false
            if endsStream { didEndAnswer(index) }
        case NGHTTP2_DATA.rawValue:
            if endsStream, let index = streams.find(header.stream_id) { didEndAnswer(index) }
        case NGHTTP2_RST_STREAM.rawValue:
            if let index = streams.find(header.stream_id) { streams.entries[index].isReset = true }
        case NGHTTP2_SETTINGS.rawValue where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
            let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            streamLimit = min(streams.capacity, Int(clamping: limit))
            tell { $0.didSettle() }
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = frame.pointee.goaway
            let debugData = UnsafeBufferPointer(
                start: UnsafePointer(goAway.opaque_data), count: Int(goAway.opaque_data_len))
            tell { $0.didReceiveGoAway(code: ErrorCode(rawValue: goAway.error_code), debugData: debugData) }
        default: break
        }
    }

    /// The answer is whole. What is left of the request is not sent: a server may answer before it has it (RFC 9113 section
    /// 8.1).
    private func didEndAnswer(_ index: Int) {
        streams.entries[index].isAnswered = true
        if streams.entries[index].held != nil { submitReset(streams.entries[index].id) }
    }

    /// What nghttp2 finds wrong, one line, which may quote the peer; of single streams, not of the connection.
    fileprivate func didSay(_ code: Int32, _ text: UnsafeBufferPointer<UInt8>) {
        guard said == nil, code == NGHTTP2_ERR_HTTP_HEADER.rawValue || code == NGHTTP2_ERR_HTTP_MESSAGING.rawValue
        else { return }
        said = String(decoding: text.prefix(200).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    fileprivate func didSend(_ frame: UnsafePointer<nghttp2_frame>) {
        guard UInt32(frame.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return }
        let goAway = frame.pointee.goaway
        let code = ErrorCode(rawValue: goAway.error_code)
        guard code != .noError, problem == nil else { return }
        let text = UnsafeBufferPointer(start: goAway.opaque_data, count: Int(goAway.opaque_data_len))
        if !text.isEmpty {
            problem = String(decoding: text, as: UTF8.self)
        } else {
            problem = code == .compressionError ? "a header block that cannot be decoded" : code.description
        }
    }

    private func endMalformed(_ index: Int) {
        tellFault("malformed answer: \(said ?? "against RFC 9113, nghttp2 does not say how")")
        end(index, .malformed)
    }

    /// `stream` is over, by its end, a reset of either side, or a GOAWAY (then with REFUSED_STREAM).
    fileprivate func didClose(_ stream: Int32, _ code: ErrorCode) {
        guard let index = streams.find(stream) else { return }
        let entry = streams.entries[index]
        if composing == index { composing = -1 }
        if entry.isAbandoned {
            streams.free(index)
        } else if entry.isAnswered {
            answered &+= 1
            if entry.status == 0 { endMalformed(index) } else { end(index, .answered(status: entry.status)) }
        } else if code == .refusedStream, !hasStatus(index) {
            end(index, .refused)
        } else if entry.isReset {
            if code == .refusedStream { tellFault("malformed answer: REFUSED_STREAM after :status") }
            end(index, .reset(code))
        } else {
            // Streams that the session resets itself had answers that break HTTP/2.
            endMalformed(index)
        }
    }
}

private let noFlags = UInt8(NGHTTP2_FLAG_NONE.rawValue)

/// nghttp2's table of our callbacks, made once; every one only forwards.
private let callbacks = SessionCallbacks()

private final class SessionCallbacks: @unchecked Sendable {
    let pointer: OpaquePointer

    init() {
        var created: OpaquePointer?
        precondition(nghttp2_session_callbacks_new(&created) == 0, "out of memory")
        pointer = created!
        nghttp2_session_callbacks_set_on_begin_headers_callback(pointer) { _, frame, user in
            forward(user) { $0.didBeginHeaders(frame!.pointee.hd.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(pointer) {
            _, frame, name, nameLength, value, valueLength, _, user in
            forward(user) {
                $0.didReceiveHeader(frame!.pointee.hd.stream_id, name!, nameLength, value!, valueLength)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(pointer) { _, _, stream, bytes, count, user in
            forward(user) { $0.didReceiveData(stream, bytes!, count) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(pointer) { _, frame, user in
            forward(user) { $0.didReceive(frame!) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(pointer) { _, frame, user in
            forward(user) { $0.didSend(frame!) }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(pointer) { _, stream, code, user in
            forward(user) { $0.didClose(stream, ErrorCode(rawValue: code)) }
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(pointer) { _, code, text, length, user in
            let bytes = UnsafeRawBufferPointer(start: text, count: length).assumingMemoryBound(to: UInt8.self)
            forward(user) { $0.didSay(code, bytes) }
            return 0
        }
    }
}

/// Calls `body` with the session behind nghttp2's user data, without retaining it.
@inline(__always)
private func forward<Result>(_ user: UnsafeMutableRawPointer?, _ body: (NGHTTP2Session) -> Result) -> Result {
    Unmanaged<NGHTTP2Session>.fromOpaque(user!)._withUnsafeGuaranteedRef { body($0) }
}

private let readData: nghttp2_data_source_read_callback = { _, stream, buffer, capacity, flags, _, user in
    forward(user) { session in
        var isLast = false
        let count = session.nextData(stream, buffer!, capacity, &isLast)
        if isLast { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}
