/// Requests as they come: DATA, and header blocks in HEADERS and CONTINUATION. On the hot path; its cost is in `ServerSession`.
extension ServerSession {
    // MARK: DATA

    @inline(__always)
    func data(_ frame: FrameView) -> Violation? {
        let stream = frame.stream
        if stream == 0 || isIdle(stream) { return Violation(.protocolError, "DATA on stream \(stream)") }
        guard let (start, end) = frame.unpadded() else {
            return Violation(.protocolError, "DATA with too much padding")
        }
        receiveWindow &-= frame.length
        if receiveWindow < 0 { return Violation(.flowControlError, "more DATA than the connection's window allows") }
        // What came is taken at once: the window is opened again when half of it is used.
        if receiveWindow < connectionWindow / 2 {
            openWindow(stream: 0, by: connectionWindow &- receiveWindow)
            receiveWindow = connectionWindow
        }
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else { return onClosed(stream, "DATA") }
        let entry = streams.pointee.slots + slot
        if entry.pointee.isEnded { return streamError(stream, .streamClosed, "DATA after END_STREAM") }
        entry.pointee.receiveWindow &-= frame.length
        // A window that SETTINGS made negative still lets an empty frame end the stream (section 6.9.1).
        if entry.pointee.receiveWindow < 0, frame.length > 0 {
            return streamError(stream, .flowControlError, "more DATA than the stream's window allows")
        }
        let count = end &- start
        entry.pointee.received &+= Int64(count)
        let isLast = frame.flags & Frame.endStream != 0
        if entry.pointee.contentLength >= 0,
            entry.pointee.received > entry.pointee.contentLength
                || isLast && entry.pointee.received != entry.pointee.contentLength
        {
            return streamError(stream, .protocolError, "DATA does not match content-length")
        }
        if count > 0 {
            didReceiveData(stream: stream, context: entry.pointee.context, frame.payload + start, count)
        } else if !isLast, let violation = countEmpty() {
            return violation
        }
        if isLast {
            // `entry` may have moved or gone by what the owner did.
            didEndSide(stream)
        } else if entry.pointee.id == stream, entry.pointee.receiveWindow <= streamWindow / 2, streamWindow > 0 {
            let increment = streamWindow &- entry.pointee.receiveWindow
            openWindow(stream: stream, by: increment)
            entry.pointee.receiveWindow &+= increment
        }
        return nil
    }

    /// The client's side of a stream has ended.
    @inline(__always)
    private func didEndSide(_ stream: Int32) {
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else { return }
        streams.pointee.slots[slot].isEnded = true
        if streams.pointee.slots[slot].isAnswered {
            close(slot, .finished, .noError)
        } else {
            didEnd(stream: stream, context: streams.pointee.slots[slot].context)
        }
    }

    /// A frame on a stream that was begun and is not open.
    private func onClosed(_ stream: Int32, _ what: String) -> Violation? {
        if stream > goAwayLimit { return nil }
        switch streams.pointee.ending(stream) {
        case .resetByServer: return nil
        case .resetByClient:
            return Violation(.streamClosed, "\(what) on a stream that was reset", scope: .stream(stream))
        case .finished: return Violation(.streamClosed, "\(what) on a stream that has ended")
        case nil: return Violation(.streamClosed, "\(what) on a closed stream")
        }
    }

    // MARK: Header blocks

    @inline(__always)
    func headers(_ frame: FrameView) -> Violation? {
        if frame.stream & 1 == 0 { return Violation(.protocolError, "HEADERS on stream \(frame.stream)") }
        guard var (start, end) = frame.unpadded() else {
            return Violation(.protocolError, "HEADERS with too much padding")
        }
        let priority = start
        if frame.flags & Frame.hasPriority != 0 { start += 5 }
        if start > end { return Violation(.frameSizeError, "HEADERS too short for its flags") }
        if start > priority, dependency(frame.payload + priority) == frame.stream { selfDependent = frame.stream }
        let endsStream = frame.flags & Frame.endStream != 0
        if frame.flags & Frame.endHeaders == 0 {
            end = max(start, end)
            input.pointee.beginBlock(frame.stream, endsStream, frame.payload + start, end - start)
            didBeginHeaders(stream: frame.stream)
            return nil
        }
        return block(frame.payload + start, end &- start, frame.stream, endsStream)
    }

    func continuation(_ frame: FrameView) -> Violation? {
        guard input.pointee.isInBlock else { return Violation(.protocolError, "CONTINUATION without a header block") }
        guard input.pointee.appendToBlock(frame.payload, frame.length), input.pointee.blockPieces <= Self.mostPieces
        else {
            return Violation(.enhanceYourCalm, "a header block in too many pieces")
        }
        guard frame.flags & Frame.endHeaders != 0 else { return nil }
        let (stream, endsStream, bytes) = input.pointee.endBlock()
        return bytes.withUnsafeBufferPointer {
            $0.isEmpty
                ? block(frame.payload, 0, stream, endsStream) : block($0.baseAddress!, $0.count, stream, endsStream)
        }
    }

    /// A complete header block. Whatever becomes of the stream, it is decoded: the table must follow the client's.
    @inline(__always)
    private func block(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ stream: Int32, _ endsStream: Bool
    ) -> Violation? {
        var place = 0
        if stream > highestStream, stream <= goAwayLimit, streams.pointee.count < streamLimit, stream != selfDependent,
            let path = repeated.pointee.repeated(
                bytes, count, decoder, most: maxHeaderList, &place)
        {
            highestStream = stream
            lastStream = stream
            let slot = streams.pointee.open(stream, receiveWindow: initialReceiveWindow, sendWindow: initialSendWindow)
            let context = didRepeatRequest(stream: stream, headers: place, path: path)
            streams.pointee.slots[slot].context = context
            return begun(stream, slot, contentLength: repeated.pointee.contentLength(at: place), endsStream)
        }
        return newBlock(bytes, count, stream, endsStream)
    }

    /// The header fields of a request are right.
    @inline(__always)
    private func begun(_ stream: Int32, _ slot: Int, contentLength: Int64, _ endsStream: Bool) -> Violation? {
        streams.pointee.slots[slot].contentLength = contentLength
        if endsStream {
            if contentLength > 0 {
                return streamError(stream, .protocolError, "DATA does not match content-length")
            }
            didEndSide(stream)
        }
        return nil
    }

    /// One that has to be decoded.
    private func newBlock(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ stream: Int32, _ endsStream: Bool
    ) -> Violation? {
        let version = decoder.version
        decoder.begin(bytes, count)
        if stream <= highestStream { return laterBlock(stream, endsStream) }
        highestStream = stream
        if stream > goAwayLimit { return passOver() ? nil : compressionError }
        lastStream = stream
        if streams.pointee.count >= streamLimit || stream == selfDependent {
            if !passOver() { return compressionError }
            return stream == selfDependent
                ? dependsOnItself(stream)
                : Violation(.refusedStream, "more streams than allowed", scope: .stream(stream))
        }
        let slot = streams.pointee.open(stream, receiveWindow: initialReceiveWindow, sendWindow: initialSendWindow)
        let context = didBeginRequest(stream: stream)
        streams.pointee.slots[slot].context = context
        var field = HPACKField()
        var path = HPACKField()
        var rules = RequestRules(isTrailer: false)
        var isKept = true
        var size = 0
        var pathPlace = bytes
        let mayRepeat = repeated.pointee.isPromising()
        while true {
            let start = decoder.place
            switch decoder.next(&field) {
            case .field:
                size &+= field.nameLength &+ field.valueLength &+ 32
                if mayRepeat, field.mark == HeaderMark.path { (path, pathPlace) = (field, start) }
                rules.take(field)
                guard isKept, !rules.isBroken, size <= maxHeaderList else {
                    isKept = false
                    continue
                }
                isKept = didReceiveHeader(context: context, field)
                continue
            case .end: break
            case .failed: return compressionError
            }
            break
        }
        rules.finish()
        if rules.isBroken { return streamError(stream, .protocolError, "a malformed request") }
        if !isKept, !didReceiveTooManyHeaders(stream: stream, context: context) {
            return streamError(stream, .internalError, "more header bytes than are taken")
        }
        // What put something into the table, or took it out, does not say the same again.
        if isKept, mayRepeat, decoder.version == version {
            noteBlock(bytes, count, path, at: pathPlace - bytes, size: size, rules.contentLength, context)
        }
        return begun(stream, slot, contentLength: rules.contentLength, endsStream)
    }

    /// A block that was decoded may come again.
    @inline(never)
    private func noteBlock(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ path: HPACKField, at place: Int, size: Int,
        _ contentLength: Int64,
        _ context: UInt
    ) {
        let made = RepeatedBlock(
            bytes, count, path: path, at: place, size: size, contentLength: contentLength, decoder)
        guard let made, let number = repeated.pointee.place(for: made, bytes, count, decoder) else { return }
        if didEndHeaders(context: context, number) {
            repeated.pointee.keep(made, at: number)
        } else {
            made.release()
        }
    }

    private var compressionError: Violation {
        Violation(.compressionError, "a header block that cannot be decoded")
    }

    /// Decodes a block nobody wants; false when it cannot be decoded.
    private func passOver() -> Bool {
        var field = HPACKField()
        while true {
            switch decoder.next(&field) {
            case .field: continue
            case .end: return true
            case .failed: return false
            }
        }
    }

    /// A block on a stream that was begun before, or after GOAWAY: trailers, or a mistake.
    private func laterBlock(_ stream: Int32, _ endsStream: Bool) -> Violation? {
        var field = HPACKField()
        var rules = RequestRules(isTrailer: true)
        while true {
            switch decoder.next(&field) {
            case .field:
                rules.take(field)
                continue
            case .end: break
            case .failed: return compressionError
            }
            break
        }
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else {
            // Lower than the highest and never begun: RFC 9113 section 5.1.1.
            if streams.pointee.ending(stream) == nil, stream <= goAwayLimit {
                return Violation(.protocolError, "stream \(stream) after stream \(lastStream)")
            }
            return onClosed(stream, "HEADERS")
        }
        let entry = streams.pointee.slots[slot]
        if stream == selfDependent { return dependsOnItself(stream) }
        if entry.isEnded { return streamError(stream, .streamClosed, "HEADERS after END_STREAM") }
        if rules.isBroken || !endsStream { return streamError(stream, .protocolError, "malformed trailers") }
        if entry.contentLength >= 0, entry.received != entry.contentLength {
            return streamError(stream, .protocolError, "DATA does not match content-length")
        }
        didEndSide(stream)
        return nil
    }
}
