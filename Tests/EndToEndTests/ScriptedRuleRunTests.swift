import Foundation
import Results
import Testing

/// Rules that say exactly what happens, as other people's client sees them (nghttp), and what pushload makes of them.
@Suite(.serialized, .waitsForPrograms) struct ScriptedRuleRunTests {
    private static let device = String(repeating: "0a", count: 32)

    /// Sends pushes with nghttp, all at once.
    ///
    /// - Returns: what it tells of the frames, and what the mock counted.
    private func send(_ count: Int, by rules: String) throws -> (frames: String, report: String) {
        let folder = try OutputFolder.made()
        try "{seed: 1, rules: [\(rules)]}".write(
            toFile: folder.path + "/faults.yaml", atomically: true, encoding: .utf8)
        try "{\"aps\":{}}".write(toFile: folder.path + "/payload", atomically: true, encoding: .utf8)
        let mock = try Mock(["--faults", folder.path + "/faults.yaml"], plaintext: true)
        let token = try Programs.run("pushload", ["token", "--credentials", mock.folder]).output
        let finished = try Programs.run(
            "/usr/bin/nghttp",
            [
                "-v", "-n", "--no-dep", "-m", String(count), "-d", folder.path + "/payload", "-H", ":method: POST",
                "-H",
                "authorization: \(token.trimmingCharacters(in: .whitespacesAndNewlines))", "-H",
                "apns-topic: com.example.app", "\(mock.url)/3/device/\(Self.device)",
            ])
        return (finished.output + finished.error, try mock.stop().output)
    }

    /// The streams that were answered, in the order of their answers.
    private func answered(_ frames: String) -> [Int] {
        frames.matches(of: /recv \(stream_id=(\d+)\) :status: 200/).compactMap { Int($0.1) }
    }

    @Test("nghttp gets the answers of a batch in reverse")
    func reversed() throws {
        let sent = try send(4, by: "{batch: 4, within: 1h, order: reversed}")
        #expect(answered(sent.frames) == [7, 5, 3, 1], "\(sent.frames)")
    }

    @Test("nghttp is told a last stream below what is in flight, and gets answers to those up to it")
    func goAway() throws {
        let sent = try send(
            4, by: "{batch: 4, within: 1h, goaway: {keep: 2, code: ENHANCE_YOUR_CALM, debug: slow down}}")
        #expect(
            sent.frames.contains("(last_stream_id=3, error_code=ENHANCE_YOUR_CALM(0x0b), opaque_data(9)=[slow down])"))
        #expect(answered(sent.frames) == [1, 3] && sent.frames.contains("total=4, processed=2"), "\(sent.frames)")
        #expect(sent.report.contains("requests 4: accepted 2, rejected 0\n  not handled, by a fault rule 2\n"))
        let twice = try send(3, by: "{batch: 3, within: 1h, goaway: {keep: 1, twice: true, pause: 20ms}}")
        #expect(twice.frames.contains("(last_stream_id=2147483647, error_code=NO_ERROR(0x00)"), "\(twice.frames)")
        #expect(twice.frames.contains("(last_stream_id=1, error_code=NO_ERROR(0x00)") && answered(twice.frames) == [1])
    }

    @Test("nghttp gets PING, trailers, an answer cut off, one after RST_STREAM, and a connection reset")
    func answers() throws {
        let trailers = try send(1, by: "{ping: 1, answer: {status: 200, body: hi, trailers: {grpc-status: 14}}}")
        #expect(trailers.frames.contains("recv PING frame <length=8, flags=0x00, stream_id=0>"), "\(trailers.frames)")
        #expect(trailers.frames.contains("recv (stream_id=1) grpc-status: 14"), "\(trailers.frames)")
        let short = try send(1, by: "{answer: {status: 200, headers: {content-length: 500}, body: short}}")
        // It has found out itself.
        #expect(
            short.frames.contains("send RST_STREAM") && short.frames.contains("PROTOCOL_ERROR(0x01)"), "\(short.frames)"
        )
        let late = try send(1, by: "{answer: {status: 200, after_reset: true}, reset_code: CANCEL}")
        #expect(late.frames.contains("error_code=CANCEL(0x08)") && answered(late.frames).isEmpty, "\(late.frames)")
        let closed = try send(1, by: "{close: rst}")
        #expect(closed.frames.contains("total=1, processed=0"), "\(closed.frames)")
        #expect(closed.report.contains("  not handled, by a fault rule 1\n"), "\(closed.report)")
    }

    @Test("What GOAWAY names as not handled is sent again by pushload, and arrives once", arguments: Programs.engines)
    func sentAgain(_ engine: String) throws {
        for goAway in ["{keep: 4}", "{keep: 4, twice: true, pause: 20ms}", "{last_stream: -3}"] {
            let folder = try OutputFolder.made()
            let file = folder.path + "/faults.yaml"
            try "{seed: 1, rules: [{next: 40, batch: 10, within: 50ms, order: shuffled, goaway: \(goAway)}]}"
                .write(toFile: file, atomically: true, encoding: .utf8)
            let (result, status, error) = try Programs.load([
                "-n", "2000", "-m", "50", "-c", "2", "--engine", engine, "--mock-flags", "--faults \(file)",
            ])
            #expect(status == 0 && result.pushes.accepted == 2000, "\(goAway): \(error)")
            #expect(
                result.pushes.lost == 0 && result.pushes.duplicated == 0 && result.connections.goAways > 0, "\(goAway)")
        }
    }
}
