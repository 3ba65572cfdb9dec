import Foundation
import Measurement
import Results
import SampleRuns
import Testing

@testable import Analysis

@Suite struct ResultMergeTests {
    /// A result of these total latencies, as a run would write it.
    private func result(
        _ id: String, _ values: [UInt64], started: String = "2026-01-02T03:04:05Z", seconds: Double = 2
    ) -> ResultDocument {
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        let latency = ResultDocument.Latency(histogram.summary)
        let count = UInt64(values.count)
        let text = HistogramCodec.encodeForLog(histogram)
        var result = ResultDocument()
        (result.run.id, result.run.startedAt, result.run.durationSeconds) = (id, started, seconds)
        result.scenario = ["engine": .string("wire"), "connections": .integer(Int64(count))]
        (result.pushes.planned, result.pushes.sent, result.pushes.accepted) = (count, count, count)
        result.pushes.retried = 1
        (result.pushes.lost, result.pushes.duplicated) = (0, 0)
        result.throughput = .init(offered: 10, answered: Double(count) / 2)
        for stage in [.total, .toMock, .inMock, .fromMock] as [Stage] { result.latency[stage] = latency }
        result.breakdown = ["stage": ["hold": .init(accepted: count, rejected: 0, failed: 0, total: latency)]]
        result.generator.workerLoad = [0.5]
        result.generator.cpu.encode = 100
        result.statuses = ["200": count]
        result.connections.opened = 1
        (result.cost.clientCPU, result.cost.clientMemory, result.cost.tokensSigned) = (100, 5, 1)
        result.histograms = ["total": text, "total{stage=hold}": text]
        return result
    }

    private func message(_ results: [(String, ResultDocument)]) -> String {
        do throws(ResultMerge.Failure) {
            _ = try ResultMerge.merge(results)
            return "merged"
        } catch { return error.description }
    }

    @Test("The results of a run split in four, merged, equal those of the whole")
    func whole() throws {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        let values = (0..<10_000).map { _ -> UInt64 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return max(1, (state >> 20) >> (state & 31))
        }
        let parts = (0..<4).map { part in
            ("p\(part)", result("\(part)", values.enumerated().filter { $0.offset % 4 == part }.map(\.element)))
        }
        let merged = try ResultMerge.merge(parts)
        let all = result("all", values)
        #expect(merged.histograms == all.histograms, "seed \(seed)")
        #expect(merged.pushes.planned == 10_000 && merged.pushes.accepted == 10_000 && merged.pushes.lost == 0)
        #expect(merged.statuses == all.statuses && merged.throughput.answered == all.throughput.answered)
        #expect(
            merged.throughput.offered == 40 && merged.cost.clientCPU == 100 && merged.cost.clientMemory == 20)
        for (own, whole) in [
            (merged.latency[.total], all.latency[.total]),
            (merged.breakdown["stage"]!["hold"]!.total, all.latency[.total]),
        ] {
            #expect(own.count == whole.count && own.p50 == whole.p50 && own.p999 == whole.p999 && own.max == whole.max)
            #expect(abs(own.mean / whole.mean - 1) < 0.001, "seed \(seed)")
        }
    }

    @Test("What was asked for is added up where all parts say it; thresholds stay where all have the same")
    func settings() throws {
        var (first, second) = (result("1", [5]), result("2", [5, 6]))
        for index in 0..<2 {
            var part = index == 0 ? first : second
            part.scenario["rate"] = index == 0 ? .integer(100) : .number(50.5)
            part.scenario["pushes"] = index == 0 ? .integer(10) : .null
            part.scenario["threads"] = .integer(Int64(index) + 1)
            part.scenario["streams"] = .integer(7)
            part.scenario["thresholds"] = .array([.string("p99 < 1s")])
            if index == 0 { first = part } else { second = part }
        }
        let merged = try ResultMerge.merge([("a", first), ("b", second)])
        #expect(merged.scenario["rate"] == .number(150.5) && merged.scenario["pushes"] == .null)
        #expect(merged.scenario["connections"] == .integer(3) && merged.scenario["threads"] == .integer(3))
        #expect(merged.scenario["streams"] == .integer(7))
        #expect(merged.scenario["thresholds"] == .array([.string("p99 < 1s")]))
        second.scenario["thresholds"] = .array([.string("p99 < 2s")])
        second.scenario["stages"] = .array([.string("hold 1 1s")])
        let mixed = try ResultMerge.merge([("a", first), ("b", second)])
        #expect(mixed.scenario["thresholds"] == .array([]))
        #expect(mixed.notes.contains("stages and trace are those of one part; the parts' rates add up"))
    }

    @Test("Why connections ended is added up")
    func ends() throws {
        var (first, second) = (result("1", [5]), result("2", [5]))
        first.connections.ends = ["goaway NO_ERROR Shutdown": 2, "connection_reset": 1]
        second.connections.ends = ["goaway NO_ERROR Shutdown": 3, "peer_vanished": 4]
        let ends = try ResultMerge.merge([("a", first), ("b", second)]).connections.ends
        #expect(ends == ["goaway NO_ERROR Shutdown": 5, "connection_reset": 1, "peer_vanished": 4])
    }

    @Test(
        "Both histograms are added, so that a merged figure is censored where the whole's is; ends and causes are added"
    )
    func censored() throws {
        var parts = [
            UnansweredRun.make("a", accepted: 1000, unanswered: 1),
            UnansweredRun.make("b", accepted: 197, unanswered: 2),
        ]
        for index in parts.indices {
            parts[index].pushes.notSent = 4
            parts[index].pushes.planned += 4
            parts[index].notSent = ["overflowed": 3, "interrupted": 1]
            parts[index].breakdown["stage"]?["hold"]?.notSent = 4
            parts[index].connections.ends = ["closed": 1]
        }
        // Known in each part alone: all but one of 1,001, and all but two of 199.
        #expect(!parts[0].latency[.total].isCensored(.p99) && parts[1].latency[.total].isCensored(.p99))
        let merged = try ResultMerge.merge(parts.map { ($0.run.id, $0) })
        let whole = UnansweredRun.make()
        for total in [merged.latency[.total], try #require(merged.breakdown["stage"]?["hold"]?.total)] {
            #expect(total.count == 1200 && total.unanswered == 3 && total.censored == ["mean", "p99_9", "max"])
            #expect(total.p99 == whole.latency[.total].p99 && total.p999 == whole.latency[.total].p999)
        }
        #expect(merged.histograms["total_unanswered"] == whole.histograms["total_unanswered"])
        #expect(merged.pushes.planned == 1208 && merged.pushes.ended == 1208 && merged.pushes.notSent == 8)
        #expect(merged.notSent == ["overflowed": 6, "interrupted": 2] && merged.connections.ends == ["closed": 2])
        #expect(merged.breakdown["stage"]?["hold"]?.notSent == 8)
        #expect(abs(merged.throughput.accepted - 199.5) < 1e-9 && merged.throughput.offered == 400)
    }

    @Test("Accepted answers are added up although a part without rejections keeps them in total alone")
    func acceptedAlone() throws {
        let parts = [
            UnansweredRun.make("a", accepted: 30, rejected: 12), UnansweredRun.make("b", accepted: 50, rejected: 0),
        ]
        for order in [parts, parts.reversed()] {
            let merged = try ResultMerge.merge(order.map { ($0.run.id, $0) })
            #expect(merged.latency[.totalAccepted].count == 80 && merged.latency[.totalRejected].count == 12)
            #expect(try merged.censoredHistogram("total_accepted").count == 80)
            #expect(merged.latency[.total].count == 98)
        }
        let plain = try ResultMerge.merge([("b", parts[1]), ("c", UnansweredRun.make("c", accepted: 7))])
        #expect(plain.histograms["total_accepted"] == nil && plain.latency[.totalAccepted].count == 57)
    }

    @Test("What only some parts keep apart has no figures in the whole, and a note says so")
    func partlyApart() throws {
        var (first, second) = (result("1", [5]), result("2", [5, 6]))
        first.breakdown["profile"] = first.breakdown["stage"]
        first.histograms["total{profile=hold}"] = first.histograms["total"]
        let merged = try ResultMerge.merge([("a", first), ("b", second)])
        #expect(merged.breakdown["profile"] == nil && merged.histograms["total{profile=hold}"] == nil)
        #expect(merged.breakdown["stage"]?["hold"]?.accepted == 3)
        #expect(merged.notes.contains("no figures by profile: b did not keep them apart"), "\(merged.notes)")
        second.breakdown["profile"] = second.breakdown["stage"]
        second.histograms["total{profile=hold}"] = second.histograms["total"]
        #expect(
            try ResultMerge.merge([("a", first), ("b", second)]).breakdown["profile"]?["hold"]?.total.count == 3)
    }

    @Test("What cannot be merged is refused, and why")
    func refused() {
        let one = result("1", [5])
        #expect(message([("a", one)]) == "merging needs at least two results")
        #expect(message([("a", one), ("b", one)]) == "b: holds the same run as a")
        let both = result("1+7", [5])
        #expect(message([("a", both), ("b", one)]) == "b: holds the same run as a")
        var killed = result("3", [5])
        killed.notes = [ResultDocument.partialMark + "written while the run went on"]
        #expect(message([("a", one), ("b", killed)]).hasPrefix("b: what a run that was killed had written"))
        var other = result("2", [5])
        other.scenario["engine"] = .string("nghttp2")
        #expect(message([("a", one), ("b", other)]) == "b: engine differs from a's: these are not parts of one load")
        #expect(
            message([("a", one), ("b", result("2", [5], started: "2026-01-02T03:06:05Z"))])
                == "a (2026-01-02T03:04:05Z, 2.0 s) and b (2026-01-02T03:06:05Z, 2.0 s) did not run side by side: all runs "
                + "together for at most 0.0 s of 2.0 s, at least half is needed to add their rates (compare them instead)"
        )
        #expect(
            message([("a", one), ("b", result("2", [5], started: "yesterday"))])
                == "b: run.started_at \"yesterday\" is not a time (ISO 8601)")
        var damaged = result("2", [5])
        damaged.histograms["total"] = "HISTFAAA"
        #expect(message([("a", one), ("b", damaged)]) == "b: histograms.total: a histogram that is not Base64")
        var smaller = result("2", [5, 6])
        smaller.notes = ["something"]
        let notes = (try? ResultMerge.merge([("a", one), ("b", smaller)]))?.notes
        #expect(notes == ["merged from a, b", "the parts differ in connections", "b: something"])
    }

    @Test(
        "Parts with other numbers of streams have none in common: what held them back is not reckoned from one part's")
    func otherStreams() throws {
        var parts = [("a", result("1", [80_000_000])), ("b", result("2", [80_000_000]))]
        for place in parts.indices {
            // 100 streams, each held 80 ms, carry 1,250/s.
            parts[place].1.scenario["connections"] = .integer(1)
            parts[place].1.scenario["streams"] = .integer(100)
            parts[place].1.throughput = .init(windowSeconds: 1, offered: 20_000, sent: 1200, answered: 1200)
            let latency = parts[place].1.latency[.total]
            parts[place].1.latency[.service] = latency
            parts[place].1.histograms["service"] = parts[place].1.histograms["total"]
        }
        func limit() throws -> String { try RunVerdict(ResultMerge.merge(parts)).problems.joined() }
        let same = try limit()
        #expect(same.contains("200 streams (-c times -m), each held 80.0 ms on average, carry 2,501/s"), "\(same)")
        parts[1].1.scenario["streams"] = .integer(400)
        // 200 times 80 ms is by chance what they carried: there were 500.
        let other = try limit()
        #expect(!other.contains("streams (-c times -m)"), "\(other)")
        #expect(try ResultMerge.merge(parts).scenario["streams"] == .null)
    }

    /// Runs by their start (seconds after 03:04:00) and length, seconds.
    private func merged(_ runs: [(start: Int, seconds: Double)]) -> String {
        message(
            runs.enumerated().map { index, run in
                let second = run.start < 10 ? "0\(run.start)" : "\(run.start)"
                let name = String(UnicodeScalar(UInt8(97 + index)))
                return (name, result(name, [5], started: "2026-01-02T03:04:\(second)Z", seconds: run.seconds))
            })
    }

    @Test("Milliseconds of a start are no unknown second: half of the longest must have been together")
    func overlapOfMilliseconds() {
        func merged(_ second: String) -> String {
            message([
                ("a", result("a", [5], started: "2026-01-02T03:04:05.000Z", seconds: 10)),
                ("b", result("b", [5], started: "2026-01-02T03:04:\(second)Z", seconds: 10)),
            ])
        }
        #expect(merged("10.000") == "merged")
        #expect(merged("10.100").contains("all runs together for at most 4.9 s of 10.0 s"))
        // Of one that an older version cut to whole seconds as before.
        #expect(merged("10") == "merged")
    }

    @Test("Runs are merged when all went on together for half of the longest, a second of unknown start allowed for")
    func overlap() {
        // 10 s each: together from 6 s (or, as the second of the first start is cut off, 7 s) after the first second on.
        for together in [
            [(0, 10.0), (0, 10.0)], [(0, 10), (5, 10)], [(0, 10), (6, 10)], [(6, 10), (0, 10)],
            [(0, 10), (3, 10), (6, 10)],
            [(0, 10), (5, 5)], [(0, 30), (16, 15)],
            // Of runs shorter than a second, seconds cannot tell more.
            [(0, 0.2), (1, 0.2)], [(0, 0), (0, 0)],
        ] {
            #expect(merged(together) == "merged", "\(together)")
        }
        for (apart, common, longest, names) in [
            ([(0, 10.0), (7, 10.0)], "4.0", "10.0", ["a", "b"]), ([(7, 10), (0, 10)], "4.0", "10.0", ["b", "a"]),
            // One after the other, as a shell does it: within the minute that was once asked for.
            ([(0, 10), (10, 10)], "1.0", "10.0", ["a", "b"]), ([(0, 10), (12, 10)], "0.0", "10.0", ["a", "b"]),
            // Each overlaps the next by half, all three never for long.
            ([(0, 10), (5, 10), (10, 10)], "1.0", "10.0", ["a", "c"]),
            // One ended long before the other.
            ([(0, 10), (1, 4.9)], "4.9", "10.0", ["a", "b"]), ([(0, 0.2), (2, 0.2)], "0.0", "0.2", ["a", "b"]),
        ] {
            let text = merged(apart)
            #expect(
                text.contains("did not run side by side: all runs together for at most \(common) s of \(longest) s"))
            let positions = names.map { text.range(of: "\($0) (2026-")?.lowerBound }
            #expect(positions[0] != nil && positions[1] != nil && positions[0]! < positions[1]!, "\(apart): \(text)")
            #expect(!text.contains("\n"))
        }
        #expect(merged([(0, -5), (0, 10)]).contains("at most 0.0 s of 10.0 s"))
        #expect(merged([(0, 1e300), (0, 1e300)]) == "merged")
        #expect(merged([(0, 1e300), (0, 1)]).contains("at most 1.0 s of 1e+300 s"))
    }
}
