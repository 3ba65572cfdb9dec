import Foundation
import Results
import Testing

/// Open loop against mocks whose speed is known: what must follow, counted.
@Suite(.serialized, .waitsForPrograms) struct OpenLoopTests {
    @Test("A stalled server shows in the total latency of all pushes that were due meanwhile, and not in service time")
    func stall() throws {
        // 1,000/s for 2 s; the server does nothing for the last 400 ms of the first second: about 400 pushes are late, by up
        // to 400 ms, and 20 streams can hold only 20 of them. The last stall may take a fifth of the pushes beyond the end.
        let flags = ["--mock-flags", "--stall 400ms/1s"]
        let (open, status, error) = try Programs.load(
            ["-D", "2s", "--rate", "1000", "-m", "20", "--threshold", "rate >= 0.5 * target"] + flags)
        #expect(status == 0 && open.pushes.accepted == 2000, "\(error)")
        let latency = open.latency
        #expect(latency[.total].count == 2000 && latency[.service].count == 2000 && latency[.late].count == 2000)
        // Of 2,000 pushes at least 1 in 20 came due more than 200 ms before the end of a stall, in each of two stalls.
        #expect(latency[.total].p90 > 50_000_000, "\(latency[.total])")
        #expect(latency[.total].p99 > 200_000_000, "\(latency[.total])")
        // In flight during a stall were only 20 of them: service time does not know of the others.
        #expect(latency[.service].p90 < latency[.total].p90 / 4, "\(latency[.service]) \(latency[.total])")
        #expect(open.notes.contains { $0.contains("later than they were due") }, "\(open.notes)")
        // Closed loop over the same server: 20 pushes see a stall, those between do not.
        let (closed, _, _) = try Programs.load(["-D", "2s", "-m", "20"] + flags)
        #expect(closed.latency[.total].p90 < latency[.total].p90 / 4, "\(closed.latency[.total]) \(latency[.total])")
        #expect(closed.latency[.service].count == 0)
    }

    @Test("A burst larger than the backlog overflows only by what neither goes on a free stream nor may wait")
    func burst() throws {
        let flags = ["--backlog", "50", "-m", "400", "--mock-flags", "--latency 5s"]
        // The first one alone: before it the mock allows one stream, as APNs does.
        let (fits, status, error) = try Programs.load(["--stages", "burst 1, pause 2s, burst 299"] + flags)
        #expect(status == 0 && fits.pushes.accepted == 300 && fits.notSent.isEmpty, "\(error)")
        let (result, failed, problem) = try Programs.load(["--stages", "burst 1, pause 2s, burst 999"] + flags)
        // 400 on streams, which are held for 5 s, and 50 that wait: the first look is within the first pushes.
        #expect(failed == 1 && result.pushes.accepted >= 450 && result.pushes.planned == 1000, "\(problem)")
        #expect(result.notSent == ["overflowed": 1000 - result.pushes.accepted], "\(result.notSent)")
    }

    @Test("A server slower than the rate: the backlog is bounded, and what overflows is counted as that")
    func overflow() throws {
        // 50 streams answered after 100 ms are 500/s; 2,000/s are asked for.
        let (result, status, error) = try Programs.load([
            "-D", "1s", "--rate", "2000", "-m", "50", "--backlog", "200", "--mock-flags", "--latency 100ms",
        ])
        let overflowed = result.notSent["overflowed"] ?? 0
        #expect(status == 1 && result.pushes.planned == 2000, "\(error)")
        #expect(result.pushes.accepted + overflowed == 2000 && result.pushes.notSent == overflowed)
        #expect(result.pushes.failed == 0 && result.failures.isEmpty)
        // Half of them at least came due and got no answer: they are slower than all that did.
        #expect(result.latency[.total].count == 2000 && result.latency[.total].unanswered == overflowed)
        #expect(result.latency[.total].isCensored(.p90) && result.latency[.total].isCensored(.max))
        // No more than 500 answers a second and the backlog's 200 can be had of a second; at least the 1,000 others overflow.
        #expect(overflowed >= 1000 && result.pushes.accepted >= 250, "\(result.pushes) \(result.notSent)")
        #expect(result.pushes.lost == 0)
    }

    @Test("Stages, arrivals and warm-up: counts are those of the plan")
    func stages() throws {
        let (result, status, error) = try Programs.load([
            "--stages", "ramp 0 2k 500ms, hold 2k 500ms, burst 300, pause 100ms, hold 1k 200 pushes", "--arrivals",
            "jitter",
            "--warmup", "500ms", "--profile", "alert:50,silent:50", "-t", "2", "-c", "2",
        ])
        #expect(status == 0 && result.pushes.accepted == 500 + 1000 + 300 + 200, "\(error)")
        let stages = try #require(result.breakdown["stage"])
        #expect(stages["ramp"]?.accepted == 500 && stages["hold"]?.accepted == 1000 && stages["burst"]?.accepted == 300)
        #expect(stages["hold 2"]?.accepted == 200 && stages["ramp"]?.total.count == 0)
        #expect(result.warmup.answered == 500 && result.latency[.total].count == 1500 && result.warmup.seconds >= 0.5)
        let profiles = try #require(result.breakdown["profile"])
        #expect((profiles["alert"]?.accepted ?? 0) + (profiles["silent"]?.accepted ?? 0) == 2000)
    }

    @Test("Poisson arrivals and a recorded trace are sent whole")
    func arrivals() throws {
        let (poisson, status, error) = try Programs.load([
            "-D", "1s", "--rate", "2000", "--arrivals", "poisson", "--seed", "5",
        ])
        #expect(status == 0 && poisson.pushes.planned == poisson.pushes.accepted, "\(error)")
        #expect((1700...2300).contains(poisson.pushes.planned))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID()).csv")
        defer { try? FileManager.default.removeItem(at: file) }
        try "time_s\n10.0\n10.1\n10.1\n10.2\n".write(to: file, atomically: true, encoding: .utf8)
        let (replayed, _, _) = try Programs.load(["--trace", file.path])
        #expect(replayed.pushes.accepted == 4 && replayed.run.durationSeconds >= 0.2)
    }
}
