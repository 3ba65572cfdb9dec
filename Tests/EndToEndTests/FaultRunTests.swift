import Foundation
import Results
import Settings
import Testing

/// Runs against a mock that misbehaves or is far away: whatever happens, every push has exactly one outcome.
@Suite(.serialized, .waitsForPrograms) struct FaultRunTests {
    @Test(
        "Resets, GOAWAYs, lost connections, 503s and answers that never come are all accounted for",
        arguments: Programs.engines)
    func faults(_ engine: String) throws {
        let (result, status, error) = try Programs.load([
            "-n", "20k", "-c", "4", "-m", "200", "--engine", engine, "--timeout", "2s", "--mock-flags",
            "--fault-seed 5 --reset 1% --goaway-after 2000 --tcp-reset-every 300ms --reject ServiceUnavailable=2% "
                + "--silent 0.5% --latency 'uniform 1ms 20ms'",
        ])
        #expect(status == 1, "\(error)")
        #expect(result.pushes.planned == 20_000 && result.pushes.lost == 0 && result.pushes.duplicated == 0)
        // Of 100 pushes that the mock reads it rejects 2 and resets 1, and 96.5 are accepted unless their connection is lost
        // before the answer; how many are lost is a matter of time.
        let accepted = Double(result.pushes.accepted)
        func deviation(_ count: UInt64, _ expected: Double) -> Double {
            (Double(count) - expected) / expected.squareRoot()
        }
        let unavailable = result.reasons["ServiceUnavailable"] ?? 0
        #expect(accepted > 2_000 && result.pushes.rejected == unavailable, "\(result.pushes)")
        #expect(abs(deviation(unavailable, accepted * 2 / 96.5)) < 5, "\(result.reasons) \(result.pushes)")
        // Resets do not wait, and are not lost.
        let resets = result.failures["stream_reset_INTERNAL_ERROR"] ?? 0
        #expect(deviation(resets, accepted / 96.5) > -5 && resets <= 270, "\(result.failures) \(result.pushes)")
        #expect(result.failures.values.reduce(0, +) == result.pushes.failed)
        #expect(result.notSent.values.reduce(0, +) == result.pushes.notSent)
        #expect(result.connections.goAways + result.connections.lost > 0, "\(result.connections)")
    }

    @Test("What a slow mock has not taken yet from TLS is taken when there is room: nothing is left lying")
    func slowReading() throws {
        for flags in ["--slow-reading 64KiB/s", "--bandwidth 64KiB/s --rtt 20ms --all-streams-at-once"] {
            let (result, status, error) = try Programs.load([
                "-n", "1000", "-m", "1000", "--timeout", "40s", "--ping-interval", "1h", "--mock-flags", flags,
            ])
            #expect(status == 0 && result.pushes.accepted == 1000, "\(flags): \(result.failures) \(error)")
        }
    }

    @Test("A single rule changes exactly the share of the pushes it names", arguments: Programs.engines)
    func shares(_ engine: String) throws {
        let (result, _, _) = try Programs.load([
            "-n", "5000", "--engine", engine, "--expect-reasons", "Unregistered", "--mock-flags",
            "--fault-seed 1 --reject Unregistered=20%",
        ])
        #expect(result.statuses["410"] == result.pushes.rejected && (850...1150).contains(result.pushes.rejected))
        #expect(result.pushes.accepted + result.pushes.rejected == 5000 && result.pushes.lost == 0)
    }

    @Test("No answer comes sooner than the emulated link allows", arguments: Programs.engines)
    func roundTrip(_ engine: String) throws {
        let (result, status, error) = try Programs.load([
            "-n", "3000", "-m", "500", "-c", "2", "--engine", engine, "--rtt", "60ms", "--mock-flags", "--jitter 2ms",
        ])
        #expect(status == 0, "\(error)")
        #expect(result.latency[.roundTrip].min >= 59_990_000 && result.pushes.accepted == 3000)
        // Little's law: no more than streams × connections a round trip.
        #expect(Double(result.pushes.accepted) / result.run.durationSeconds <= 500 * 2 / 0.060)
    }

    @Test("No more bytes a second get through than the link's bandwidth")
    func bandwidth() throws {
        let (result, status, error) = try Programs.load([
            "-n", "2000", "-m", "100", "--mock-flags", "--bandwidth 8Mbit/s",
        ])
        #expect(status == 0, "\(error)")
        // At least 200 bytes of payload each, at 1 MB/s, after what the buffers take.
        #expect(result.run.durationSeconds >= (2000.0 * 200 - 100_000) / 1_000_000)
    }

    @Test(
        "Small windows, few and changing streams, slow reading and stalls slow a run but lose nothing",
        arguments: [
            "--stream-window 100B", "--connection-window 65535B --stream-window 1B", "--max-concurrent-streams 3",
            "--slow-reading 256KiB/s", "--stall 50ms/200ms", "--handshake-failures 50% --fault-seed 3",
            "--max-frame-size 16KiB --header-table-size 0",
        ])
    func narrow(_ flags: String) throws {
        for engine in Programs.engines {
            let (result, status, error) = try Programs.load([
                "-n", "1000", "-m", "100", "-c", "2", "--engine", engine, "--mock-flags", flags,
            ])
            #expect(status == 0 && result.pushes.accepted == 1000 && result.pushes.lost == 0, "\(engine): \(error)")
        }
    }

    @Test("SETTINGS that change during the connection are followed", arguments: Programs.engines)
    func settings(_ engine: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try """
        connections:
          repeat_settings: true
          settings:
            - {after: 20ms, max_concurrent_streams: 5, stream_window: 400B, header_table_size: 0}
            - {after: 20ms, max_concurrent_streams: 500, stream_window: 65535B, header_table_size: 4KiB, max_frame_size: 20000B}
            - {after: 20ms, max_concurrent_streams: 0}
            - {after: 20ms, max_concurrent_streams: 50, stream_window: 0}
            - {after: 20ms, stream_window: 1000B}
        """.write(to: file, atomically: true, encoding: .utf8)
        let (result, status, error) = try Programs.load([
            "-D", "2s", "--rate", "1k", "-m", "200", "--engine", engine, "--mock-flags", "--faults \(file.path)",
        ])
        #expect(status == 0 && result.pushes.accepted == 2000 && result.pushes.lost == 0, "\(error)")
    }

    /// A run against a mock with one rule.
    private func ruled(_ rule: String, _ arguments: [String]) throws -> (Results.ResultDocument, status: Int32) {
        let folder = try OutputFolder.made()
        let file = folder.path + "/rules.yaml"
        try "rules:\n  - \(rule)\n".write(toFile: file, atomically: true, encoding: .utf8)
        let (result, status, _) = try Programs.load(
            arguments + ["--mock-flags", "--faults \(file)", "--threshold", "rate >= 0"])
        return (result, status)
    }

    @Test(
        "An expired provider token is replaced by another, once, and what it was refused for is sent again",
        arguments: Programs.engines)
    func expiredToken(_ engine: String) throws {
        let load = ["-n", "200", "-m", "20", "--engine", engine]
        let (result, status) = try ruled("{times: 1, reject: ExpiredProviderToken}", load)
        #expect(status == 0 && result.pushes.accepted == 200 && result.pushes.lost == 0, "\(result.notes)")
        #expect(result.pushes.retried == 1 && result.cost.tokensSigned == 2 && result.statuses == ["200": 200])
        #expect(result.notes.contains { $0.hasSuffix("1 other one signed, 1 push sent again") }, "\(result.notes)")
        // Without end, one is all there is.
        let (all, _) = try ruled("{reject: ExpiredProviderToken}", load)
        #expect(all.pushes.rejected == 200 && all.cost.tokensSigned == 2 && all.pushes.retried <= 20, "\(all.pushes)")
        let sent = Units.counted(all.pushes.retried, "push")
        #expect(
            all.notes.contains {
                $0.contains("1 other one signed, \(sent) sent again; 200 pushes refused with that too, and Apple lets")
            }, "\(all.notes)")
        // What may not be sent again is not; those after it have the other token all the same.
        let (once, _) = try ruled("{times: 1, reject: ExpiredProviderToken}", load + ["--retry-limit", "0"])
        #expect(
            once.pushes.accepted == 199 && once.pushes.rejected == 1 && once.cost.tokensSigned == 2, "\(once.pushes)")
        #expect(once.notes.contains { $0.hasSuffix("1 other one signed, 0 pushes sent again") }, "\(once.notes)")
    }

    @Test(
        "What 503 asks for in Retry-After is waited for, unless it is longer than a push may take",
        arguments: Programs.engines)
    func retryAfter(_ engine: String) throws {
        let load = ["-n", "20", "--engine", engine, "--retry", "5xx", "--retry-backoff", "1ms"]
        let (result, status) = try ruled("{times: 5, reject: 503, retry_after: 1s}", load)
        #expect(status == 0 && result.pushes.accepted == 20 && result.retries.recovered == 5, "\(result.notes)")
        #expect(result.run.durationSeconds >= 1)
        let (late, _) = try ruled("{times: 5, reject: 503, retry_after: 31s}", load)
        #expect(late.pushes.rejected == 5 && late.retries.attempts == 0 && late.retries.exhausted == 0)
        #expect(late.notes.contains { $0.hasPrefix("5 pushes not sent again: ") }, "\(late.notes)")
    }

    @Test("Flags of the bundled mock that cannot be used end the run with their reason")
    func badFlags() throws {
        let finished = try Programs.run("pushload", ["run", "-n", "10", "--mock-flags", "--rtt far"])
        #expect(finished.status != 0)
        #expect(finished.error.contains("mock-apns: --rtt: \"far\" is not a duration"), "\(finished.error)")
    }
}
