import Foundation
import Testing

@testable import Backend

/// The backend in HTTP/2.
@Suite struct FramedBackendTests {
    private func started(_ change: (inout BackendConfiguration) -> Void = { _ in }) throws -> BackendServer {
        var configuration = BackendConfiguration()
        change(&configuration)
        return try BackendServer(configuration)
    }

    private func get(_ stream: Int, _ path: String) -> [UInt8] { FramedPeer.headers(stream, "GET", path) }

    @Test("Requests on many streams at once are answered on their own, each is counted once, and one store serves all")
    func streams() throws {
        let server = try started()
        let peer = try FramedPeer(port: server.port)
        peer.send(FramedPeer.post(1, "/api/notifications", #"{"message":"hi"}"#))
        peer.read([1])
        #expect(peer.answers[1]?.status == "201" && peer.answers[1]?.body == Array("{\"id\":1}\n".utf8))
        peer.send(
            get(3, "/api/notifications/1") + get(5, "/api/notifications/1") + get(7, "/api/notifications/2")
                + FramedPeer.post(9, "/api/actions", #"{"device":"00Aa","notification":1,"action":"more"}"#)
                + FramedPeer.headers(11, "HEAD", "/attachments/20KiB.jpg") + get(13, "/nothing?a=b")
                + get(15, "/attachments/0KiB") + FramedPeer.headers(17, "GET", "/stats", [("host", "b")])
                + FramedPeer.headers(19, "GET", "/stats", [("origin", "http://evil.example")])
                + FramedPeer.headers(21, "GET", "stats"))
        peer.read([3, 5, 7, 9, 11, 13, 15, 17, 19, 21])
        let statuses = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21].map { peer.answers[$0]?.status }
        #expect(statuses == ["200", "200", "404", "201", "200", "404", "200", "200", "403", "400"])
        #expect(peer.answers[3]?.body.count == 10_240 && peer.answers[11]?.body.isEmpty == true)
        let second = try FramedPeer(port: server.port)
        second.send(get(1, "/api/notifications/1"))
        second.read([1])
        #expect(second.answers[1]?.status == "200")
        server.stop()
        let counts = server.report.counts
        #expect(counts.requests == 11 && counts[.created] == 1 && counts[.fetched] == 1 && counts[.fetchedAgain] == 2)
        #expect(counts[.actions] == 1 && counts[.attachments] == 2 && counts[.unknownID] == 1 && counts[.refused] == 3)
    }

    @Test("Rules reset and silence streams, not their connection, and delay one answer without the others")
    func faults() throws {
        var (resetting, silent, late) = (BackendFaults.Rule(), BackendFaults.Rule(), BackendFaults.Rule())
        (resetting.kinds, resetting.resetShare) = ([.action], 1)
        (silent.kinds, silent.silentShare) = ([.create], 1)
        (late.kinds, late.latency) = ([.fetch], .fixed(200_000_000))
        let server = try started {
            $0.faults.rules = [resetting, silent, late]
            $0.limits.answer = 500_000_000
        }
        let peer = try FramedPeer(port: server.port)
        peer.send(
            FramedPeer.post(1, "/api/actions", "{}") + FramedPeer.post(3, "/api/notifications", "{}")
                + get(5, "/api/notifications/9") + get(7, "/attachments/1KiB"))
        peer.read([7])
        #expect(peer.answers[7]?.status == "200" && peer.answers[5] == nil)
        peer.read([1, 3, 5])
        #expect(peer.answers[1]?.reset == 2 && peer.answers[3]?.reset == 8 && peer.answers[5]?.status == "404")
        peer.send(get(9, "/attachments/1KiB"))
        peer.read([9])
        #expect(peer.answers[9]?.status == "200" && peer.goAway == nil)
        server.stop()
        let counts = server.report.counts
        #expect(counts[.resetByRule] == 1 && counts[.silencedByRule] == 1 && counts.requests == 5)
    }

    @Test(
        "Requests with too large a body or head, or that never complete, are refused and counted; their connection goes on"
    )
    func bounds() throws {
        let server = try started {
            $0.limits.body = 2048
            $0.limits.request = 1_000_000_000
        }
        let peer = try FramedPeer(port: server.port)
        let path = "/api/notifications"
        let bomb = (0..<30).map { ("x-\($0)", String(repeating: "a", count: 500)) }
        peer.send(
            FramedPeer.headers(1, "POST", path, [("content-length", "2049")], ends: false)
                + FramedPeer.frame(0, 0, 1, [UInt8](repeating: 0x7B, count: 1000))
                + FramedPeer.headers(3, "POST", path, ends: false)
                + FramedPeer.frame(0, 0, 3, [UInt8](repeating: 0x7B, count: 2049))
                + FramedPeer.headers(5, "GET", "/stats", bomb)
                + FramedPeer.headers(7, "POST", path, ends: false)
                + get(9, "/attachments/\(String(repeating: "1", count: 16_000))"))
        peer.read([1, 3, 5, 7, 9])
        let statuses = [1, 3, 5, 7, 9].map { peer.answers[$0]?.status }
        #expect(statuses == ["413", "413", "200", "408", "404"])
        // A field that the table holds, again and again: 64 bytes of block are 256 KB of head.
        let large = [0x40, 1, 0x78, 0x7F, 0xA1, 0x1E] + [UInt8](repeating: 0x61, count: 4000)
        let head = FramedPeer.headers(11, "GET", "/stats")
        let block = head[9...] + large + [UInt8](repeating: 0xBE, count: 64)
        peer.send(FramedPeer.frame(1, 5, 11, Array(block)))
        peer.read([11])
        #expect(peer.answers[11]?.status == "431", "\(peer.answers[11] as Any) \(peer.goAway as Any)")
        peer.send(get(13, "/stats"))
        peer.read([13])
        #expect(peer.answers[13]?.status == "200" && peer.goAway == nil)
        server.stop()
        #expect(server.report.counts[.refused] == 5 && server.report.counts.requests == 5)
    }

    @Test("Streams that are reset as fast as they come end their connection, and nobody else's")
    func rapidReset() throws {
        let server = try started()
        let peer = try FramedPeer(port: server.port)
        for number in 0..<3000 where !peer.isClosed {
            let stream = number * 2 + 1
            peer.send(get(stream, "/attachments/1KiB") + FramedPeer.frame(3, 0, stream, FramedPeer.word(8)))
        }
        peer.read { $0.goAway != nil }
        #expect(peer.goAway == 11)
        let other = try FramedPeer(port: server.port)
        other.send(get(1, "/attachments/1KiB"))
        other.read([1])
        #expect(other.answers[1]?.status == "200")
        server.stop()
    }

    @Test("A client that reads nothing of large answers holds one connection only for so long, whatever its windows")
    func neverReads() throws {
        let server = try started { $0.limits.answer = 10_000_000_000 }
        let greedy = try FramedPeer(port: server.port, window: 0x7FFF_FFFF)
        greedy.send(FramedPeer.frame(8, 0, 0, FramedPeer.word(0x7FFF_0000 - 65_535)))
        for number in 0..<50 { greedy.send(get(number * 2 + 1, "/attachments/10MiB")) }
        let other = try FramedPeer(port: server.port)
        other.send(get(1, "/attachments/1MiB"))
        other.read([1])
        #expect(other.answers[1]?.body.count == 1 << 20)
        for _ in 0..<120_000 where server.report.open > 1 { usleep(1000) }
        #expect(server.report.open == 1)
        // Not one answer after the other was made for it: no more than wait, and what a round may hold.
        #expect(server.report.counts[.attachments] < 12)
        server.stop()
    }

    @Test("Large answers come whole through small windows, several at once")
    func slowReader() throws {
        let server = try started()
        let peer = try FramedPeer(port: server.port, window: 20_000)
        for stream in [1, 3, 5] { peer.send(get(stream, "/attachments/3MiB")) }
        peer.read([1, 3, 5])
        for stream in [1, 3, 5] { #expect(peer.answers[stream]?.body == BackendPages.filler(3 << 20)) }
        server.stop()
        #expect(server.report.counts[.attachments] == 3)
    }
}
