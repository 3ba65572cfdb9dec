import HTTP2

/// The server's side of HTTP/2 on one connection of an exam. Unlike the mock's own session it lets a play send any frame at any time,
/// and writes down what the client does wrong instead of ending the connection wherever that can be borne.
///
/// Bodies of answers are so short that the client's windows are not counted.
final class ExamSession {
    private struct OpenStream {
        let push: Int
        var window: Int
        var hasEnded = false
    }

    private let number: Int
    private unowned let stage: Stage
    private unowned let connection: ExamConnection
    private var frames = ClientFrames()
    private let decoder = HPACKDecoder(tableSize: 4096, names: names)
    private static let names = HPACKNames { _, _ in 0 }
    private var streams: [Int32: OpenStream] = [:]
    private var highest: Int32 = 0
    private var block: (stream: Int32, endsStream: Bool, bytes: [UInt8])?
    private var announced: [[ServerFrames.Setting]] = []
    /// The limit and window that the client has acknowledged.
    private(set) var acknowledgedLimit: Int?
    private var initialWindow = 65_535
    private var connectionWindow = 65_535
    private var goAwayLimit: Int32?
    private var isOver = false
    /// The `apns-id` to answer each push with.
    private var identifiers: [Int: String] = [:]
    /// Where in the output the answer of each push ends, bytes.
    private var answerEnds: [(push: Int, end: Int)] = []
    /// The eight bytes of each PING, by its place among the connection's.
    private static func pingBytes(_ place: Int) -> [UInt8] { Array("exam".utf8) + ServerFrames.bytes(UInt32(place)) }
    private var goAwayPing: Int?

    /// Largest header block, bytes.
    private static let longestBlock = 65_536

    init(_ number: Int, _ stage: Stage, _ connection: ExamConnection) {
        self.number = number
        self.stage = stage
        self.connection = connection
    }

    private var record: ConnectionRecord {
        get { stage.journal.connections[number] }
        set { stage.journal.connections[number] = newValue }
    }

    /// Streams that are open now.
    var openStreams: Int { streams.count }
    /// The highest stream the client has begun; 0: none.
    var lastStream: Int32 { highest }

    // MARK: What the server says

    func announce(_ settings: [ServerFrames.Setting]) {
        announced.append(settings)
        record.settingsSent += 1
        connection.send(ServerFrames.settings(settings))
    }

    func ping() {
        let place = record.pings.count
        record.pings.append(PingRecord(sentAt: stage.now))
        connection.send(ServerFrames.frame(Frame.ping, Self.pingBytes(place)))
    }

    /// Says GOAWAY. Pushes above `last` are refused.
    func goAway(last: Int32, reason: String) {
        goAwayLimit = min(last, goAwayLimit ?? .max)
        record.goAwayAt = record.goAwayAt ?? stage.now
        connection.send(ServerFrames.goAway(last: last, .noError, reason: reason))
        for (stream, open) in streams where stream > last {
            streams[stream] = nil
            stage.end(open.push, .refused)
        }
    }

    /// PING some time behind GOAWAY: its acknowledgement proves that the client has read both.
    func probeGoAway() {
        goAwayPing = record.pings.count
        ping()
    }

    /// Lets the client send more on every open stream, and on streams to come.
    func openWindows(to window: UInt32) {
        for stream in streams.keys.sorted() {
            connection.send(ServerFrames.windowUpdate(stream, by: window))
            streams[stream]?.window += Int(window)
        }
        announce([(Frame.Setting.initialWindowSize, window)])
    }

    /// Answers a push; nothing when its stream is gone.
    func answer(_ push: Int, _ fate: PushFate, retryAfter: Int? = nil) {
        let stream = stage.journal.pushes[push].stream
        guard streams.removeValue(forKey: stream) != nil else { return }
        var fields = [(name: "apns-id", value: identifiers.removeValue(forKey: push) ?? Self.identifier(push))]
        var status = 200
        var body: String?
        if case .rejected(let code, let reason) = fate {
            status = code
            let since = code == 410 ? ",\"timestamp\":\(stage.unixMilliseconds)" : ""
            body = "{\"reason\":\"\(reason)\"\(since)}"
        }
        if let retryAfter { fields.append(("retry-after", "\(retryAfter)")) }
        connection.send(ServerFrames.answer(stream, status: status, fields: fields, body: body))
        answerEnds.append((push, connection.queued))
        stage.end(push, fate)
    }

    /// REFUSED_STREAM: not processed, may be sent again.
    func refuse(_ push: Int) {
        let stream = stage.journal.pushes[push].stream
        guard streams.removeValue(forKey: stream) != nil else { return }
        connection.send(ServerFrames.reset(stream, .refusedStream))
        stage.end(push, .refused)
    }

    private static func mayBeEchoed(_ identifier: String) -> Bool {
        (1..<127).contains(identifier.utf8.count) && identifier.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// What a push without an `apns-id` is given.
    private static func identifier(_ push: Int) -> String {
        let digits = String(push)
        return "00000000-0000-0000-0000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// Only so many bytes of the output were written: who was answered behind them has not heard of it.
    func wasCut(after bytes: Int) {
        for answer in answerEnds where answer.end > bytes && stage.journal.pushes[answer.push].fate == .accepted {
            stage.journal.pushes[answer.push].fate = .acceptedUnheard
        }
    }

    /// The connection is over, and only so many bytes of the output were written: nobody waits for an answer on it any more.
    func end(after bytes: Int) {
        isOver = true
        wasCut(after: bytes)
        for open in streams.values { stage.end(open.push, .unanswered) }
        streams = [:]
    }

    // MARK: What the client says

    func receive(_ bytes: some Sequence<UInt8>) {
        if isOver { return }
        frames.take(bytes)
        while !isOver {
            switch frames.next() {
            case .frame(let frame): take(frame)
            case .needsMore: return
            case .broken(let problem): violate(.protocolError, problem)
            }
        }
    }

    private func violate(_ code: ErrorCode, _ text: String) {
        record.violation = text
        connection.send(ServerFrames.goAway(last: highest, code, reason: nil))
        connection.leave()
    }

    private func take(_ frame: ClientFrame) {
        if block != nil, frame.type != Frame.continuation {
            return violate(.protocolError, "a frame of type \(frame.type) inside a header block")
        }
        switch frame.type {
        case Frame.data: takeData(frame)
        case Frame.headers: takeHeaders(frame)
        case Frame.continuation: takeContinuation(frame)
        case Frame.settings: takeSettings(frame)
        case Frame.ping: takePing(frame)
        case Frame.reset:
            guard let open = streams.removeValue(forKey: frame.stream) else { return }
            stage.end(open.push, .cancelled)
        case Frame.pushPromise: violate(.protocolError, "PUSH_PROMISE from a client")
        default: break
        }
    }

    private func takeSettings(_ frame: ClientFrame) {
        guard frame.has(Frame.acknowledgement) else {
            connection.send(ServerFrames.frame(Frame.settings, flags: Frame.acknowledgement))
            guard record.begunAt == nil else { return }
            record.begunAt = stage.now
            stage.play.didBegin(connection)
            return
        }
        guard !announced.isEmpty else { return }
        record.settingsAcknowledged += 1
        for setting in announced.removeFirst() {
            switch setting.identifier {
            case Frame.Setting.maxConcurrentStreams: acknowledgedLimit = Int(setting.value)
            case Frame.Setting.initialWindowSize:
                // RFC 9113 section 6.9.2: the change counts for open streams too.
                let change = Int(setting.value) - initialWindow
                initialWindow = Int(setting.value)
                for stream in streams.keys { streams[stream]?.window += change }
            default: break
            }
        }
    }

    private func takePing(_ frame: ClientFrame) {
        guard frame.has(Frame.acknowledgement) else {
            connection.send(ServerFrames.frame(Frame.ping, flags: Frame.acknowledgement, frame.payload))
            return
        }
        for place in record.pings.indices
        where record.pings[place].acknowledgedAt == nil && frame.payload == Self.pingBytes(place) {
            record.pings[place].acknowledgedAt = stage.now
            if place == goAwayPing { record.goAwayKnownAt = stage.now }
            stage.play.didAcknowledgePing(connection)
            return
        }
    }

    private func takeHeaders(_ frame: ClientFrame) {
        guard frame.stream & 1 == 1, let content = frame.content else {
            return violate(.protocolError, "HEADERS on stream \(frame.stream)")
        }
        block = (frame.stream, frame.has(Frame.endStream), Array(content))
        if frame.has(Frame.endHeaders) { endBlock() }
    }

    private func takeContinuation(_ frame: ClientFrame) {
        guard let begun = block, begun.stream == frame.stream,
            begun.bytes.count + frame.payload.count <= Self.longestBlock
        else { return violate(.protocolError, "CONTINUATION without its header block") }
        block?.bytes += frame.payload
        if frame.has(Frame.endHeaders) { endBlock() }
    }

    private func endBlock() {
        guard let (stream, endsStream, bytes) = block else { return }
        block = nil
        guard let header = RequestHeader(bytes, decoder) else {
            return violate(.compressionError, "a header block that is not HPACK")
        }
        guard stream > highest else {
            if endsStream { didEnd(stream) }
            return
        }
        guard stage.journal.pushes.count < Stage.mostPushes else {
            return violate(.enhanceYourCalm, "more than \(Stage.mostPushes) requests in a situation")
        }
        highest = stream
        begin(stream, header)
        if endsStream { didEnd(stream) }
    }

    private func begin(_ stream: Int32, _ header: RequestHeader) {
        let push = stage.begin(header, connection: number, stream: stream)
        if let acknowledgedLimit, streams.count >= acknowledgedLimit { record.beyondLimit += 1 }
        streams[stream] = OpenStream(push: push, window: initialWindow)
        identifiers[push] = header.apnsID.flatMap { Self.mayBeEchoed($0) ? $0 : nil }
        record.mostOpen = max(record.mostOpen, streams.count)
        if let goAwayLimit, stream > goAwayLimit {
            streams[stream] = nil
            return stage.end(push, .refused)
        }
        stage.play.didBeginPush(push, connection)
    }

    private func takeData(_ frame: ClientFrame) {
        guard frame.stream > 0, let content = frame.content else {
            return violate(.protocolError, "DATA on stream \(frame.stream)")
        }
        connectionWindow -= frame.payload.count
        if connectionWindow < 32_768 {
            connection.send(ServerFrames.windowUpdate(0, by: UInt32(65_535 - connectionWindow)))
            connectionWindow = 65_535
        }
        if var open = streams[frame.stream] {
            open.window -= frame.payload.count
            if open.window < 0, !content.isEmpty { record.beyondWindow += min(-open.window, frame.payload.count) }
            streams[frame.stream] = open
        }
        if frame.has(Frame.endStream) { didEnd(frame.stream) }
    }

    private func didEnd(_ stream: Int32) {
        guard let open = streams[stream], !open.hasEnded else { return }
        streams[stream]?.hasEnded = true
        stage.didComplete(open.push, connection)
    }
}
