import CNghttp2

@testable import HTTP2

/// The server's side of one HTTP/2 connection by nghttp2, for scripted peers: another reading of RFC 9113 than ours.
///
/// Bytes from the peer go into `receive`; bytes for the peer come out of `nextOutput`. What the peer did is told by the
/// `did…` methods, which a subclass overrides; they are called from within `receive` and `nextOutput` and must not
/// call either. nghttp2 answers SETTINGS and PING, updates windows, and judges every frame by RFC 9113.
class NGHTTP2Server {
    private let session: OpaquePointer

    /// Starts a session; the first `nextOutput` holds SETTINGS.
    init(settings: SessionSettings) {
        var options: OpaquePointer?
        precondition(nghttp2_option_new(&options) == 0, "out of memory")
        nghttp2_option_set_max_deflate_dynamic_table_size(options, Int(settings.encoderTableSize))
        var created: OpaquePointer?
        let status = nghttp2_session_server_new2(&created, callbacks.pointer, nil, options)
        nghttp2_option_del(options)
        precondition(status == 0, "nghttp2: \(String(cString: nghttp2_strerror(status)))")
        session = created!
        nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
        announce(settings)
    }

    deinit { nghttp2_session_del(session) }

    private func announce(_ settings: SessionSettings) {
        var entries = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: settings.headerTableSize),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: settings.streamWindow),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_FRAME_SIZE.rawValue), value: settings.maxFrameSize),
        ]
        if let streams = settings.maxConcurrentStreams {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: streams))
        }
        if let size = settings.maxHeaderListSize {
            entries.append(
                nghttp2_settings_entry(
                    settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: size))
        }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        if settings.connectionWindow > 65_535 {
            nghttp2_session_set_local_window_size(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: settings.connectionWindow))
        }
    }

    // MARK: Bytes

    /// Takes bytes from the peer.
    ///
    /// - Returns: nil when all is well, or what makes the connection unusable; a GOAWAY for the peer may then wait in
    ///   `nextOutput`.
    final func receive(_ bytes: UnsafePointer<UInt8>, count: Int) -> String? {
        let status = nghttp2_session_mem_recv(session, bytes, count)
        return status < 0 ? String(cString: nghttp2_strerror(Int32(status))) : nil
    }

    /// The next frame for the peer; 0 when there is none now, negative when the session is beyond repair.
    ///
    /// The bytes are valid until the next call on this session.
    final func nextOutput(_ bytes: inout UnsafePointer<UInt8>?) -> Int {
        nghttp2_session_mem_send(session, &bytes)
    }

    /// False once the session has nothing left to read and nothing left to write: the connection is over.
    final var isAlive: Bool {
        nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0
    }

    // MARK: Frames of ours

    /// Queues a response on `stream`; its body comes from `nextData` when `hasBody`.
    final func submitResponse(_ headers: HeaderBlock, stream: Int32, hasBody: Bool) {
        if hasBody {
            var provider = nghttp2_data_provider()
            provider.read_callback = readData
            nghttp2_submit_response(session, stream, headers.fields, headers.count, &provider)
        } else {
            nghttp2_submit_response(session, stream, headers.fields, headers.count, nil)
        }
    }

    final func submitReset(stream: Int32, code: ErrorCode) {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Changes settings during the connection: values by identifiers of `Frame.Setting`.
    final func submitSettings(_ settings: [(identifier: UInt16, value: UInt32)]) {
        guard !settings.isEmpty else { return }
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.identifier), value: $0.value) }
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// The highest stream of the peer that was begun here: what GOAWAY will name as the last one handled.
    final var lastStream: Int32 { nghttp2_session_get_last_proc_stream_id(session) }

    /// Queues GOAWAY naming the last stream handled, with `debugData`; streams up to it go on.
    final func submitGoAway(code: ErrorCode, debugData: [UInt8] = []) {
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code.rawValue, debugData, debugData.count)
    }

    // MARK: What the peer did

    /// A header block begins on `stream`.
    func didBeginHeaders(stream: Int32) {}

    /// One header field; false resets the stream.
    func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool { true }

    /// Part of a body; the bytes lie in what was given to `receive` and stay valid until that call returns.
    func didReceiveData(stream: Int32, bytes: UnsafePointer<UInt8>, count: Int) {}

    /// The last DATA frame of a body was complete.
    func didEndData(stream: Int32) {}

    /// `stream` is over, by its end, a reset of either side, or a GOAWAY (then with REFUSED_STREAM).
    func didClose(stream: Int32, code: ErrorCode) {}

    /// Asks for body bytes of `stream`: writes up to `capacity` bytes, says how many, and sets `isLast` with the last.
    func nextData(
        stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool
    ) -> Int {
        isLast = true
        return 0
    }
}

/// nghttp2's table of our callbacks, made once; every one only forwards.
private let callbacks = SessionCallbacks()

private final class SessionCallbacks: @unchecked Sendable {
    let pointer: OpaquePointer

    init() {
        var created: OpaquePointer?
        precondition(nghttp2_session_callbacks_new(&created) == 0, "out of memory")
        pointer = created!
        nghttp2_session_callbacks_set_on_begin_headers_callback(pointer) { _, frame, user in
            forward(user) { $0.didBeginHeaders(stream: frame!.pointee.hd.stream_id) }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(pointer) {
            _, frame, name, nameLength, value, valueLength, _, user in
            let keep = forward(user) {
                $0.didReceiveHeader(
                    stream: frame!.pointee.hd.stream_id, name: name!, nameLength: nameLength, value: value!,
                    valueLength: valueLength)
            }
            return keep ? 0 : Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(pointer) { _, _, stream, bytes, count, user in
            forward(user) { $0.didReceiveData(stream: stream, bytes: bytes!, count: count) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(pointer) { _, frame, user in
            forward(user) { dispatch(frame!, to: $0) }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(pointer) { _, stream, code, user in
            forward(user) { $0.didClose(stream: stream, code: ErrorCode(rawValue: code)) }
            return 0
        }
    }
}

/// Calls `body` with the session behind nghttp2's user data, without retaining it.
@inline(__always)
private func forward<Result>(_ user: UnsafeMutableRawPointer?, _ body: (NGHTTP2Server) -> Result) -> Result {
    Unmanaged<NGHTTP2Server>.fromOpaque(user!)._withUnsafeGuaranteedRef { body($0) }
}

@inline(__always)
private func dispatch(_ frame: UnsafePointer<nghttp2_frame>, to session: NGHTTP2Server) {
    let header = frame.pointee.hd
    if UInt32(header.type) == NGHTTP2_DATA.rawValue, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
        session.didEndData(stream: header.stream_id)
    }
}

private let readData: nghttp2_data_source_read_callback = { _, stream, buffer, capacity, flags, _, user in
    forward(user) { session in
        var isLast = false
        let count = session.nextData(stream: stream, buffer: buffer!, capacity: capacity, isLast: &isLast)
        if isLast { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}
