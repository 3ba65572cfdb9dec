import Foundation
import Results
import Testing

/// Says the same to whoever connects, and where it has one an answer to the first request of each connection; then it listens to
/// nothing, and closes nothing, or each connection after a while.
private final class UnwillingServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init(_ bytes: [UInt8], answer: [UInt8] = [], closesAfter pause: useconds_t? = nil) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.featureUnsupported) }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        Thread.detachNewThread {
            var open: [Int32] = []
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { break }
                _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if !answer.isEmpty, Self.readRequest(descriptor) {
                    _ = answer.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                }
                if let pause {
                    usleep(pause)
                    close(descriptor)
                } else {
                    open.append(descriptor)
                }
            }
            for descriptor in open { close(descriptor) }
        }
    }

    /// Reads until a client has sent DATA with END_STREAM (RFC 9113 section 6.1).
    private static func readRequest(_ descriptor: Int32) -> Bool {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return false }
            bytes += piece[..<count]
            // The preface is 24 bytes long.
            var rest = bytes.dropFirst(24)
            while rest.count >= 9 {
                let head = Array(rest.prefix(9))
                if head[3] == 0, head[4] & 1 == 1 { return true }
                rest = rest.dropFirst(9 + Int(head[0]) << 16 + Int(head[1]) << 8 + Int(head[2]))
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}

@Suite(.waitsForPrograms) struct UnwillingServerTests {
    /// SETTINGS_MAX_CONCURRENT_STREAMS 0 (RFC 9113 section 6.5.2), and the acknowledgement of the client's.
    private static let noStreams: [UInt8] =
        [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0]

    private static let someStreams: [UInt8] =
        [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100] + [0, 0, 0, 4, 1, 0, 0, 0, 0]

    private func run(
        _ bytes: [UInt8], answer: [UInt8] = [], closesAfter pause: useconds_t? = nil, _ arguments: [String]
    ) throws -> (ResultDocument, Int32, String) {
        let server = try UnwillingServer(bytes, answer: answer, closesAfter: pause)
        defer { withExtendedLifetime(server) {} }
        return try Programs.load(
            ["--target", "http://127.0.0.1:\(server.port)", "--no-auth", "--give-up-after", "1s"] + arguments)
    }

    @Test(
        "Connections that open, are asked and close again without an answer are no target", arguments: Programs.engines)
    func flapping(_ engine: String) throws {
        for settings in [Self.noStreams, Self.someStreams] {
            let (result, status, error) = try run(
                settings, closesAfter: 100_000, ["--engine", engine, "-n", "1M", "-m", "10", "--give-up-after", "3s"])
            #expect(status == 1 && result.pushes.accepted == 0 && !result.run.complete, "\(error)")
            #expect(result.connections.opened > 1, "\(error)")
        }
    }

    @Test(
        "A server that is open and allows no stream ends a run all the same, with a cause of its own",
        arguments: ["wire", "nghttp2"],
        [["-n", "20"], ["-D", "30s"], ["--rate", "100", "-D", "1s"]])
    func noStream(_ engine: String, _ load: [String]) throws {
        let (result, status, error) = try run(Self.noStreams, ["--engine", engine] + load)
        #expect(status == 1 && result.pushes.accepted == 0 && result.pushes.failed == 0, "\(error)")
        #expect(result.connections.opened == 1 && !result.run.interrupted, "\(error)")
        if !load.contains("30s") {
            #expect(result.notSent == ["no_stream": result.pushes.planned] && result.pushes.planned >= 20, "\(error)")
        }
        #expect(error.contains("the peer let no push be sent on it"), "\(error)")
    }

    @Test("A window that is never given back is named, and bounds what may wait", arguments: Programs.engines)
    func closedWindow(_ engine: String) throws {
        // 1,000 streams, and the 65,535 bytes that a connection begins with (RFC 9113 section 6.9.2): about 200 payloads.
        let streams: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0xE8] + [0, 0, 0, 4, 1, 0, 0, 0, 0]
        let (result, status, error) = try run(
            streams,
            [
                "--engine", engine, "--stages", "pause 200ms, burst 1000, hold 500 1s", "--backlog", "20", "--timeout",
                "500ms",
            ])
        let begun = result.pushes.planned - result.pushes.notSent
        #expect(status == 1 && begun > 50 && begun < 900 && result.pushes.failed == begun, "\(error)")
        // What was on its way when the window closed, and one that waits for the rest of it.
        #expect(result.notSent["overflowed"] ?? 0 >= result.pushes.notSent - 60, "\(error)")
        #expect(result.connections.windowLimited.map { $0 > 0.3 } == true, "\(error)")
        #expect(error.contains("the target's flow-control windows held back"), "\(error)")
    }

    @Test("Streams that may not carry a byte are named, too", arguments: Programs.engines)
    func closedStreams(_ engine: String) throws {
        // SETTINGS_INITIAL_WINDOW_SIZE 0 (RFC 9113 section 6.5.2).
        let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0]
        let (result, status, error) = try run(
            settings,
            ["--engine", engine, "--rate", "200", "-D", "1s", "-m", "10", "--timeout", "5s", "--drain", "100ms"])
        #expect(status == 1 && result.pushes.accepted == 0 && result.pushes.failed == 10, "\(error)")
        #expect(result.connections.windowLimited.map { $0 > 0.5 } == true, "\(error)")
        #expect(
            error.contains("rate not reached") && error.contains("flow-control windows held back"), "\(error)")
    }

    @Test(
        "What has a status is not sent again by --retry; what nothing came of is, when its connection is lost",
        arguments: Programs.engines)
    func retry(_ engine: String) throws {
        // :status 200 and a content-length of 1, then DATA of 2 bytes; :status 200 and no end; nothing.
        let headers: [UInt8] = [0x88, 0x0F, 0x0D, 1, 0x31]
        let malformed = [0, 0, 5, 1, 4, 0, 0, 0, 1] + headers + [0, 0, 2, 0, 1, 0, 0, 0, 1, 0x7B, 0x7D]
        let incomplete = [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88] as [UInt8]
        for (answer, cause, attempts) in [
            (malformed, "malformed_answer", 0), (incomplete, "answer_incomplete", 0),
            // A PING that is too short.
            ([0, 0, 1, 6, 0, 0, 0, 0, 0, 0], "protocol_violation", 2),
        ] as [([UInt8], String, UInt64)] {
            let (result, _, error) = try run(
                Self.someStreams, answer: answer, closesAfter: 500_000,
                [
                    "--engine", engine, "-n", "1", "-m", "1", "--retry", "connection", "--retry-attempts", "2",
                    "--retry-budget", "100%", "--give-up-after", "30s",
                ])
            #expect(result.failures == [cause: 1] && result.retries.attempts == attempts, "\(error)")
        }
    }

    @Test("A server that speaks HTTP/1 is named as one", arguments: ["wire", "nghttp2"])
    func http1(_ engine: String) throws {
        let (result, status, error) = try run(
            Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8), ["--engine", engine, "-n", "20"])
        #expect(status == 1 && result.notSent == ["not_http2": 20], "\(error)")
        #expect(error.contains("the peer speaks HTTP/1, not HTTP/2"), "\(error)")
    }

    @Test("A server that answers with TLS is named as one", arguments: ["wire", "nghttp2"])
    func tls(_ engine: String) throws {
        let (result, status, error) = try run([0x15, 3, 3, 0, 2, 2, 70], ["--engine", engine, "-n", "20"])
        #expect(status == 1 && result.notSent == ["not_http2": 20], "\(error)")
        #expect(error.contains("the peer speaks TLS, and was spoken to without"), "\(error)")
    }

    @Test("Answers that came while the generator itself stood still are answers, however late they are read")
    func stall() throws {
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload",
            [
                "run", "--json", "--output", output.path, "-D", "6s", "-m", "50", "--rtt", "20ms", "--timeout", "2s",
                "--ping-interval", "1s", "--ping-timeout", "1s",
            ])
        try run.waitForError(" in flight ")
        kill(run.process.processIdentifier, SIGSTOP)
        sleep(5)
        kill(run.process.processIdentifier, SIGCONT)
        let finished = try run.wait()
        let result = try ResultFile.decode(Array(finished.output.utf8), origin: finished.error)
        #expect(finished.status == 0 && result.pushes.failed == 0 && result.connections.lost == 0, "\(finished.error)")
        // What was open then waited for as long as it did.
        #expect(result.latency[.total].max > 4_900_000_000, "\(result.latency[.total])")
    }
}
