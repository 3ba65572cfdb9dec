import HTTP2

/// What a fuzzed server has said so far and not sent yet; its methods make valid frames out of any numbers.
struct ServerSpeech {
    var bytes: [UInt8] = []
    /// Something was said that may break RFC 9113, or what it does not forbid without end.
    var mayBreak = false
    private var frames = 0
    /// Fewer than this are never too many.
    private static let mostFrames = 1000
    /// The client's streams: the first, and the next it has not opened.
    var firstStream: Int32 = 1
    var opened: Int32 = 1
    /// Largest windows ever allowed: a bound for what the client sends.
    private(set) var connectionCredit = 65_535
    private(set) var largestStreamCredit = 65_535
    /// SETTINGS_HEADER_TABLE_SIZE values of every SETTINGS frame, in order.
    private(set) var tableSizes: [[Int]] = []
    /// Entries certainly in the table of our HPACK encoder.
    private var inserted = 0
    /// That table has no room at all.
    private var hasNoTable = false

    mutating func frame(_ type: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) {
        frames += 1
        if frames > Self.mostFrames { mayBreak = true }
        var header = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &header)
        bytes += header + payload
    }

    /// One of the streams that the client opened; nil when there is none.
    func stream(_ number: Int) -> Int32? {
        let end = Int64(opened) > 0 ? Int64(opened) : Int64(Int32.max) + 2
        let count = (end - Int64(firstStream)) / 2
        guard count > 0 else { return nil }
        // The latest are the ones likely to be open.
        return Int32(end - 2 - 2 * (Int64(number) % count))
    }

    mutating func onStream(_ number: Int, _ say: (inout ServerSpeech, Int32, Int) -> Void) {
        if let stream = stream(number & 15) { say(&self, stream, number >> 4) }
    }

    mutating func settings(_ entries: [(UInt16, Int)]) {
        var payload: [UInt8] = []
        var sizes: [Int] = []
        for (identifier, number) in entries {
            let value: Int
            switch identifier {
            case Frame.Setting.headerTableSize:
                value = [0, 64, 100, 300, 4096, 65_536][number % 6]
                sizes.append(value)
            case Frame.Setting.enablePush: value = 0
            case Frame.Setting.initialWindowSize:
                value = [0, 1, 100, 20_000, 65_535, 1_000_000][number % 6]
                largestStreamCredit = max(largestStreamCredit, value)
            case Frame.Setting.maxFrameSize: value = [16_384, 16_385, 65_536, 16_777_215][number % 4]
            default: value = number
            }
            payload += [UInt8(identifier >> 8), UInt8(identifier & 255)] + Self.word(value)
        }
        tableSizes.append(sizes)
        frame(Frame.settings, flags: 0, stream: 0, payload)
    }

    static func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    /// - Parameter flags: END_STREAM, PADDED and PRIORITY count.
    mutating func headers(stream number: Int, shape: Int, flags: Int, pieces: Int) {
        guard let stream = stream(number) else { return }
        let block = block(shape)
        var flags = UInt8(flags & Int(Frame.endStream | Frame.padded | Frame.hasPriority))
        let size = (block.count + pieces - 1) / pieces
        var rest = block[...]
        var payload: [UInt8] = []
        if flags & Frame.padded != 0 { payload.append(UInt8(shape & 31)) }
        if flags & Frame.hasPriority != 0 { payload += [0, 0, 0, 0, 16] }
        payload += rest.prefix(size)
        rest = rest.dropFirst(size)
        if flags & Frame.padded != 0 { payload += [UInt8](repeating: 0, count: shape & 31) }
        if pieces == 1 { flags |= Frame.endHeaders }
        frame(Frame.headers, flags: flags, stream: stream, payload)
        for piece in stride(from: 1, to: pieces, by: 1) {
            let isLast = piece == pieces - 1
            frame(
                Frame.continuation, flags: isLast ? Frame.endHeaders : 0, stream: stream,
                Array(isLast ? rest : rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
    }

    private mutating func block(_ shape: Int) -> [UInt8] {
        let identifier = [0x00, 0x07] + Array("apns-id".utf8) + [0x03, 0x61, 0x62, 0x63]
        func literal(_ first: UInt8, _ status: String) -> [UInt8] { [first, 0x03] + Array(status.utf8) }
        switch shape >> 4 {
        case 0: return [UInt8(0x88 + shape % 7)]
        case 1: return [0x88] + identifier
        case 2: return literal(0x08, ["410", "429", "503", "200", "100", "103"][shape % 6]) + identifier
        case 3:
            // With incremental indexing, table size 4096.
            if !hasNoTable { inserted += 1 }
            return literal(0x48, ["410", "403"][shape & 1])
        case 4:
            guard inserted > 0 else { return [0x88] }
            return [0xBE + UInt8(shape % min(inserted, 20))]
        case 5:
            inserted = 0
            hasNoTable = shape & 1 == 1
            return [0x20] + (shape & 1 == 0 ? [0x3F, 0xE1, 0x1F] : []) + [0x88]
        case 6:
            hasNoTable = false
            return [0x3F, 0xE1, 0x1F, 0x8D]
        case 7: return [0x48, 0x82, 0x64, 0x02]  // 302, coded with Huffman: RFC 7541 appendix C.6
        case 8: return [0x58, 0x03] + Array("no1".utf8)
        case 9: return []
        case 10: return [0x88, 0x88]
        case 11: return literal(0x08, "2x0")
        case 12: return identifier + [0x88]
        case 13: return [0x88, 0x00, 0x02, 0x41, 0x62, 0x00]
        case 14: return [0x81, 0x88]
        default: return [0x88, 0x1F, 0x10, 0x03] + Array("a/b".utf8) + [0x0F, 0x0D, 0x01, 0x33]
        }
    }

    mutating func data(stream number: Int, length: Int, flags: Int) {
        guard let stream = stream(number) else { return }
        var payload = [UInt8](repeating: 0x7B, count: min(length, 60))
        if flags & Int(Frame.padded) != 0 {
            payload = [UInt8(length & 15)] + payload + [UInt8](repeating: 0, count: length & 15)
        }
        frame(Frame.data, flags: UInt8(flags & Int(Frame.padded | Frame.endStream)), stream: stream, payload)
    }

    mutating func goAway(lastStream number: Int, code: Int) {
        let last = number == 255 ? Int32.max : stream(number) ?? 0
        frame(
            Frame.goAway, flags: 0, stream: 0,
            Self.word(Int(last)) + Self.word(code) + [UInt8](repeating: 0x78, count: code))
    }

    mutating func windowUpdate(stream number: Int, by increment: Int) {
        if number & 1 == 0 {
            connectionCredit += increment * 16 + 1
            frame(Frame.windowUpdate, flags: 0, stream: 0, Self.word(increment * 16 + 1))
        } else if let stream = stream(number >> 1) {
            largestStreamCredit += increment + 1
            frame(Frame.windowUpdate, flags: 0, stream: stream, Self.word(increment + 1))
        }
    }
}
