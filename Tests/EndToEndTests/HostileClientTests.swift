import Foundation
import HTTP2
import Networking
import Testing

/// A client that writes raw bytes and need not read.
final class RawClient {
    let stream: ByteStream

    /// - Parameter preface: it speaks HTTP/2.
    init(port: String, preface: Bool = true) throws {
        stream = try SocketStream(
            connectingTo: try SocketAddress(host: "127.0.0.1", port: UInt16(port)!), serverName: "127.0.0.1", tls: nil,
            options: SocketOptions())
        for _ in 0..<2000 {
            if stream.advance() == .done { break }
            usleep(500)
        }
        if preface { write(Frame.preface + Self.frame(Frame.settings, 0, 0, [])) }
    }

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 9)
        Frame.writeHeader(length: payload.count, type: type, flags: flags, stream: stream, into: &bytes)
        return bytes + payload
    }

    /// A request's header block without indexing: POST to a device.
    static let request: [UInt8] = {
        let path = Array("/3/device/\(String(repeating: "ab", count: 32))".utf8)
        return [0x83, 0x86, 0x01, 1, 0x61, 0x04, UInt8(path.count)] + path
    }()

    /// Writes as long as the peer takes it, at most two seconds of being stuck; false when the connection is over.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        var stuck = 0
        while offset < bytes.count {
            let result = bytes.withUnsafeBufferPointer {
                stream.write($0.baseAddress! + offset, count: bytes.count - offset)
            }
            switch result {
            case .bytes(let count):
                offset += count
                stuck = 0
            case .wouldBlock:
                stuck += 1
                if stuck > 200 { return true }
                usleep(1000)
            case .endOfStream, .failed: return false
            }
        }
        return true
    }
}

extension RawClient {
    /// Reads what there is; true when the peer has closed the connection.
    var isOver: Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            switch stream.read(into: &buffer, capacity: buffer.count) {
            case .bytes: continue
            case .wouldBlock: return false
            case .endOfStream, .failed: return true
            }
        }
    }
}

extension Running {
    /// Of the process: its most memory so far, kB.
    var peakMemory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }?.filter(\.isNumber) ?? ""
        return Int(peak) ?? .max
    }
}

@Suite(.serialized, .waitsForPrograms) struct HostileClientTests {
    private func check(_ name: String, _ attack: (RawClient, UInt64) -> Void) throws {
        let mock = try Mock(plaintext: true)
        let seed = UInt64.random(in: .min ... .max)
        var clients: [RawClient] = []
        for number in 0..<5 {
            let client = try RawClient(port: mock.port)
            attack(client, seed &+ UInt64(number))
            clients.append(client)
        }
        // Everybody else is still served.
        let token = try Programs.run("pushload", ["token", "--credentials", mock.folder]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let answer = try Programs.run(
            "/usr/bin/curl",
            [
                "-s", "--http2-prior-knowledge", "-H", "authorization: \(token)", "-H", "apns-topic: com.example.app",
                "-d",
                "{\"aps\":{}}", "-w", "%{http_code}", "\(mock.url)/3/device/\(String(repeating: "0a", count: 32))",
            ])
        #expect(answer.output == "200", "\(name), seed \(seed): \(answer.output) \(mock.running.errorText)")
        let limit = Programs.isSanitized ? 600_000 : 150_000
        let peak = mock.running.peakMemory
        #expect(peak < limit, "\(name), seed \(seed): peak memory \(peak) kB")
        withExtendedLifetime(clients) {}
        _ = try mock.stop()
    }

    @Test("Streams opened and reset at once, again and again, cost the mock neither memory nor its other clients")
    func rapidReset() throws {
        try check("rapid reset") { client, _ in
            var stream: Int32 = 1
            for _ in 0..<100 {
                var bytes: [UInt8] = []
                for _ in 0..<300 {
                    bytes += RawClient.frame(Frame.headers, Frame.endHeaders, stream, RawClient.request)
                    bytes += RawClient.frame(Frame.reset, 0, stream, [0, 0, 0, 8])
                    stream += 2
                }
                if !client.write(bytes) { return }
            }
        }
    }

    @Test("Floods of PING and SETTINGS whose answers nobody reads are bounded")
    func floods() throws {
        for (type, payload) in [
            (Frame.ping, [UInt8](repeating: 1, count: 8)), (Frame.settings, [0, 4, 0, 0, 255, 255]),
        ] {
            try check("flood of type \(type)") { client, _ in
                let bytes = Array((0..<2000).map { _ in RawClient.frame(type, 0, 0, payload) }.joined())
                for _ in 0..<100 where !client.write(bytes) { return }
            }
        }
    }

    @Test("Requests that never end hold a bounded part of their headers and payload")
    func unfinished() throws {
        try check("unfinished") { client, _ in
            for stream in stride(from: Int32(1), to: 4001, by: 2) {
                let headers = RawClient.frame(Frame.headers, Frame.endHeaders, stream, RawClient.request)
                let data = RawClient.frame(Frame.data, 0, stream, [UInt8](repeating: 0x20, count: 8000))
                if !client.write(headers + data) { return }
            }
        }
    }

    @Test("Header blocks without end, and header lists of megabytes, are cut off")
    func headers() throws {
        try check("continuation") { client, _ in
            guard client.write(RawClient.frame(Frame.headers, 0, 1, RawClient.request)) else { return }
            let name: [UInt8] = [0x00, 1, 0x78, 0x7F, 0x81, 0x7D] + [UInt8](repeating: 0x61, count: 16_000 + 127 + 1)
            let bytes = RawClient.frame(Frame.continuation, 0, 1, Array(name.prefix(16_384)))
            for _ in 0..<1000 where !client.write(bytes) { return }
        }
    }

    @Test(
        "curl is answered 431 for headers beyond 8 KB, in CONTINUATION frames as they come, and the next request as ever"
    )
    func largeHeaders() throws {
        let mock = try Mock(["--admin-port", "0"])
        let large = (1...4).map { "x-\($0): " + String(repeating: "x", count: 6000) }
        let answers = try ReasonTests.curl(mock, [.with { $0.headers += large }, .init()])
        #expect(answers == [" 431", " 200"])
        let stats = try Programs.run(
            "/usr/bin/curl", ["-s", "http://127.0.0.1:\(try mock.port(of: "admin"))/stats"]
        ).output
        #expect(stats.contains("\"oversized\":1") && stats.contains("\"requests\":1"), "\(stats)")
        _ = try mock.stop()
    }

    @Test("nghttp, whose windows stay shut, has its stream reset within --write-timeout; 0 waits for ever")
    func shutWindow() throws {
        let mock = try Mock(["--write-timeout", "300ms"], plaintext: true)
        // A window of 2^0-1 bytes, and no token: 403 with a body.
        let done = try Programs.run(
            "/usr/bin/nghttp", ["-v", "--window-bits=0", "--timeout=20", "-d", "/dev/null", mock.url + "/3/device/0a"])
        #expect(done.output.contains(":status: 403") && done.output.contains("recv RST_STREAM frame"), "\(done.output)")
        #expect(done.output.contains("error_code=CANCEL(0x08)"))
        let waiting = try Mock(["--write-timeout", "0"], plaintext: true)
        let timedOut = try Programs.run(
            "/usr/bin/nghttp",
            ["-v", "--window-bits=0", "--timeout=2", "-d", "/dev/null", waiting.url + "/3/device/0a"])
        #expect(timedOut.output.contains(":status: 403") && !timedOut.output.contains("RST_STREAM"))
        _ = try mock.stop()
        _ = try waiting.stop()
    }

    @Test("Random frames, with a printed seed")
    func noise() throws {
        try check("noise") { client, seed in
            var state = seed
            func random(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % bound
            }
            for _ in 0..<2000 {
                let payload = (0..<random(100)).map { _ in UInt8(random(256)) }
                let good = random(2) == 0
                let frame =
                    good
                    ? RawClient.frame(
                        Frame.headers, Frame.endHeaders | Frame.endStream, Int32(1 + 2 * random(3000)),
                        RawClient.request)
                    : RawClient.frame(UInt8(random(12)), UInt8(random(256)), Int32(random(50)), payload)
                if !client.write(frame) { return }
            }
        }
    }
}
