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
            // Not before: its number may be another server's at once.
            close(listener)
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

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
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
        [["-n", "20"], ["-D", "30s"], ["-D", "1s"], ["--rate", "100", "-D", "1s"]])
    func noStream(_ engine: String, _ load: [String]) throws {
        let (result, status, error) = try run(Self.noStreams, ["--engine", engine] + load)
        #expect(status == 1 && result.pushes.accepted == 0 && result.pushes.failed == 0, "\(error)")
        #expect(result.connections.opened == 1 && !result.run.interrupted, "\(error)")
        let why = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS 0)"
        if load[0] == "-D" {
            #expect(error.contains("no push could be sent: \(why)"), "\(error)")
        } else {
            #expect(result.notSent == ["no_stream": result.pushes.planned] && result.pushes.planned >= 20, "\(error)")
            #expect(error.contains(" were not sent: no_stream \(result.pushes.planned): \(why)"), "\(error)")
        }
        #expect(!error.contains("were lost") && !error.contains("no connection for the last"), "\(error)")
    }

    @Test(
        "A server that stops allowing streams before the time is over is no good run, in a closed loop and an open one")
    func streamsTaken() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("taken-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "connections: {settings: [{after: 1s, max_concurrent_streams: 0}]}".write(
            to: file, atomically: true, encoding: .utf8)
        let why = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS 0)"
        let flags = ["-c", "2", "-m", "4", "-D", "3s", "--mock-flags", "--latency=5ms --faults \(file.path)"]
        let (closed, status, error) = try Programs.load(flags)
        #expect(status == 1 && closed.pushes.accepted > 0 && !closed.run.complete, "\(error)")
        #expect(
            error.contains("no push could be sent for the last ") && error.contains(" of 3.00 s: \(why)"), "\(error)")
        let (open, exit, said) = try Programs.load(flags + ["--rate", "100"])
        #expect(exit == 1 && Array(open.notSent.keys) == ["no_stream"], "\(said)")
        #expect(said.contains("were not sent: no_stream \(open.pushes.notSent): \(why)"), "\(said)")
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
        #expect(
            error.contains("the server speaks HTTP/1, not HTTP/2: it answered \"HTTP/1.1 400 Bad Request\""), "\(error)"
        )
        #expect(result.connections.connectFailures == 1, "\(error)")
    }

    @Test(
        "A server that answers with a page or a text is named at once, and its first line quoted",
        arguments: ["wire", "nghttp2"])
    func text(_ engine: String) throws {
        for (said, line) in [
            ("<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n", "HTTP/1, not HTTP/2: it answered \"<!DOCTYPE HTML>\""),
            ("SSH-2.0-OpenSSH_9.2\r\n", "no HTTP/2: it answered \"SSH-2.0-OpenSSH_9.2\""),
        ] {
            let (result, status, error) = try run(Array(said.utf8), ["--engine", engine, "-n", "20"])
            #expect(status == 1 && result.notSent == ["not_http2": 20], "\(error)")
            #expect(error.contains("the server speaks \(line)"), "\(error)")
            #expect(result.connections.connectFailures == 1, "\(error)")
        }
    }

    @Test(
        "http:// to a TLS port is named so, also where a web server answers it in words",
        arguments: ["wire", "nghttp2"])
    func plainToTLS(_ engine: String) throws {
        let page =
            "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nConnection: close\r\n\r\n<html>\r\n<head><title>400 The plain HTTP "
            + "request was sent to HTTPS port</title></head>\r\n"
        let (result, status, error) = try run(Array(page.utf8), ["--engine", engine, "-n", "20"])
        #expect(status == 1 && result.notSent == ["not_http2": 20], "\(error)")
        #expect(error.contains("the target speaks TLS: use https://"), "\(error)")
        #expect(!error.contains("HTTP/1, not HTTP/2") && result.connections.connectFailures == 1, "\(error)")
    }

    @Test(
        "GOAWAY as the first frame, or read with SETTINGS, is shown with its code and debug data",
        arguments: ["wire", "nghttp2"])
    func goAwayFirst(_ engine: String) throws {
        let debugData = Array("too many connections".utf8)
        let frame: [UInt8] = [0, 0, UInt8(8 + debugData.count), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11] + debugData
        for bytes in [frame, Self.someStreams + frame] {
            let (result, status, error) = try run(bytes, ["--engine", engine, "-n", "20"])
            #expect(status == 1 && result.connections.opened == 0, "\(error)")
            #expect(result.notSent == ["connection_closed": 20], "\(error)")
            #expect(
                Array(result.connections.ends.keys) == ["goaway ENHANCE_YOUR_CALM too many connections"], "\(error)")
            #expect(
                error.contains("the server refused the connection: GOAWAY ENHANCE_YOUR_CALM \"too many connections\""),
                "\(error)")
        }
    }

    /// :status 503 as a literal (RFC 7541 section 6.2.2), then DATA.
    private static func unavailable(_ body: String) -> [UInt8] {
        [0, 0, 5, 1, 4, 0, 0, 0, 1] + [0x08, 3] + Array("503".utf8)
            + [0, UInt8(body.utf8.count >> 8), UInt8(body.utf8.count & 0xFF), 0, 1, 0, 0, 0, 1] + Array(body.utf8)
    }

    @Test(
        "A 503 without a reason has its status in every place, its body in a note, and can be expected",
        arguments: ["wire", "nghttp2"])
    func withoutReason(_ engine: String) throws {
        let body =
            "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n"
            + String(repeating: "x", count: 300) + "</body></html>\n"
        let answer = Self.unavailable(body)
        let arguments = ["--engine", engine, "-n", "1", "-m", "1"]
        let (result, status, error) = try run(Self.someStreams, answer: answer, arguments)
        #expect(status == 1 && result.reasons == ["(none)": 1] && result.statuses == ["503": 1], "\(error)")
        #expect(
            error.contains("pushes were rejected: 503 without a reason 1 (accept with --expect-reasons none)"),
            "\(error)")
        let note = try #require(result.notes.first { $0.hasPrefix("first rejection without a reason: ") })
        let start =
            "first rejection without a reason: 503, \"<html><body><h1>503 Service Unavailable</h1> No server is "
            + "available to handle this request. xxx"
        // 200 bytes of it.
        #expect(
            note.hasPrefix(start) && note.utf8.count == "first rejection without a reason: 503, \"\"".utf8.count + 200,
            "\(note)")
        for expected in ["none", "503", "Unregistered,none", "OfAnotherServer,503"] {
            let (_, status, error) = try run(
                Self.someStreams, answer: answer, arguments + ["--expect-reasons", expected])
            #expect(status == 0, "\(expected): \(error)")
        }
        for expected in ["502", "OfAnotherServer", "Unregisterd"] {
            let (result, status, error) = try run(
                Self.someStreams, answer: answer, arguments + ["--expect-reasons", expected])
            #expect(status == 1, "\(expected): \(error)")
            #expect(
                result.notes.filter { $0.hasPrefix("expect_reasons ") }
                    == (expected == "Unregisterd"
                        ? ["expect_reasons Unregisterd: no answer had this reason; did you mean \"Unregistered\"?"]
                        : []))
        }
    }

    @Test("A server that answers with TLS is named as one", arguments: ["wire", "nghttp2"])
    func tls(_ engine: String) throws {
        let (result, status, error) = try run([0x15, 3, 3, 0, 2, 2, 70], ["--engine", engine, "-n", "20"])
        #expect(status == 1 && result.notSent == ["not_http2": 20], "\(error)")
        #expect(error.contains("the target speaks TLS: use https://"), "\(error)")
        #expect(result.connections.connectFailures == 1, "\(error)")
    }

    /// A web server of Node with the mock's certificate.
    private func node(_ mock: Mock, host: String = "127.0.0.1", _ create: String) throws -> (
        running: Running, port: String
    ) {
        let script =
            "const fs = require('fs'), keys = { cert: fs.readFileSync('\(mock.folder)/server.pem'), "
            + "key: fs.readFileSync('\(mock.folder)/server.key') };"
            + "const server = \(create); server.listen(0, '\(host)', () => console.log('port ' + server.address().port + ';'));"
        let running = try Programs.start("/usr/bin/env", ["node", "-e", script])
        try running.waitFor(";")
        return (running, String(running.text.dropFirst(5).prefix { $0 != ";" }))
    }

    @Test("A TLS server without HTTP/2 is named at once, with what to change", arguments: Programs.engines)
    func withoutHTTP2(_ engine: String) throws {
        let mock = try Mock()
        let (server, port) = try node(mock, "require('https').createServer(keys, (_, answer) => answer.end())")
        defer { server.process.terminate() }
        let (result, status, error) = try Programs.load([
            "-n", "10", "--target", "https://127.0.0.1:\(port)", "--credentials", mock.folder, "--engine", engine,
        ])
        #expect(status == 1 && result.notSent == ["not_http2": 10], "\(error)")
        #expect(result.connections.connectFailures == 1, "\(error)")
        #expect(
            error.contains("the server speaks TLS, but not HTTP/2") && error.contains("turn HTTP/2 on there"),
            "\(error)")
    }

    @Test("http:// to a TLS port is found out by asking it, whether it hangs up without a word or answers with HTTP/1")
    func silentTLS() throws {
        let mock = try Mock()
        for create in [
            "require('https').createServer(keys, (_, answer) => answer.end())",
            "require('http2').createSecureServer(keys, (_, answer) => answer.end())",
            // As nginx: it looks at the first byte.
            "require('net').createServer(socket => socket.once('data', bytes => { socket.pause();"
                + "if (bytes[0] === 22) { socket.unshift(bytes); secure.emit('connection', socket); process.nextTick(() => "
                + "socket.resume()) } else socket.end('HTTP/1.1 400 Bad Request\\r\\n\\r\\n') }).on('error', () => {}));"
                + "const secure = require('https').createServer(keys)",
        ] {
            let (server, port) = try node(mock, create)
            defer { server.process.terminate() }
            let (result, status, error) = try Programs.load([
                "-n", "10", "-c", "3", "--target", "http://127.0.0.1:\(port)", "--no-auth",
            ])
            #expect(status == 1 && result.notSent == ["not_http2": 10], "\(error)")
            #expect(error.contains("the target speaks TLS: use https://"), "\(error)")
            #expect(result.connections.ends["not_http2"] ?? 0 >= 3, "\(error)")
            #expect(result.connections.opened == 0 && result.connections.ends.count == 1, "\(error)")
        }
    }

    @Test("A certificate that does not name the host is told with the names it has, and what to do")
    func otherHost() throws {
        let mock = try Mock()
        let (server, port) = try node(
            mock, host: "127.0.0.2", "require('http2').createSecureServer(keys, (_, answer) => answer.end())")
        defer { server.process.terminate() }
        let (result, status, error) = try Programs.load([
            "-n", "10", "--target", "https://127.0.0.2:\(port)", "--credentials", mock.folder,
        ])
        #expect(status == 1 && result.notSent == ["certificate_untrusted": 10], "\(error)")
        #expect(result.connections.connectFailures == 1, "\(error)")
        #expect(
            error.contains(
                "the server's certificate names localhost, 127.0.0.1, ::1, not 127.0.0.2: use one of these in --target, or a "
                    + "certificate for 127.0.0.2"), "\(error)")
    }

    @Test(
        "A TLS server that requires a client certificate is named at once, in the handshake of TLS 1.2 and after that of 1.3",
        arguments: Programs.engines, ["TLSv1.2", "TLSv1.3"])
    func clientCertificate(_ engine: String, _ version: String) throws {
        let mock = try Mock()
        let (server, port) = try node(
            mock,
            "require('http2').createSecureServer({ ...keys, requestCert: true, rejectUnauthorized: true, "
                + "maxVersion: '\(version)' })")
        defer { server.process.terminate() }
        let (result, status, error) = try Programs.load([
            "-n", "10", "--target", "https://127.0.0.1:\(port)", "--credentials", mock.folder, "--engine", engine,
        ])
        #expect(status == 1 && result.notSent == ["client_certificate": 10], "\(error)")
        #expect(result.connections.connectFailures == 1, "\(error)")
        #expect(
            error.contains("the server requires a client certificate: give one with --cert and --cert-key"), "\(error)")
    }

    @Test("A client certificate that the server does not accept is named at once", arguments: ["1.2", "1.3"])
    func unacceptedCertificate(_ version: String) throws {
        let folder = try OutputFolder.withClientCertificate()
        let other = try Mock()
        let mock = try Mock(["--client-ca", other.folder + "/ca.pem", "--refuse-bad-certificates"])
        let (result, status, error) = try Programs.load([
            "-n", "10", "--target", mock.url, "--cacert", mock.folder + "/ca.pem", "--topic", "com.example.app",
            "--cert", folder.path + "/c.pem", "--cert-key", folder.path + "/k.pem", "--tls-max", version,
        ])
        #expect(status == 1 && result.notSent == ["client_certificate": 10], "\(error)")
        #expect(result.connections.connectFailures == 1, "\(error)")
        #expect(error.contains("the server did not accept the client certificate (--cert): "), "\(error)")
        withExtendedLifetime(other) {}
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
