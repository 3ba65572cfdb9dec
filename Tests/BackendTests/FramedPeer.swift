import Foundation
import Networking
import Testing

/// A client of HTTP/2 that says exactly what a test wants, by its bytes.
final class FramedPeer {
    struct Answer {
        var status = ""
        var body: [UInt8] = []
        var isEnded = false
        /// The code of RST_STREAM.
        var reset: UInt32?
        var isOver: Bool { isEnded || reset != nil }
    }

    private let stream: SocketStream
    private var input: [UInt8] = []
    private(set) var answers: [Int: Answer] = [:]
    /// The code of GOAWAY.
    private(set) var goAway: UInt32?
    private(set) var isClosed = false
    /// Gives the windows back for what came.
    var opensWindows = true

    /// - Parameter window: SETTINGS_INITIAL_WINDOW_SIZE.
    init(port: UInt16, window: UInt32 = 65_535) throws {
        stream = try SocketStream(
            connectingTo: try SocketAddress(host: "127.0.0.1", port: port), serverName: "127.0.0.1", tls: nil,
            options: SocketOptions())
        while stream.advance() == .inProgress { usleep(1000) }
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, [0, 4] + Self.word(window)))
    }

    static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
        Array(word(UInt32(payload.count)).dropFirst()) + [type, flags] + word(UInt32(stream)) + payload
    }

    private static func literal(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (length, rest): ([UInt8], Int) = ([127], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    /// HEADERS of a request as bob.
    static func headers(
        _ stream: Int, _ method: String, _ path: String, _ fields: [(String, String)] = [], ends: Bool = true
    ) -> [UInt8] {
        let bob = "Basic " + Data("bob:bob".utf8).base64EncodedString()
        let all =
            [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a"), ("authorization", bob)]
            + fields
        return frame(1, ends ? 5 : 4, stream, all.flatMap { [0] + literal($0.0) + literal($0.1) })
    }

    static func post(_ stream: Int, _ path: String, _ body: String) -> [UInt8] {
        headers(stream, "POST", path, [("content-type", "application/json")], ends: false)
            + frame(0, 1, stream, Array(body.utf8))
    }

    func send(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count, !isClosed {
            switch bytes.withUnsafeBufferPointer({ stream.write($0.baseAddress! + done, count: bytes.count - done) }) {
            case .bytes(let count): done += count
            case .wouldBlock: usleep(1000)
            case .endOfStream, .failed: isClosed = true
            }
        }
    }

    /// Reads until it is so; at most two minutes.
    func read(until isDone: (FramedPeer) -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for _ in 0..<120_000 where !isDone(self) && !isClosed {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes(let count):
                input += buffer[..<count]
                takeFrames()
            case .wouldBlock: usleep(1000)
            case .endOfStream, .failed: isClosed = true
            }
        }
    }

    func read(_ streams: some Sequence<Int>) {
        read { peer in streams.allSatisfy { peer.answers[$0]?.isOver == true } }
    }

    private func takeFrames() {
        var start = 0
        while input.count - start >= 9 {
            let length = Int(input[start]) << 16 | Int(input[start + 1]) << 8 | Int(input[start + 2])
            guard input.count - start >= 9 + length else { break }
            let (type, flags) = (input[start + 3], input[start + 4])
            let stream = input[(start + 5)..<(start + 9)].reduce(0) { $0 << 8 | Int($1) }
            take(type, flags, stream, input[(start + 9)..<(start + 9 + length)])
            start += 9 + length
        }
        input.removeFirst(start)
    }

    private func take(_ type: UInt8, _ flags: UInt8, _ stream: Int, _ payload: ArraySlice<UInt8>) {
        func code(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
        switch type {
        case 0:
            answers[stream, default: Answer()].body += payload
            if opensWindows, !payload.isEmpty {
                let increment = Self.word(UInt32(payload.count))
                send(Self.frame(8, 0, 0, increment) + Self.frame(8, 0, stream, increment))
            }
            if flags & 1 != 0 { answers[stream]?.isEnded = true }
        case 1:
            let known: [UInt8: String] = [0x88: "200", 0x89: "204", 0x8C: "400", 0x8D: "404", 0x8E: "500"]
            let first = payload[payload.startIndex]
            answers[stream, default: Answer()].status =
                known[first] ?? String(decoding: payload.dropFirst(2).prefix(3), as: UTF8.self)
            if flags & 1 != 0 { answers[stream]?.isEnded = true }
        case 3: answers[stream, default: Answer()].reset = code(payload)
        case 4: if flags & 1 == 0 { send(Self.frame(4, 1, 0, [])) }
        case 7: goAway = code(payload.dropFirst(4))
        default: break
        }
    }
}
