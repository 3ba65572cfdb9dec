import HTTP2

/// Reads the server's frames (RFC 9113 sections 4 to 6) and tells the connection; every violation ends it.
///
/// Frames are parsed where they lie; only a frame that is cut by the end of what was read is put together in memory of its
/// own. Bounded: one frame, header blocks of at most `largestBlock` bytes, and so many frames that bring no answer: 1,000 and 8 a
/// push at once, and 33 a second after that.
final class WireReader {
    /// What the peer did wrong: the connection error to answer with, and words for the log.
    struct Violation {
        let code: ErrorCode
        let text: String
        init(_ code: ErrorCode, _ text: String) {
            self.code = code
            self.text = text
        }

        /// Frames without end; their name is the text.
        static func flood(_ frames: StaticString) -> Violation { Violation(.enhanceYourCalm, "\(frames)") }
        var isFlood: Bool { code == .enhanceYourCalm }
    }

    private static let largestBlock = 65_536
    private let maxFrame: Int
    private let streamWindow: Int
    private let decoder: StatusDecoder
    @exclusivity(unchecked) private var hasSettings = false
    @exclusivity(unchecked) private var partial: [UInt8] = []
    /// A header block that goes on in CONTINUATION frames.
    private var block: [UInt8] = []
    @exclusivity(unchecked) private var blockStream: Int32 = 0
    private var blockEndsStream = false
    private var emptyContinuations = 0
    private static let mostEmptyContinuations = 16

    /// What the peer may send that brings no answer. A whole answer fills it, and each DATA frame of ours lets the peer send some:
    /// PING, WINDOW_UPDATE, and an answer of a few frames to a push that has timed out. Windows that are given back for what was
    /// sent, however small the pieces, are not counted.
    @exclusivity(unchecked) private var budget: FrameBudget
    private static let framesForData = 8
    @exclusivity(unchecked) private var knownAnswers: UInt64 = 0
    @exclusivity(unchecked) private var knownDataFrames = 0

    /// - Parameter streams: most pushes at once.
    init(settings: SessionSettings, streams: Int) {
        maxFrame = Int(settings.maxFrameSize)
        streamWindow = max(Int(settings.streamWindow), 1)
        decoder = StatusDecoder(tableSize: Int(settings.headerTableSize))
        budget = FrameBudget(most: 1000 + Self.framesForData * streams)
    }

    /// The stream of a header block that has begun and not ended; nil when there is none.
    var unfinishedHeaders: Int32? {
        if blockStream != 0 { return blockStream }
        guard partial.count >= Frame.headerLength, partial[3] == Frame.headers else { return nil }
        return partial.withUnsafeBufferPointer {
            Int32(bitPattern: Frame.read32($0.baseAddress! + 5) & 0x7FFF_FFFF)
        }
    }

    func consume(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ connection: WireConnection) -> Violation? {
        var position = 0
        if !partial.isEmpty {
            // First the frame header, then the whole frame.
            while partial.count < Frame.headerLength, position < count {
                partial.append(bytes[position])
                position += 1
            }
            guard partial.count >= Frame.headerLength else { return nil }
            let length = Int(partial[0]) << 16 | Int(partial[1]) << 8 | Int(partial[2])
            guard length <= maxFrame else {
                partial = []
                return Violation(.frameSizeError, "a frame of \(length) bytes")
            }
            let missing = Frame.headerLength + length - partial.count
            let taken = min(missing, count - position)
            partial.append(contentsOf: UnsafeBufferPointer(start: bytes + position, count: taken))
            position += taken
            guard taken == missing else { return nil }
            let violation = partial.withUnsafeBufferPointer { frame($0.baseAddress!, length, connection) }
            partial.removeAll(keepingCapacity: true)
            if let violation { return violation }
        }
        while count &- position >= Frame.headerLength {
            let start = bytes + position
            let length = Int(start[0]) << 16 | Int(start[1]) << 8 | Int(start[2])
            guard length <= maxFrame else { return Violation(.frameSizeError, "a frame of \(length) bytes") }
            guard count &- position >= Frame.headerLength &+ length else { break }
            if let violation = frame(start, length, connection) { return violation }
            position &+= Frame.headerLength &+ length
        }
        if position < count {
            partial.append(contentsOf: UnsafeBufferPointer(start: bytes + position, count: count - position))
        }
        return nil
    }

    @inline(__always)
    private func frame(_ start: UnsafePointer<UInt8>, _ length: Int, _ connection: WireConnection) -> Violation? {
        let type = start[3]
        let flags = start[4]
        let stream = Int32(bitPattern: Frame.read32(start + 5) & 0x7FFF_FFFF)
        let payload = start + Frame.headerLength
        if !hasSettings {
            guard type == Frame.settings, flags & Frame.acknowledgement == 0 else {
                return Violation(.protocolError, "the first frame is not SETTINGS")
            }
            hasSettings = true
        }
        if blockStream != 0, type != Frame.continuation || stream != blockStream {
            return Violation(.protocolError, "a header block is interrupted by another frame")
        }
        switch type {
        case Frame.headers: return headers(payload, length, flags, stream, connection)
        case Frame.data: return data(payload, length, flags, stream, connection)
        case Frame.continuation: return continuation(payload, length, flags, stream, connection)
        case Frame.reset:
            guard length == 4 else { return Violation(.frameSizeError, "RST_STREAM of \(length) bytes") }
            guard stream != 0, !connection.isIdle(stream) else {
                return Violation(.protocolError, "RST_STREAM on stream \(stream)")
            }
            guard let slot = connection.slot(of: stream) else { return tolerate("RST_STREAM", connection) }
            connection.didReset(slot, code: ErrorCode(rawValue: Frame.read32(payload)))
            return nil
        case Frame.settings: return settings(payload, length, flags, stream, connection)
        case Frame.ping:
            guard length == 8 else { return Violation(.frameSizeError, "PING of \(length) bytes") }
            guard stream == 0 else { return Violation(.protocolError, "PING on stream \(stream)") }
            if flags & Frame.acknowledgement == 0 {
                guard connection.hasRoomToAnswer else { return .flood("PING") }
                connection.answerPing(payload)
            }
            return tolerate("PING", connection)
        case Frame.goAway:
            guard length >= 8 else { return Violation(.frameSizeError, "GOAWAY of \(length) bytes") }
            guard stream == 0 else { return Violation(.protocolError, "GOAWAY on stream \(stream)") }
            let debugData = UnsafeBufferPointer(start: payload + 8, count: length - 8)
            connection.didReceiveGoAway(
                lastStream: Int32(bitPattern: Frame.read32(payload) & 0x7FFF_FFFF),
                GoAway(code: ErrorCode(rawValue: Frame.read32(payload + 4)), debugData: debugData))
            return tolerate("GOAWAY", connection)
        case Frame.windowUpdate: return windowUpdate(payload, length, stream, connection)
        case Frame.pushPromise: return Violation(.protocolError, "PUSH_PROMISE though push is off")
        case Frame.priority:
            guard stream != 0 else { return Violation(.protocolError, "PRIORITY on stream 0") }
            guard length == 5 else { return Violation(.frameSizeError, "PRIORITY of \(length) bytes") }
            return tolerate("PRIORITY", connection)
        default: return tolerate("unknown frames", connection)
        }
    }

    /// A frame that brings no answer nearer: there may be so many of them.
    @inline(never)
    private func tolerate(_ frames: StaticString, _ connection: WireConnection) -> Violation? {
        let dataFrames = Int(connection.nextStream >> 1) + connection.moreDataFrames
        if connection.answered != knownAnswers {
            budget.add(.infinity)
        } else {
            budget.add(Double(Self.framesForData * max(0, dataFrames - knownDataFrames)))
        }
        (knownAnswers, knownDataFrames) = (connection.answered, dataFrames)
        return budget.take(now: Double(connection.readTime) * 1e-9) ? nil : .flood(frames)
    }

    // MARK: Answers

    /// What is left of a payload without its padding; nil when the padding is longer than the frame.
    @inline(__always)
    private func unpadded(_ payload: UnsafePointer<UInt8>, _ length: Int, _ flags: UInt8) -> (start: Int, end: Int)? {
        guard flags & Frame.padded != 0 else { return (0, length) }
        guard length >= 1, Int(payload[0]) < length else { return nil }
        return (1, length &- Int(payload[0]))
    }

    private func headers(
        _ payload: UnsafePointer<UInt8>, _ length: Int, _ flags: UInt8, _ stream: Int32, _ connection: WireConnection
    ) -> Violation? {
        guard stream != 0, !connection.isIdle(stream) else {
            return Violation(.protocolError, "HEADERS on stream \(stream)")
        }
        guard let (unpaddedStart, end) = unpadded(payload, length, flags) else {
            return Violation(.protocolError, "HEADERS with too much padding")
        }
        var start = unpaddedStart
        if flags & Frame.hasPriority != 0 { start += 5 }
        guard start <= end else { return Violation(.frameSizeError, "HEADERS too short for its flags") }
        if flags & Frame.endHeaders == 0 {
            blockStream = stream
            blockEndsStream = flags & Frame.endStream != 0
            block = Array(UnsafeBufferPointer(start: payload + start, count: end - start))
            return nil
        }
        return headerBlock(payload + start, end &- start, stream, flags & Frame.endStream != 0, connection)
    }

    private func continuation(
        _ payload: UnsafePointer<UInt8>, _ length: Int, _ flags: UInt8, _ stream: Int32, _ connection: WireConnection
    ) -> Violation? {
        guard blockStream != 0 else { return Violation(.protocolError, "CONTINUATION without a header block") }
        // One that carries nothing costs its sender nothing.
        if length == 0 { emptyContinuations += 1 }
        guard emptyContinuations <= Self.mostEmptyContinuations else { return .flood("empty CONTINUATION") }
        guard block.count + length <= Self.largestBlock else { return .flood("CONTINUATION") }
        block.append(contentsOf: UnsafeBufferPointer(start: payload, count: length))
        guard flags & Frame.endHeaders != 0 else { return nil }
        blockStream = 0
        emptyContinuations = 0
        let whole = block
        block = []
        return whole.withUnsafeBufferPointer {
            headerBlock($0.baseAddress ?? payload, $0.count, stream, blockEndsStream, connection)
        }
    }

    @inline(__always)
    private func headerBlock(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ stream: Int32, _ endsStream: Bool, _ connection: WireConnection
    ) -> Violation? {
        // Also for streams that are over: the decoder's table must follow the peer's.
        guard let head = decoder.head(bytes, count) else {
            if let slot = connection.slot(of: stream) { connection.slots.slots[slot].isInHeaders = true }
            return Violation(.compressionError, "a header block that cannot be decoded")
        }
        guard let slot = connection.slot(of: stream) else { return tolerate("HEADERS of closed streams", connection) }
        let entry = connection.slots.slots + slot
        let status = head.status
        guard entry.pointee.status == 0, status >= 200, status != StatusDecoder.malformed else {
            return otherBlock(head, slot, endsStream, connection)
        }
        // These never have content, whatever length they name (RFC 9113 section 8.1.1).
        let length = status == 204 || status == 304 ? 0 : head.contentLength
        if !endsStream {
            entry.pointee.status = status
            entry.pointee.bodyLeft = length
        } else if length > 0 {
            connection.didReceiveMalformed(slot, "content-length \(length), and no DATA")
        } else {
            entry.pointee.status = status
            connection.didEnd(slot)
        }
        return nil
    }

    /// A block that is not the answer's. RFC 9113 section 8.1: interim answers, the answer, and at most one section of trailers,
    /// which ends the stream.
    @inline(never)
    private func otherBlock(
        _ head: StatusDecoder.Head, _ slot: Int, _ endsStream: Bool, _ connection: WireConnection
    ) -> Violation? {
        let entry = connection.slots.slots[slot]
        let (status, hasAnswer) = (head.status, entry.status != 0)
        switch status {
        case StatusDecoder.malformed: connection.didReceiveMalformed(slot, decoder.fault)
        case _ where hasAnswer && status != 0: connection.didReceiveMalformed(slot, "a second :status")
        case 0 where !hasAnswer: connection.didReceiveMalformed(slot, "no :status")
        case 0 where !endsStream: connection.didReceiveMalformed(slot, "trailers that do not end the stream")
        case 0 where entry.bodyLeft > 0:
            connection.didReceiveMalformed(slot, "\(entry.bodyLeft) bytes of DATA less than content-length")
        case 0: connection.didEnd(slot)
        // There is no upgrade in HTTP/2 (section 8.6).
        case 101: connection.didReceiveMalformed(slot, ":status 101")
        case _ where endsStream: connection.didReceiveMalformed(slot, "nothing after :status \(status)")
        case _ where head.contentLength >= 0:
            connection.didReceiveMalformed(slot, "content-length with :status \(status)")
        default: return tolerate("interim answers", connection)
        }
        return nil
    }

    private func data(
        _ payload: UnsafePointer<UInt8>, _ length: Int, _ flags: UInt8, _ stream: Int32, _ connection: WireConnection
    ) -> Violation? {
        guard stream != 0, !connection.isIdle(stream) else {
            return Violation(.protocolError, "DATA on stream \(stream)")
        }
        guard let (start, end) = unpadded(payload, length, flags) else {
            return Violation(.protocolError, "DATA with too much padding")
        }
        guard length <= streamWindow else {
            return Violation(.flowControlError, "more DATA than a stream's window allows")
        }
        let isLast = flags & Frame.endStream != 0
        guard connection.hasRoomToAnswer else { return .flood("DATA") }
        if let violation = connection.didReceiveData(length: length) { return violation }
        guard let slot = connection.slot(of: stream) else { return tolerate("DATA of closed streams", connection) }
        let entry = connection.slots.slots + slot
        guard entry.pointee.status != 0 else {
            connection.didReceiveMalformed(slot, "DATA before :status")
            return nil
        }
        let count = end - start
        if entry.pointee.bodyLeft >= 0 {
            let left = Int(entry.pointee.bodyLeft) - count
            guard left == 0 || left > 0 && !isLast else {
                connection.didReceiveMalformed(
                    slot, "\(abs(left)) bytes of DATA \(left < 0 ? "more" : "less") than content-length")
                return nil
            }
            entry.pointee.bodyLeft = Int32(left)
        }
        connection.slots.appendBody(slot, payload + start, count)
        if isLast {
            connection.didEnd(slot)
            return nil
        }
        if length > 0 { connection.windowUpdate(stream: stream, by: length) }
        return count == 0 ? tolerate("empty DATA", connection) : nil
    }

    // MARK: The connection

    private func settings(
        _ payload: UnsafePointer<UInt8>, _ length: Int, _ flags: UInt8, _ stream: Int32, _ connection: WireConnection
    ) -> Violation? {
        guard stream == 0 else { return Violation(.protocolError, "SETTINGS on stream \(stream)") }
        if flags & Frame.acknowledgement != 0 {
            guard length == 0 else {
                return Violation(.frameSizeError, "a SETTINGS acknowledgement of \(length) bytes")
            }
            return tolerate("SETTINGS", connection)
        }
        guard length % 6 == 0 else { return Violation(.frameSizeError, "SETTINGS of \(length) bytes") }
        guard connection.hasRoomToAnswer else { return .flood("SETTINGS") }
        for place in stride(from: 0, to: length, by: 6) {
            let setting = UInt16(payload[place]) << 8 | UInt16(payload[place + 1])
            if let violation = connection.didReceive(setting: setting, value: Frame.read32(payload + place + 2)) {
                return violation
            }
        }
        if let violation = connection.takeInitialWindow() { return violation }
        connection.acknowledgeSettings()
        connection.didReceiveSettings()
        return tolerate("SETTINGS", connection)
    }

    private func windowUpdate(
        _ payload: UnsafePointer<UInt8>, _ length: Int, _ stream: Int32, _ connection: WireConnection
    ) -> Violation? {
        guard length == 4 else { return Violation(.frameSizeError, "WINDOW_UPDATE of \(length) bytes") }
        let increment = Int(Frame.read32(payload) & 0x7FFF_FFFF)
        if stream == 0 {
            guard increment > 0 else { return Violation(.protocolError, "WINDOW_UPDATE by 0") }
            let givesBack = connection.givesBack(increment)
            if let violation = connection.didReceiveWindow(increment) { return violation }
            if givesBack { return nil }
        } else {
            guard !connection.isIdle(stream) else {
                return Violation(.protocolError, "WINDOW_UPDATE on stream \(stream)")
            }
            if let slot = connection.slot(of: stream) {
                if increment > 0 {
                    let givesBack = connection.givesBack(increment, slot: slot)
                    connection.didReceiveWindow(increment, slot: slot)
                    if givesBack { return nil }
                } else {
                    connection.didBreakStream(slot, .protocolError, "WINDOW_UPDATE by 0")
                }
            }
        }
        return tolerate("WINDOW_UPDATE", connection)
    }
}
