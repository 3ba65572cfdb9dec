import Glibc
import HTTP2
import Testing

/// A frame as it came.
struct ReceivedFrame: Equatable {
    let type: UInt8
    let flags: UInt8
    let stream: Int32
    let payload: [UInt8]

    /// Of RST_STREAM and GOAWAY.
    var code: ErrorCode? {
        switch type {
        case Frame.reset where payload.count == 4: ErrorCode(rawValue: number(0))
        case Frame.goAway where payload.count >= 8: ErrorCode(rawValue: number(4))
        default: nil
        }
    }

    private func number(_ place: Int) -> UInt32 { payload[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
}

/// A client that writes whatever frames it is told to, and reads what comes back; plaintext, blocking.
final class FrameClient {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private(set) var isClosed = false
    /// By RST.
    private(set) var isReset = false

    /// - Parameters:
    ///   - greeting: send the preface and an empty SETTINGS.
    ///   - receiveBuffer: bytes the kernel holds for who does not read; nil: as it likes.
    init(port: UInt16, greeting: Bool = true, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
        // Far longer than any answer takes: only a missing one waits for it.
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        if greeting { send(Frame.preface + Self.frame(Frame.settings)) }
    }

    deinit { close(descriptor) }

    // MARK: Writing

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    /// A header block of literals without indexing, without Huffman coding (RFC 7541 section 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + literal(name) + literal(value) }
    }

    private static func literal(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var rest = bytes.count - 127
        var length: [UInt8] = [127]
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }

    /// A good push's headers.
    static func request(
        device: String = String(repeating: "ab", count: 32), more: [(String, String)] = []
    ) -> [(String, String)] {
        [
            (":method", "POST"), (":scheme", "http"), (":path", "/3/device/" + device), (":authority", "localhost"),
            ("apns-topic", "com.example.app"),
        ] + more
    }

    static let payload = Array("{\"aps\":{}}".utf8)

    /// A whole good push on `stream`.
    static func push(_ stream: Int32, device: String = String(repeating: "ab", count: 32)) -> [UInt8] {
        frame(Frame.headers, flags: Frame.endHeaders, stream: stream, block(request(device: device)))
            + frame(Frame.data, flags: Frame.endStream, stream: stream, payload)
    }

    static func headers(
        _ stream: Int32, _ fields: [(String, String)], end: Bool = true, flags: UInt8 = 0
    ) -> [UInt8] {
        frame(
            Frame.headers, flags: Frame.endHeaders | (end ? Frame.endStream : 0) | flags, stream: stream,
            block(fields))
    }

    /// The headers of a good push whose payload is to come.
    static func open(_ stream: Int32) -> [UInt8] { headers(stream, request(), end: false) }

    /// An entry of SETTINGS.
    static func setting(_ identifier: UInt16, _ value: UInt32) -> [UInt8] {
        [UInt8(identifier >> 8), UInt8(identifier & 255)] + number(value)
    }

    /// 32 bits, as frames carry them.
    static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(value >> (24 - 8 * UInt32($0)) & 255) }
    }

    func send(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + offset, $0.count - offset, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            offset += count
        }
    }

    // MARK: Reading

    /// The next frame; nil when the connection is over.
    func next() -> ReceivedFrame? {
        while true {
            if buffer.count >= 9 {
                let length = Int(buffer[0]) << 16 | Int(buffer[1]) << 8 | Int(buffer[2])
                if buffer.count >= 9 + length {
                    let stream = buffer[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
                    let frame = ReceivedFrame(
                        type: buffer[3], flags: buffer[4], stream: Int32(stream),
                        payload: Array(buffer[9..<(9 + length)]))
                    buffer.removeFirst(9 + length)
                    return frame
                }
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else {
                isReset = count < 0 && errno == ECONNRESET
                isClosed = count == 0 || isReset
                return nil
            }
            buffer += chunk[..<count]
        }
    }

    /// Reads until a frame fits; nil when the connection ends before.
    func wait(_ fits: (ReceivedFrame) -> Bool) -> ReceivedFrame? {
        while let frame = next() { if fits(frame) { return frame } }
        return nil
    }

    /// What a PING finds: the connection still works.
    func isAlive() -> Bool {
        let mark: [UInt8] = [9, 9, 9, 9, 1, 2, 3, 4]
        send(Self.frame(Frame.ping, mark))
        return wait { $0.type == Frame.ping && $0.flags == Frame.acknowledgement && $0.payload == mark } != nil
    }

    /// True when a push on `stream` is accepted.
    func isServed(_ stream: Int32) -> Bool {
        send(Self.push(stream))
        let answer = wait { $0.type == Frame.headers && $0.stream == stream }
        // 0x88: `:status: 200` of the static table.
        return answer?.payload.contains(0x88) == true
    }

    /// The code of the GOAWAY that ends the connection; nil when it ends without, or not at all.
    func goAwayCode() -> ErrorCode? {
        let code = wait { $0.type == Frame.goAway }?.code
        while next() != nil {}
        return isClosed ? code : nil
    }

    /// The code of the RST_STREAM for `stream`.
    func resetCode(_ stream: Int32) -> ErrorCode? {
        wait { ($0.type == Frame.reset && $0.stream == stream) || $0.type == Frame.goAway }?.code
    }
}
