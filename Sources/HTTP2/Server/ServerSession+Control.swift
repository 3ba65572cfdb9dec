/// Frames that are about the connection and its streams rather than about requests: SETTINGS, PING, WINDOW_UPDATE, RST_STREAM.
extension ServerSession {
    func resetByClient(_ frame: FrameView) -> Violation? {
        if frame.stream == 0 || isIdle(frame.stream) {
            return Violation(.protocolError, "RST_STREAM on stream \(frame.stream)")
        }
        if frame.length != 4 { return Violation(.frameSizeError, "RST_STREAM of \(frame.length) bytes") }
        let slot = streams.pointee.find(frame.stream)
        guard slot >= 0 else { return nil }
        close(slot, .resetByClient, ErrorCode(rawValue: Frame.read32(frame.payload)))
        return countReset()
    }

    func priority(_ frame: FrameView) -> Violation? {
        if frame.stream == 0 { return Violation(.protocolError, "PRIORITY on stream 0") }
        guard frame.length == 5 else {
            return streamError(frame.stream, .frameSizeError, "PRIORITY of \(frame.length) bytes")
        }
        return dependency(frame.payload) == frame.stream ? dependsOnItself(frame.stream) : nil
    }

    /// The stream that a priority's five bytes name.
    func dependency(_ priority: UnsafePointer<UInt8>) -> Int32 {
        Int32(bitPattern: Frame.read32(priority) & 0x7FFF_FFFF)
    }

    /// RFC 7540 section 5.3.1; RFC 9113 takes nothing from priorities any more, and leaves what is said of wrong ones to RFC 7540.
    func dependsOnItself(_ stream: Int32) -> Violation {
        streamError(stream, .protocolError, "a stream that depends on itself")
    }

    func settings(_ frame: FrameView) -> Violation? {
        if frame.stream != 0 { return Violation(.protocolError, "SETTINGS on stream \(frame.stream)") }
        if frame.flags & Frame.acknowledgement != 0 {
            if frame.length != 0 {
                return Violation(.frameSizeError, "a SETTINGS acknowledgement of \(frame.length) bytes")
            }
            if !announced.isEmpty { apply(announced.removeFirst()) }
            return nil
        }
        if frame.length % 6 != 0 { return Violation(.frameSizeError, "SETTINGS of \(frame.length) bytes") }
        hasSettings = true
        for place in stride(from: 0, to: frame.length, by: 6) {
            let identifier = UInt16(frame.payload[place]) << 8 | UInt16(frame.payload[place + 1])
            if let violation = obey(identifier, Frame.read32(frame.payload + place + 2)) { return violation }
        }
        if let violation = takeInitialWindow() { return violation }
        return answer(Frame.settings, nil)
    }

    /// All settings of a frame are known. RFC 9113 section 6.9.2: a change of the initial window counts for open streams too. However
    /// often a frame changes it, the streams are looked at once.
    private func takeInitialWindow() -> Violation? {
        guard let (last, largest) = newWindow else { return nil }
        newWindow = nil
        let (change, rise) = (last - initialSendWindow, largest - initialSendWindow)
        initialSendWindow = last
        for slot in streams.pointee.open {
            if streams.pointee.slots[slot].sendWindow + rise > 0x7FFF_FFFF {
                return Violation(.flowControlError, "a stream's window beyond 2^31-1")
            }
            streams.pointee.slots[slot].sendWindow += change
        }
        sendHeldBack()
        return nil
    }

    /// A setting of the client's (RFC 9113 section 6.5.2).
    private func obey(_ identifier: UInt16, _ value: UInt32) -> Violation? {
        switch identifier {
        case Frame.Setting.enablePush where value > 1: return Violation(.protocolError, "ENABLE_PUSH of \(value)")
        case Frame.Setting.headerTableSize:
            if Int(value) < peerTableSize { isTableToSay = true }
            peerTableSize = Int(value)
        case Frame.Setting.initialWindowSize:
            guard value <= 0x7FFF_FFFF else { return Violation(.flowControlError, "INITIAL_WINDOW_SIZE of \(value)") }
            newWindow = (Int(value), max(newWindow?.largest ?? 0, Int(value)))
        case Frame.Setting.maxFrameSize:
            guard (16_384...16_777_215).contains(value) else {
                return Violation(.protocolError, "MAX_FRAME_SIZE of \(value)")
            }
            peerMaxFrame = Int(value)
        default: break
        }
        return nil
    }

    /// The client has acknowledged settings of ours.
    private func apply(_ entries: [(identifier: UInt16, value: UInt32)]) {
        for entry in entries {
            switch entry.identifier {
            case Frame.Setting.headerTableSize: decoder.setLimit(Int(entry.value))
            case Frame.Setting.maxConcurrentStreams: acknowledgedStreams = Int(entry.value)
            case Frame.Setting.maxFrameSize: acknowledgedFrame = Int(entry.value)
            case Frame.Setting.initialWindowSize:
                let change = Int(entry.value) - initialReceiveWindow
                initialReceiveWindow = Int(entry.value)
                streamWindow = Int(entry.value)
                for slot in streams.pointee.open { streams.pointee.slots[slot].receiveWindow += change }
            default: break
            }
        }
        setLimits()
    }

    func ping(_ frame: FrameView) -> Violation? {
        if frame.stream != 0 { return Violation(.protocolError, "PING on stream \(frame.stream)") }
        if frame.length != 8 { return Violation(.frameSizeError, "PING of \(frame.length) bytes") }
        return frame.flags & Frame.acknowledgement != 0 ? nil : answer(Frame.ping, frame.payload)
    }

    /// Acknowledges PING with its 8 bytes, or SETTINGS.
    private func answer(_ type: UInt8, _ bytes: UnsafePointer<UInt8>?) -> Violation? {
        waitingAnswers += 1
        if waitingAnswers > Self.mostWaitingAnswers {
            return Violation(.enhanceYourCalm, "PING or SETTINGS faster than they can be answered")
        }
        let length = bytes == nil ? 0 : 8
        let payload = writeFrame(type, flags: Frame.acknowledgement, stream: 0, length: length)
        if let bytes { payload.update(from: bytes, count: 8) }
        if isTraced { trace(type, flags: Frame.acknowledgement, stream: 0, payload, length) }
        return nil
    }

    func windowUpdate(_ frame: FrameView) -> Violation? {
        if frame.length != 4 { return Violation(.frameSizeError, "WINDOW_UPDATE of \(frame.length) bytes") }
        let increment = Int(Frame.read32(frame.payload) & 0x7FFF_FFFF)
        if frame.stream == 0 {
            if increment == 0 { return Violation(.protocolError, "WINDOW_UPDATE by 0") }
            sendWindow += increment
            if sendWindow > 0x7FFF_FFFF { return Violation(.flowControlError, "the window beyond 2^31-1") }
            hasWiderWindow = true
            return nil
        }
        if isIdle(frame.stream) { return Violation(.protocolError, "WINDOW_UPDATE on stream \(frame.stream)") }
        let slot = streams.pointee.find(frame.stream)
        if increment == 0 { return streamError(frame.stream, .protocolError, "WINDOW_UPDATE by 0") }
        guard slot >= 0 else { return nil }
        streams.pointee.slots[slot].sendWindow += increment
        if streams.pointee.slots[slot].sendWindow > 0x7FFF_FFFF {
            return streamError(frame.stream, .flowControlError, "a stream's window beyond 2^31-1")
        }
        if streams.pointee.slots[slot].isHeldBack { sendBody(slot) }
        return nil
    }
}
