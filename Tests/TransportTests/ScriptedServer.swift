import Foundation
import Networking
import Synchronization

@testable import HTTP2

/// What the scripted server does beside answering 200.
struct Script: Sendable {
    var maxConcurrentStreams: UInt32 = 100
    var streamWindow: UInt32 = 65_535
    /// Each connection says GOAWAY after so many requests, leaving a few of them unprocessed.
    var goAwayAfter: Int?
    /// What it then says, a frame each, before the answer to the last request.
    var goAways: [(code: ErrorCode, debugData: [UInt8])] = [(.noError, Array("{\"reason\":\"Shutdown\"}".utf8))]
    /// Every n-th request is reset with this code.
    var resetEvery: (count: Int, code: ErrorCode)?
    /// Each connection is cut after so many requests.
    var cutAfter: Int?
    /// Every n-th request is never answered.
    var silentEvery: Int?
    /// Nothing at all is said, not even SETTINGS.
    var isMute = false
    /// Each connection falls silent after so many requests: nothing is read or written any more, PING included.
    var freezeAfter: Int?
    /// Answers are 410 with this reason.
    var reason: String?
    /// Not 410, and with `retry-after`.
    var status = "410"
    var retryAfter: String?
    /// Answers garbage instead of frames after so many requests.
    var garbageAfter: Int?
    /// The first so many connections are closed at once.
    var refuseFirst = 0
    /// SETTINGS_MAX_CONCURRENT_STREAMS becomes this after ten requests.
    var laterMaxStreams: UInt32?
}

/// What the server saw.
struct Seen: Sendable {
    var requests = 0
    var processed: Set<String> = []
    var repeated = 0
    var connections = 0
    var mostStreams = 0
}

/// A plaintext HTTP/2 server that misbehaves as it is told, on one thread.
final class ScriptedServer: Sendable {
    let address: SocketAddress
    private let seen = Mutex(Seen())
    private let stopping = Atomic<Bool>(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ script: Script) throws {
        let listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        address = listener.address
        nonisolated(unsafe) let handed = listener
        Thread.detachNewThread { [self] in
            serve(handed, script)
            done.signal()
        }
    }

    func stop() -> Seen {
        stopping.store(true, ordering: .relaxed)
        done.wait()
        return seen.withLock { $0 }
    }

    private func serve(_ listener: Listener, _ script: Script) {
        var connections: [Connection] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !stopping.load(ordering: .relaxed) {
            if case .descriptor(let descriptor) = listener.accept() {
                let number = seen.withLock { seen in
                    seen.connections += 1
                    return seen.connections
                }
                if let stream = try? SocketStream(accepted: descriptor, tls: nil, options: SocketOptions()),
                    number > script.refuseFirst
                {
                    connections.append(Connection(stream, script))
                }
            }
            for connection in connections {
                switch connection.stream.read(into: &buffer, capacity: buffer.count) {
                case .bytes(let count): connection.take(buffer, count)
                case .wouldBlock: break
                // A frozen server does not notice anything.
                case .endOfStream, .failed: if !connection.isFrozen { connection.isOver = true }
                }
                connection.write()
            }
            seen.withLock { seen in
                for connection in connections {
                    seen.requests += connection.session.news.count
                    for path in connection.session.news where !seen.processed.insert(path).inserted {
                        seen.repeated += 1
                    }
                    connection.session.news = []
                    seen.mostStreams = max(seen.mostStreams, connection.session.most)
                }
            }
            connections.removeAll { $0.isOver }
            usleep(100)
        }
    }

    private final class Connection {
        let stream: ByteStream
        let session: ScriptedSession
        let script: Script
        var isOver = false
        private var hasFinished = false

        init(_ stream: ByteStream, _ script: Script) {
            self.stream = stream
            self.script = script
            var settings = SessionSettings()
            settings.maxConcurrentStreams = script.maxConcurrentStreams
            settings.streamWindow = script.streamWindow
            session = ScriptedSession(script, settings: settings)
        }

        var isFrozen: Bool { script.freezeAfter.map { session.begun >= $0 } ?? false }

        func take(_ bytes: [UInt8], _ count: Int) {
            if script.isMute || isFrozen || hasFinished { return }
            if session.receive(bytes, count: count) != nil { isOver = true }
            if let limit = script.cutAfter, session.begun >= limit { isOver = true }
            if let limit = script.garbageAfter, session.begun >= limit {
                let garbage = [UInt8](repeating: 0xFF, count: 64)
                _ = stream.write(garbage, count: 64)
                isOver = true
            }
            if session.saidGoAway, session.handled == session.answered { session.isLeaving = true }
        }

        func write() {
            if script.isMute || isOver || isFrozen || hasFinished { return }
            var bytes: UnsafePointer<UInt8>?
            while true {
                let count = session.nextOutput(&bytes)
                if count <= 0 { break }
                var offset = 0
                while offset < count {
                    switch stream.write(bytes! + offset, count: count - offset) {
                    case .bytes(let written): offset += written
                    case .wouldBlock: usleep(100)
                    case .endOfStream, .failed:
                        isOver = true
                        return
                    }
                }
            }
            // To close with something unread would reset the connection and lose answers on their way: FIN first, and
            // read on until the client closes.
            if session.isLeaving, !hasFinished {
                hasFinished = true
                stream.finish()
            }
            if !session.isLeaving, !session.isAlive { isOver = true }
        }
    }
}

private final class ScriptedSession: NGHTTP2Server {
    private let script: Script
    private let answer: HeaderBlock
    private var paths: [Int32: String] = [:]
    var news: [String] = []
    var begun = 0
    var open = 0
    var most = 0
    var saidGoAway = false
    /// Requests that will be answered, and those that were.
    var handled: Int { saidGoAway ? Int((lastHandled + 1) / 2) : begun }
    var answered = 0
    private var lastHandled = Int32.max
    var isLeaving = false

    init(_ script: Script, settings: SessionSettings) {
        self.script = script
        answer = HeaderBlock(capacity: 2)
        answer.add(":status", script.reason == nil ? "200" : script.status)
        if let retryAfter = script.retryAfter { answer.add("retry-after", retryAfter) }
        super.init(settings: settings)
    }

    override func didBeginHeaders(stream: Int32) {
        begun += 1
        open += 1
        most = max(most, open)
    }

    override func didReceiveHeader(
        stream: Int32, name: UnsafePointer<UInt8>, nameLength: Int, value: UnsafePointer<UInt8>, valueLength: Int
    ) -> Bool {
        if nameLength == 5, name[1] == 0x70 {
            paths[stream] = String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self)
        }
        return true
    }

    override func didEndData(stream: Int32) {
        if let limit = script.goAwayAfter, begun == limit, !saidGoAway {
            // The last stream seen is the last processed; what the client has sent beyond it is not.
            saidGoAway = true
            lastHandled = lastStream
            for (code, debugData) in script.goAways { submitGoAway(code: code, debugData: debugData) }
        }
        if stream > lastHandled { return }
        if begun == 10, let later = script.laterMaxStreams {
            submitSettings([(Frame.Setting.maxConcurrentStreams, later)])
        }
        if let (count, code) = script.resetEvery, begun % count == 0 {
            submitReset(stream: stream, code: code)
            return
        }
        news.append(paths[stream] ?? "")
        answered += 1
        if let count = script.silentEvery, begun % count == 0 { return }
        submitResponse(answer, stream: stream, hasBody: script.reason != nil)
    }

    override func didClose(stream: Int32, code: ErrorCode) {
        open -= 1
        paths[stream] = nil
    }

    override func nextData(stream: Int32, buffer: UnsafeMutablePointer<UInt8>, capacity: Int, isLast: inout Bool) -> Int
    {
        let text = Array("{\"reason\":\"\(script.reason ?? "")\",\"timestamp\":1}".utf8)
        buffer.update(from: text, count: text.count)
        isLast = true
        return text.count
    }
}
