import Networking

@testable import HTTP2

/// A client session and what it told, turned by hand.
final class HandTurnedClient: ClientOwner {
    let session: ClientSession
    var endings: [Int32: StreamEnding] = [:]
    var bodies: [Int32: String] = [:]
    var goAway: (code: ErrorCode, debugData: String)?
    var faults: [String] = []
    private let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 65_536)

    /// - Parameter isWire: else nghttp2's.
    init(isWire: Bool, streams: Int = 8, settings: SessionSettings = SessionSettings()) {
        let head = RequestHead(authority: "a", isSecure: true, headerSets: [[("apns-topic", "t")]])
        let buffers = BufferPool(capacity: 131_072)
        session =
            isWire
            ? WireSession(head, settings: settings, streams: streams, sendBuffers: buffers)
            : NGHTTP2Session(RequestHeaders(head), settings: settings, streams: streams, sendBuffers: buffers)
        super.init()
        session.report(to: self)
        session.begin()
    }

    deinit { text.deallocate() }

    override func didEnd(_ index: Int, _ ending: StreamEnding) {
        let stream = session.streams.entries[index].id
        precondition(endings[stream] == nil, "stream \(stream) ends twice")
        endings[stream] = ending
        bodies[stream] = String(decoding: session.streams.body(index), as: UTF8.self)
    }
    override func didReceiveGoAway(code: ErrorCode, debugData: UnsafeBufferPointer<UInt8>) {
        goAway = (code, String(decoding: debugData, as: UTF8.self))
    }
    override func didFindFault(_ text: String) { faults.append(text) }

    /// Sends a request, from memory that is overwritten as soon as the session has it.
    func send(_ path: String, payload: [UInt8]) -> Bool {
        precondition(session.canSend)
        let bytes = Array(path.utf8) + payload
        _ = text.update(from: bytes)
        let start = text.baseAddress!
        defer { text.update(repeating: 0) }
        return session.send(
            ClientRequest(
                headerSet: 0, path: start, pathLength: path.utf8.count, authorization: nil, identifier: nil,
                payload: start + path.utf8.count, payloadLength: payload.count))
    }

    /// What the session says, as if it were written to a socket.
    func output() -> [UInt8] {
        session.produce()
        guard let bytes = session.output.first else { return [] }
        let taken = Array(UnsafeBufferPointer(start: bytes, count: session.output.count))
        session.output.didWrite(taken.count)
        session.output.tidy()
        return taken
    }

    func receive(_ bytes: [UInt8]) -> Violation? { session.receive(bytes, count: bytes.count, now: 1) }
}
