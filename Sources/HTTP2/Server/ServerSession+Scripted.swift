/// What servers do only when something is wrong with them, for a server that plays it by a script: answers in pieces, frames on
/// streams that are over, a GOAWAY that names whatever stream it is told to. None of it is on the way of an ordinary answer.
extension ServerSession {
    /// GOAWAY naming `lastStream`, whatever was begun. Open streams above it are forgotten without a frame: `didClose` with
    /// REFUSED_STREAM. With 2^31-1 it is only announced, and everything goes on (RFC 9113 section 6.8).
    public final func submitGoAway(code: ErrorCode, lastStream last: Int32, debugData: [UInt8]) {
        let payload = writeFrame(Frame.goAway, flags: 0, stream: 0, length: 8 + debugData.count)
        Frame.write32(UInt32(bitPattern: last), into: payload)
        Frame.write32(code.rawValue, into: payload + 4)
        (payload + 8).update(from: debugData, count: debugData.count)
        if isTraced { trace(Frame.goAway, flags: 0, stream: 0, payload, 8 + debugData.count) }
        guard last < .max else { return }
        hasSentGoAway = true
        goAwayLimit = min(goAwayLimit, last)
        for slot in streams.pointee.open where streams.pointee.slots[slot].id > last {
            close(slot, .resetByServer, .refusedStream)
        }
    }

    /// PING with these 8 bytes.
    public final func submitPing(_ bytes: UInt64) {
        let payload = writeFrame(Frame.ping, flags: 0, stream: 0, length: 8)
        Frame.write32(UInt32(truncatingIfNeeded: bytes >> 32), into: payload)
        Frame.write32(UInt32(truncatingIfNeeded: bytes), into: payload + 4)
        if isTraced { trace(Frame.ping, flags: 0, stream: 0, payload, 8) }
    }

    /// Begins the answer of an open stream; what follows is given by `submitPiece` and `submitEnd`, and not asked for.
    public final func submitHead(_ block: ResponseBlock, stream: Int32) {
        let slot = streams.pointee.find(stream)
        guard slot >= 0, !streams.pointee.slots[slot].hasHeaders else { return }
        streams.pointee.slots[slot].hasHeaders = true
        writeBlock(block, flags: Frame.endHeaders, stream: stream)
    }

    /// Sends as many of these bytes as the client's windows allow now.
    ///
    /// - Returns: how many were sent; nil when the stream is over.
    public final func submitPiece(_ bytes: ArraySlice<UInt8>, stream: Int32) -> Int? {
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else { return nil }
        var sent = 0
        while sent < bytes.count, output.pointee.count < bodyRoom {
            let window = min(sendWindow, streams.pointee.slots[slot].sendWindow)
            guard window > 0 else { break }
            let count = min(window, peerMaxFrame, 16_384, bytes.count - sent)
            writeData(bytes.dropFirst(sent).prefix(count), flags: 0, stream: stream)
            sendWindow -= count
            streams.pointee.slots[slot].sendWindow -= count
            sent += count
        }
        return sent
    }

    /// Ends an answer that `submitHead` began, with trailers or with an empty DATA frame.
    public final func submitEnd(trailers: ResponseBlock?, stream: Int32) {
        let slot = streams.pointee.find(stream)
        guard slot >= 0 else { return }
        if let trailers {
            writeBlock(trailers, flags: Frame.endHeaders | Frame.endStream, stream: stream)
        } else {
            writeData([], flags: Frame.endStream, stream: stream)
        }
        streams.pointee.slots[slot].isAnswered = true
        if streams.pointee.slots[slot].isEnded { close(slot, .finished, .noError) }
    }

    /// Writes an answer on a stream that is over, where a client expects none: HEADERS, and DATA as far as the connection's
    /// window lets it.
    public final func submitLate(_ block: ResponseBlock, body: [UInt8], stream: Int32) {
        let count = min(body.count, max(sendWindow, 0), peerMaxFrame, 16_384)
        writeBlock(block, flags: Frame.endHeaders | (count == 0 ? Frame.endStream : 0), stream: stream)
        guard count > 0 else { return }
        writeData(body.prefix(count), flags: Frame.endStream, stream: stream)
        sendWindow -= count
    }

    private func writeBlock(_ block: ResponseBlock, flags: UInt8, stream: Int32) {
        let prefix = isTableToSay ? 1 : 0
        let payload = writeFrame(Frame.headers, flags: flags, stream: stream, length: prefix + block.count)
        if isTableToSay {
            payload[0] = 0x20
            isTableToSay = false
        }
        (payload + prefix).update(from: block.bytes, count: block.count)
        if isTraced { trace(Frame.headers, flags: flags, stream: stream, payload, prefix + block.count) }
    }

    private func writeData(_ bytes: ArraySlice<UInt8>, flags: UInt8, stream: Int32) {
        let payload = writeFrame(Frame.data, flags: flags, stream: stream, length: bytes.count)
        for (place, byte) in bytes.enumerated() { payload[place] = byte }
        if isTraced { trace(Frame.data, flags: flags, stream: stream, payload, bytes.count) }
    }
}
