import HTTP2

/// A push as a server reads and answers it: HEADERS and DATA parsed, the block decoded and judged, 200 written.
final class ServerStage: Stage {
    private final class Session: ServerSession {
        private let answer = ResponseBlock(capacity: 64)
        private var identifier: Int
        private(set) var bytes: UInt64 = 0

        init() {
            answer.addStatus(200)
            identifier = answer.addVariable("apns-id", length: 36)
            var settings = SessionSettings()
            settings.connectionWindow = 1 << 30
            super.init(settings: settings, names: Self.names { _, _ in 1 })
        }

        override func didBeginRequest(stream: Int32) -> UInt { 1 }

        override func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool {
            bytes &+= UInt64(truncatingIfNeeded: field.valueLength)
            return true
        }

        override func didReceiveData(
            stream: Int32, context: UInt, _ bytes: UnsafePointer<UInt8>, _ count: Int
        ) { self.bytes &+= UInt64(truncatingIfNeeded: count) }

        override func didEnd(stream: Int32, context: UInt) {
            submitResponse(answer, stream: stream, hasBody: false)
        }
    }

    private var session = Session()
    /// A push in the steady state, as a client sends it.
    private let push: UnsafeMutablePointer<UInt8>
    private let pushLength: Int
    private let dataPlace: Int
    private let opening: [UInt8]
    private var stream: Int32 = .max
    private static let payloadLength = 330

    init() {
        let encoder = RequestEncoder(
            authority: "api.push.apple.com", isSecure: true,
            headerSets: [[("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10")]],
            tableLimit: 4096)
        let path = Array("/3/device/".utf8) + [UInt8](repeating: 0x61, count: 64)
        let token = Array("bearer ".utf8) + [UInt8](repeating: 0x62, count: 193)
        let data = Self.frame(
            Frame.data, flags: Frame.endStream, stream: 1, [UInt8](repeating: 0x61, count: Self.payloadLength))
        func request() -> [UInt8] {
            var block = [UInt8](repeating: 0, count: encoder.capacity(pathLength: path.count) + token.count)
            let length = token.withUnsafeBufferPointer {
                encoder.write(
                    set: 0, path: path, pathLength: path.count, authorizationValue: $0, identifier: nil, into: &block)
            }
            return Self.frame(Frame.headers, flags: Frame.endHeaders, stream: 1, Array(block[..<length])) + data
        }
        opening = Frame.preface + Self.frame(Frame.settings, flags: 0, stream: 0, []) + request()
        let steady = request()
        push = .allocate(capacity: steady.count)
        push.initialize(from: steady, count: steady.count)
        pushLength = steady.count
        dataPlace = steady.count - data.count
        super.init("server-push")
    }

    deinit { push.deallocate() }

    private static func frame(_ type: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Frame.headerLength)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &header)
        return header + payload
    }

    override func run(_ pushes: Range<UInt64>) -> UInt64 {
        var total: UInt64 = 0
        var output: UnsafePointer<UInt8>?
        for sequence in pushes {
            if stream > .max - 4 {
                session = Session()
                stream = 3
                precondition(session.receive(opening, count: opening.count) == nil)
            }
            Frame.write32(UInt32(stream), into: push + 5)
            Frame.write32(UInt32(stream), into: push + dataPlace + 5)
            stream += 2
            precondition(session.receive(push, count: pushLength) == nil)
            // Written in records, as the mock does.
            if sequence & 63 == 0 { total &+= UInt64(session.nextOutput(&output)) }
        }
        return total &+ session.bytes
    }
}
