/// Answers as they come: DATA, and header blocks in HEADERS and CONTINUATION (RFC 9113 sections 6.1, 6.2 and 8.1). On the hot path;
/// its cost is in `WireSession`.
extension WireSession {
    private static let mostEmptyPieces = 16

    @inline(__always)
    func handle(_ frame: FrameView) -> Violation? {
        if !hasSettings {
            guard frame.type == Frame.settings, frame.flags & Frame.acknowledgement == 0 else {
                return Violation(.protocolError, "the first frame is not SETTINGS")
            }
            hasSettings = true
        }
        let block = input.pointee.blockStream
        if block != 0, frame.type != Frame.continuation || frame.stream != block {
            return Violation(.protocolError, "a header block is interrupted by another frame")
        }
        switch frame.type {
        case Frame.headers: return headers(frame)
        case Frame.data: return data(frame)
        case Frame.continuation: return continuation(frame)
        default: return control(frame)
        }
    }

    // MARK: Header blocks

    @inline(__always)
    private func headers(_ frame: FrameView) -> Violation? {
        guard frame.stream != 0, !isIdle(frame.stream) else {
            return Violation(.protocolError, "HEADERS on stream \(frame.stream)")
        }
        guard let (unpaddedStart, end) = frame.unpadded() else {
            return Violation(.protocolError, "HEADERS with too much padding")
        }
        let start = frame.flags & Frame.hasPriority != 0 ? unpaddedStart + 5 : unpaddedStart
        guard start <= end else { return Violation(.frameSizeError, "HEADERS too short for its flags") }
        let endsStream = frame.flags & Frame.endStream != 0
        if frame.flags & Frame.endHeaders == 0 {
            input.pointee.beginBlock(frame.stream, endsStream, frame.payload + start, end - start)
            return nil
        }
        return block(frame.payload + start, end &- start, frame.stream, endsStream)
    }

    private func continuation(_ frame: FrameView) -> Violation? {
        guard input.pointee.isInBlock else {
            return Violation(.protocolError, "CONTINUATION without a header block")
        }
        let fits = input.pointee.appendToBlock(frame.payload, frame.length)
        // One that carries nothing costs its sender nothing.
        guard input.pointee.emptyPieces <= Self.mostEmptyPieces else { return .flood("empty CONTINUATION") }
        guard fits else { return .flood("CONTINUATION") }
        guard frame.flags & Frame.endHeaders != 0 else { return nil }
        let (stream, endsStream, bytes) = input.pointee.endBlock()
        return bytes.withUnsafeBufferPointer {
            block($0.baseAddress ?? frame.payload, $0.count, stream, endsStream)
        }
    }

    /// A complete header block.
    @inline(__always)
    private func block(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ stream: Int32, _ endsStream: Bool) -> Violation? {
        // Also for streams that are over: the decoder's table must follow the peer's.
        guard let head = decoder.head(bytes, count) else {
            if let index = streams.find(stream) { streams.entries[index].isInHeaders = true }
            return Violation(.compressionError, "a header block that cannot be decoded")
        }
        guard let index = streams.find(stream) else { return tolerate("HEADERS of closed streams") }
        let entry = streams.entries + index
        let status = head.status
        guard entry.pointee.status == 0, status >= 200, status != StatusDecoder.malformed else {
            return otherBlock(head, index, endsStream)
        }
        // These never have content, whatever length they name (RFC 9113 section 8.1.1).
        let length = status == 204 || status == 304 ? 0 : head.contentLength
        if status >= 429, !decoder.retryAfter.isEmpty { keepRetryAfter(decoder.retryAfter, index, status) }
        if !endsStream {
            entry.pointee.status = status
            entry.pointee.bodyLeft = length
        } else if length > 0 {
            endMalformed(index, "content-length \(length), and no DATA")
        } else {
            entry.pointee.status = status
            endAnswered(index)
        }
        return nil
    }

    /// A block that is not the answer's. RFC 9113 section 8.1: interim answers, the answer, and at most one section of trailers,
    /// which ends the stream.
    @inline(never)
    private func otherBlock(_ head: StatusDecoder.Head, _ index: Int, _ endsStream: Bool) -> Violation? {
        let entry = streams.entries[index]
        let (status, hasAnswer) = (head.status, entry.status != 0)
        switch status {
        case StatusDecoder.malformed: endMalformed(index, decoder.fault)
        case _ where hasAnswer && status != 0: endMalformed(index, "a second :status")
        case 0 where !hasAnswer: endMalformed(index, "no :status")
        case 0 where !endsStream: endMalformed(index, "trailers that do not end the stream")
        case 0 where entry.bodyLeft > 0:
            endMalformed(index, "\(entry.bodyLeft) bytes of DATA less than content-length")
        case 0: endAnswered(index)
        // There is no upgrade in HTTP/2 (section 8.6).
        case 101: endMalformed(index, ":status 101")
        case _ where endsStream: endMalformed(index, "nothing after :status \(status)")
        case _ where head.contentLength >= 0: endMalformed(index, "content-length with :status \(status)")
        default: return tolerate("interim answers")
        }
        return nil
    }

    /// The answer is complete.
    @inline(__always)
    private func endAnswered(_ index: Int) {
        if streams.entries[index].held != nil { writeReset(index, .cancel) }
        answered &+= 1
        end(index, .answered(status: streams.entries[index].status))
    }

    // MARK: DATA

    private func data(_ frame: FrameView) -> Violation? {
        guard frame.stream != 0, !isIdle(frame.stream) else {
            return Violation(.protocolError, "DATA on stream \(frame.stream)")
        }
        guard let (start, end) = frame.unpadded() else {
            return Violation(.protocolError, "DATA with too much padding")
        }
        guard frame.length <= streamWindow else {
            return Violation(.flowControlError, "more DATA than a stream's window allows")
        }
        let isLast = frame.flags & Frame.endStream != 0
        guard hasRoomToAnswer else { return .flood("DATA") }
        if let violation = takeFromWindow(frame.length) { return violation }
        guard let index = streams.find(frame.stream) else { return tolerate("DATA of closed streams") }
        let entry = streams.entries + index
        guard entry.pointee.status != 0 else {
            endMalformed(index, "DATA before :status")
            return nil
        }
        let count = end &- start
        if entry.pointee.bodyLeft >= 0 {
            let left = Int(entry.pointee.bodyLeft) - count
            guard left == 0 || left > 0 && !isLast else {
                endMalformed(index, "\(abs(left)) bytes of DATA \(left < 0 ? "more" : "less") than content-length")
                return nil
            }
            entry.pointee.bodyLeft = Int32(left)
        }
        streams.appendBody(index, frame.payload + start, count)
        if isLast {
            endAnswered(index)
            return nil
        }
        if frame.length > 0 { openWindow(stream: frame.stream, by: frame.length) }
        return count == 0 ? tolerate("empty DATA") : nil
    }

    /// DATA of so many bytes came, padding included: the connection's flow control towards us.
    @inline(__always)
    private func takeFromWindow(_ length: Int) -> Violation? {
        unacknowledged += length
        guard unacknowledged <= receiveWindow else {
            return Violation(.flowControlError, "more DATA than the window allows")
        }
        if unacknowledged >= receiveWindow / 2 {
            openWindow(stream: 0, by: unacknowledged)
            unacknowledged = 0
        }
        return nil
    }
}
