/// Frames that are about the connection and its streams rather than about answers: SETTINGS, PING, WINDOW_UPDATE, RST_STREAM,
/// GOAWAY (RFC 9113 section 6).
extension WireSession {
    @inline(never)
    func control(_ frame: FrameView) -> Violation? {
        switch frame.type {
        case Frame.reset: return resetByServer(frame)
        case Frame.settings: return settings(frame)
        case Frame.ping: return ping(frame)
        case Frame.goAway: return goAway(frame)
        case Frame.windowUpdate: return windowUpdate(frame)
        case Frame.pushPromise: return Violation(.protocolError, "PUSH_PROMISE though push is off")
        case Frame.priority:
            guard frame.stream != 0 else { return Violation(.protocolError, "PRIORITY on stream 0") }
            guard frame.length == 5 else {
                return Violation(.frameSizeError, "PRIORITY of \(frame.length) bytes")
            }
            return tolerate("PRIORITY")
        default: return tolerate("unknown frames")
        }
    }

    private func resetByServer(_ frame: FrameView) -> Violation? {
        guard frame.length == 4 else { return Violation(.frameSizeError, "RST_STREAM of \(frame.length) bytes") }
        guard frame.stream != 0, !isIdle(frame.stream) else {
            return Violation(.protocolError, "RST_STREAM on stream \(frame.stream)")
        }
        guard let index = streams.find(frame.stream) else { return tolerate("RST_STREAM") }
        let code = ErrorCode(rawValue: Frame.read32(frame.payload))
        if code == .refusedStream {
            guard hasStatus(index) else {
                end(index, .refused)
                return nil
            }
            tellFault("malformed answer: REFUSED_STREAM after :status")
        }
        end(index, .reset(code))
        return nil
    }

    private func ping(_ frame: FrameView) -> Violation? {
        guard frame.length == 8 else { return Violation(.frameSizeError, "PING of \(frame.length) bytes") }
        guard frame.stream == 0 else { return Violation(.protocolError, "PING on stream \(frame.stream)") }
        if frame.flags & Frame.acknowledgement == 0 {
            guard hasRoomToAnswer else { return .flood("PING") }
            self.frame(Frame.ping, flags: Frame.acknowledgement, stream: 0, length: 8)
                .update(from: frame.payload, count: 8)
        }
        return tolerate("PING")
    }

    private func goAway(_ frame: FrameView) -> Violation? {
        guard frame.length >= 8 else { return Violation(.frameSizeError, "GOAWAY of \(frame.length) bytes") }
        guard frame.stream == 0 else { return Violation(.protocolError, "GOAWAY on stream \(frame.stream)") }
        let lastStream = Int32(bitPattern: Frame.read32(frame.payload) & 0x7FFF_FFFF)
        let code = ErrorCode(rawValue: Frame.read32(frame.payload + 4))
        let debugData = UnsafeBufferPointer(start: frame.payload + 8, count: frame.length - 8)
        tell { $0.didReceiveGoAway(code: code, debugData: debugData) }
        let looks = forEachOpen { index in
            if streams.entries[index].id > lastStream { endUnprocessed(index) }
        }
        return tolerate("GOAWAY", looks: looks)
    }

    private func endUnprocessed(_ index: Int) {
        if hasStatus(index) {
            tellFault("malformed answer: GOAWAY says that a push with a :status was not processed")
            end(index, .malformed)
        } else {
            end(index, .refused)
        }
    }

    // MARK: SETTINGS

    private func settings(_ frame: FrameView) -> Violation? {
        guard frame.stream == 0 else { return Violation(.protocolError, "SETTINGS on stream \(frame.stream)") }
        if frame.flags & Frame.acknowledgement != 0 {
            guard frame.length == 0 else {
                return Violation(.frameSizeError, "a SETTINGS acknowledgement of \(frame.length) bytes")
            }
            return tolerate("SETTINGS")
        }
        guard frame.length % 6 == 0 else {
            return Violation(.frameSizeError, "SETTINGS of \(frame.length) bytes")
        }
        guard hasRoomToAnswer else { return .flood("SETTINGS") }
        for place in stride(from: 0, to: frame.length, by: 6) {
            let identifier = UInt16(frame.payload[place]) << 8 | UInt16(frame.payload[place + 1])
            if let violation = obey(identifier, Frame.read32(frame.payload + place + 2)) { return violation }
        }
        var looks = 0
        if let violation = takeInitialWindow(&looks) { return violation }
        _ = self.frame(Frame.settings, flags: Frame.acknowledgement, stream: 0, length: 0)
        // Only now may larger windows be used: the peer goes by the acknowledgement (RFC 9113 section 6.5.3).
        looks += resumeAll()
        streamLimit = min(streams.capacity, Int(clamping: maxStreams))
        tell { $0.didSettle() }
        return tolerate("SETTINGS", looks: looks)
    }

    /// A setting of the peer's (RFC 9113 section 6.5.2).
    private func obey(_ identifier: UInt16, _ value: UInt32) -> Violation? {
        switch identifier {
        case Frame.Setting.headerTableSize: encoder.setPeerTableSize(Int(value))
        case Frame.Setting.enablePush where value != 0:
            return Violation(.protocolError, "SETTINGS_ENABLE_PUSH \(value) from a server")
        case Frame.Setting.maxConcurrentStreams: maxStreams = value
        case Frame.Setting.initialWindowSize:
            guard value <= 0x7FFF_FFFF else {
                return Violation(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE \(value)")
            }
            newWindow = (Int(value), max(newWindow?.largest ?? 0, Int(value)))
        case Frame.Setting.maxFrameSize:
            guard (16_384...16_777_215).contains(value) else {
                return Violation(.protocolError, "SETTINGS_MAX_FRAME_SIZE \(value)")
            }
            // Larger frames than this would gain nothing.
            peerMaxFrame = min(Int(value), 16_384)
        default: break
        }
        return nil
    }

    /// All settings of a frame are known. RFC 9113 section 6.9.2: a change of the initial window counts for open streams too, and
    /// may make their windows negative. However often a frame changes it, the streams are looked at once.
    private func takeInitialWindow(_ looks: inout Int) -> Violation? {
        guard let (last, largest) = newWindow else { return nil }
        newWindow = nil
        let (change, rise) = (last - initialWindow, largest - initialWindow)
        initialWindow = last
        var overflows = false
        looks = forEachOpen { index in
            let before = Int(streams.entries[index].window)
            if before + rise <= 0x7FFF_FFFF, let window = Int32(exactly: before + change) {
                streams.entries[index].window = window
            } else {
                overflows = true
            }
        }
        return overflows ? Violation(.flowControlError, "a stream's window overflows") : nil
    }

    // MARK: WINDOW_UPDATE

    private func windowUpdate(_ frame: FrameView) -> Violation? {
        guard frame.length == 4 else {
            return Violation(.frameSizeError, "WINDOW_UPDATE of \(frame.length) bytes")
        }
        let increment = Int(Frame.read32(frame.payload) & 0x7FFF_FFFF)
        var looks = 0
        // An increment of what was sent opens no window wider than it has been.
        if frame.stream == 0 {
            guard increment > 0 else { return Violation(.protocolError, "WINDOW_UPDATE by 0") }
            let givesBack = sendWindow + increment <= widestWindow
            // What is held back while it is open waits for something else.
            let wasShut = sendWindow <= 0
            sendWindow += increment
            widestWindow = max(widestWindow, sendWindow)
            guard sendWindow <= 0x7FFF_FFFF else {
                return Violation(.flowControlError, "the connection's window overflows")
            }
            if wasShut { looks = resumeAll() }
            if givesBack, looks < Self.fewLooks { return nil }
        } else {
            guard !isIdle(frame.stream) else {
                return Violation(.protocolError, "WINDOW_UPDATE on stream \(frame.stream)")
            }
            if let index = streams.find(frame.stream), open(index, by: increment) { return nil }
        }
        return tolerate("WINDOW_UPDATE", looks: looks)
    }

    /// Looking at fewer streams than this costs less than the frame itself.
    private static let fewLooks = 1000

    /// - Returns: true when the increment is of what was sent on the stream.
    private func open(_ index: Int, by increment: Int) -> Bool {
        guard increment > 0 else {
            endBroken(index, .protocolError, "WINDOW_UPDATE by 0")
            return false
        }
        let before = Int(streams.entries[index].window)
        let givesBack = before + increment <= initialWindow
        guard let window = Int32(exactly: before + increment) else {
            endBroken(index, .flowControlError, "WINDOW_UPDATE beyond 2^31-1")
            return givesBack
        }
        streams.entries[index].window = window
        resume(index)
        return givesBack
    }
}
