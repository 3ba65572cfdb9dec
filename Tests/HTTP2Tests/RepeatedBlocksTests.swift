import Testing

@testable import HTTP2

/// Requests that repeat the header blocks of others, told in short, beside the same told field by field.
@Suite struct RepeatedBlocksTests {
    private final class Server: ServerSession {
        private let notes: Bool
        private(set) var requests: [[String]] = []
        private(set) var repeats = 0
        private var noted = [[String]](repeating: [], count: ServerSession.mostRepeated)
        private let answer = ResponseBlock(capacity: 16)

        init(notes: Bool) {
            self.notes = notes
            answer.addStatus(200)
            var settings = SessionSettings()
            settings.maxHeaderListSize = 1000
            super.init(settings: settings, names: Self.names { _, _ in 0 })
        }

        override func didBeginRequest(stream: Int32) -> UInt {
            requests.append([])
            return UInt(requests.count)
        }

        override func didReceiveHeader(context: UInt, _ field: HPACKField) -> Bool {
            func text(_ start: UnsafePointer<UInt8>, _ count: Int) -> String {
                String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
            }
            requests[Int(context) - 1].append(
                text(field.name, field.nameLength) + "=" + text(field.value, field.valueLength))
            return true
        }

        override func didEndHeaders(context: UInt, _ number: Int) -> Bool {
            noted[number] = requests[Int(context) - 1]
            return notes
        }

        override func didRepeatRequest(stream: Int32, headers number: Int, path: UnsafeBufferPointer<UInt8>) -> UInt {
            repeats += 1
            let path = ":path=" + String(decoding: path, as: UTF8.self)
            requests.append(noted[number].map { $0.hasPrefix(":path=") ? path : $0 })
            return UInt(requests.count)
        }

        override func didEnd(stream: Int32, context: UInt) {
            submitResponse(answer, stream: stream, hasBody: false)
        }

        func receive(_ bytes: [UInt8]) -> String? { receive(bytes, count: bytes.count) }

        func output() -> [UInt8] {
            var bytes: UnsafePointer<UInt8>?
            let count = nextOutput(&bytes)
            return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: count)) : []
        }
    }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    /// What comes before a path and behind it, written so that the table stays as it is.
    private struct Steady {
        var before: [UInt8] = []
        /// nil: it is another one each time.
        var path: [UInt8]?
        var behind: [UInt8] = []
    }

    private static let before = [DecodedField(":method", "POST"), DecodedField(":scheme", "https")]
    private static let behind = [
        DecodedField("authorization", "bearer abc"), DecodedField("apns-topic", "com.example.app"),
        DecodedField("apns-priority", "10"), DecodedField("apns-push-type", "alert"),
        DecodedField("content-length", "0"),
        DecodedField("apns-collapse-id", "a b"), DecodedField("x", ""),
    ]

    /// As an index, or else as a literal that is not put into the table.
    private static func write(_ field: DecodedField, _ table: [DecodedField], into block: inout [UInt8]) {
        if let place = (HPACKWriter.staticEntries + table).firstIndex(of: field) {
            HPACKWriter.integer(place + 1, prefix: 7, first: 0x80, into: &block)
        } else {
            block.append(0x00)
            HPACKWriter.string(field.name, isHuffman: false, into: &block)
            HPACKWriter.string(field.value, isHuffman: false, into: &block)
        }
    }

    private static func path(_ numbers: inout SeededNumbers) -> [UInt8] {
        let length = [0, 1, 74, 126, 127, 200, 900][numbers.next(7)]
        var path = (0..<length).map { _ in UInt8(0x21 + numbers.next(90)) }
        // Not allowed at the end, nor anywhere.
        if length > 0, numbers.next(20) == 0 { path[length - 1] = [0x20, 0x0A, 0x00][numbers.next(3)] }
        return path
    }

    @Test("Whatever a client repeats, its requests are what they are when each block is decoded, with a printed seed")
    func everyBlock() {
        var numbers = SeededNumbers()
        var repeats = 0
        var ends = 0
        for round in 0..<300 {
            let (short, full) = (Server(notes: true), Server(notes: false))
            var writer = HPACKWriter(4096)
            var steady: [Steady] = []
            var stream: Int32 = 1
            func exchange(_ bytes: [UInt8]) -> Bool {
                let (problem, expected) = (short.receive(bytes), full.receive(bytes))
                #expect(problem == expected, "seed \(numbers.seed) round \(round)")
                #expect(short.output() == full.output(), "seed \(numbers.seed) round \(round) stream \(stream)")
                return problem == nil
            }
            _ = exchange(Frame.preface + Self.frame(Frame.settings, 0, 0, []))
            for step in 0..<200 {
                var block: [UInt8] = []
                let table = writer.table
                // What was written for another table mostly cannot be decoded, which ends the connection.
                defer { if writer.table != table, numbers.next(20) > 0 { steady = [] } }
                var literal: [UInt8] = [[0x04, 0x14, 0x05][numbers.next(3)]]
                HPACKWriter.string(Self.path(&numbers), isHuffman: numbers.next(8) == 0, into: &literal)
                // The table is filled first.
                switch step < 8 ? 0 : numbers.next(30) {
                case 0:
                    // As it comes, also with a path that is put into the table or is there.
                    let fields = Self.before + [DecodedField(":path", "/\(numbers.next(3))")] + Self.behind
                    block = writer.block(fields, &numbers)
                case 1:
                    let size = UInt32(numbers.next(3) * 200)
                    for server in [short, full] { server.submitSettings([(Frame.Setting.headerTableSize, size)]) }
                    let isSame = exchange(Self.frame(Frame.settings, Frame.acknowledgement, 0, []))
                    #expect(isSame)
                    writer.setLimit(Int(size))
                    guard numbers.next(4) > 0 else { continue }
                    block = writer.block(Self.before + [DecodedField(":path", "/")], &numbers)
                case 2, 3:
                    var now = Steady()
                    for field in Self.before { Self.write(field, writer.table, into: &now.before) }
                    for field in Self.behind where numbers.next(3) > 0 {
                        Self.write(field, writer.table, into: &now.behind)
                    }
                    if numbers.next(3) == 0 {
                        var path: [UInt8] = []
                        Self.write(DecodedField(":path", "/\(numbers.next(3))"), writer.table, into: &path)
                        now.path = path
                    }
                    steady.append(now)
                    block = now.before + (now.path ?? literal) + now.behind
                default:
                    guard !steady.isEmpty else { continue }
                    let now = steady[max(0, steady.count - 1 - numbers.next(8) / 4)]
                    block = now.before + (now.path ?? literal) + now.behind
                }
                let flags = Frame.endHeaders | Frame.endStream
                guard exchange(Self.frame(Frame.headers, flags, stream, block)) else {
                    ends += 1
                    break
                }
                stream += 2
            }
            #expect(short.requests == full.requests, "seed \(numbers.seed) round \(round)")
            repeats += short.repeats
        }
        #expect(repeats > 200 && ends < 300, "seed \(numbers.seed): \(repeats) repeats, \(ends) ends")
    }

    /// A request in the steady state of `RequestEncoder`.
    private static func blocks(_ count: Int, set: (Int) -> Int = { _ in 0 }, hasIdentifier: Bool = false) -> [[UInt8]] {
        let encoder = RequestEncoder(
            authority: "api.push.apple.com", isSecure: true,
            headerSets: (0..<3).map { [("apns-topic", "com.example.app\($0)"), ("apns-push-type", "alert")] },
            tableLimit: 4096)
        let token = Array("bearer abc".utf8)
        return (0..<count).map { number in
            let path = Array("/3/device/\(number)".utf8)
            var block = [UInt8](repeating: 0, count: encoder.capacity(pathLength: path.count))
            let identifier = [UInt8](repeating: UInt8(0x30 + number % 10), count: 36)
            let length = token.withUnsafeBufferPointer { token in
                identifier.withUnsafeBufferPointer {
                    encoder.write(
                        set: set(number), path: path, pathLength: path.count, authorizationValue: token,
                        identifier: hasIdentifier ? $0.baseAddress! : nil, into: &block)
                }
            }
            return Array(block[..<length])
        }
    }

    private static func repeats(_ blocks: [[UInt8]]) -> Int {
        let server = Server(notes: true)
        _ = server.receive(Frame.preface + frame(Frame.settings, 0, 0, []))
        for (number, block) in blocks.enumerated() {
            let problem = server.receive(
                frame(Frame.headers, Frame.endHeaders | Frame.endStream, Int32(2 * number + 1), block))
            #expect(problem == nil)
            _ = server.output()
        }
        #expect(server.requests.count == blocks.count)
        #expect(server.requests.enumerated().allSatisfy { $1.contains(":path=/3/device/\($0)") })
        return server.repeats
    }

    @Test(
        "What our own client sends is decoded until it has come twice, of three kinds of pushes too; with identifiers always"
    )
    func ours() {
        // The first fills the table, the second and the third are alike.
        #expect(Self.repeats(Self.blocks(100)) == 97)
        #expect(Self.repeats(Self.blocks(300) { $0 / 10 % 3 }) >= 280)
        #expect(Self.repeats(Self.blocks(100, hasIdentifier: true)) == 0)
    }
}
