import Measurement
import Results
import TestSupport
import Testing

@testable import Analysis

@Suite struct WorkerMergeTests {
    private static let id = "00000000000000ab"

    /// A shard of these total latencies, ns, one a push.
    private func shard(
        _ index: Int, _ values: [UInt64], unanswered: [UInt64] = [], from: Double = 0, seconds: Double = 10,
        change: (inout ResultDocument) -> Void = { _ in }
    ) -> WorkerShard {
        var (answered, waits) = (LatencyHistogram(), LatencyHistogram())
        for value in values { answered.record(value) }
        for value in unanswered { waits.record(value) }
        let count = UInt64(values.count)
        var result = ResultDocument()
        result.run.id = Self.id
        (result.run.name, result.run.engine, result.run.target) = ("n", "wire", "https://mock:2197")
        result.run.durationSeconds = from + seconds
        (result.environment.host, result.environment.cpu, result.environment.cores) = ("h\(index % 3)", "c", 2)
        result.pushes.planned = count + UInt64(unanswered.count)
        (result.pushes.sent, result.pushes.accepted, result.pushes.failed) = (count, count, UInt64(unanswered.count))
        result.failures = unanswered.isEmpty ? [:] : ["push_timeout": UInt64(unanswered.count)]
        result.statuses = ["200": count]
        let rate = Double(count) / seconds
        result.throughput = .init(windowSeconds: seconds, offered: rate, answered: rate)
        result.warmup.seconds = from
        let total = CensoredHistogram(answered: answered, unanswered: waits)
        result.latency[.total] = .init(total)
        result.histograms = [
            "total": HistogramCodec.encodeForLog(answered), "total_unanswered": HistogramCodec.encodeForLog(waits),
        ]
        result.generator.workerLoad = [0.5]
        result.connections.opened = 2
        result.connections.afterWindow = .init()
        (result.cost.clientCPU, result.cost.clientMemory) = (100, 7)
        change(&result)
        return WorkerShard(index: index, host: "h\(index % 3)", state: .done, result: result)
    }

    private func merged(_ shards: [WorkerShard], of workers: Int? = nil, notes: [String] = []) throws -> ResultDocument
    {
        var merge = WorkerMerge(
            id: Self.id, workers: workers ?? shards.count, scenario: ["connections": .integer(8)],
            startedAt: "2026-01-02T03:04:05Z")
        for shard in shards { try merge.add(shard) }
        return try merge.document(notes: notes)
    }

    private func message(_ shards: [WorkerShard], of workers: Int) -> String {
        do {
            _ = try merged(shards, of: workers)
            return "merged"
        } catch { return "\(error)" }
    }

    private func point(_ time: Double, _ accepted: UInt64, inFlight: Int = 0, p99: UInt64 = 0) -> SeriesPoint {
        SeriesPoint(
            time: time, sent: accepted, accepted: accepted, rejected: 0, failed: 0, notSent: 0, inFlight: inFlight,
            backlog: 0, p50: p99 / 2, p99: p99)
    }

    @Test("A worker that got no answer has no p99, whatever its pushes waited")
    func unanswered() throws {
        let rows = try #require(try merged([shard(0, [1000]), shard(1, [], unanswered: [1, 1])]).workers)
        #expect(rows[0].p99 != nil && rows[1].p99 == nil, "\(rows)")
    }

    @Test("Pushes dealt to workers, merged, have the percentiles, counts and rate of one histogram of all")
    func truth() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed)
        for workers in [1, 2, 7, 40] {
            let values = (0..<20_000).map { _ in 1 + random.next() >> UInt64(20 + random.below(30)) }
            let waits = (0..<300).map { _ in 1_000_000_000 + random.next() % 1_000_000_000 }
            let shards = (0..<workers).map { worker in
                shard(
                    worker, values.enumerated().filter { $0.offset % workers == worker }.map(\.element),
                    unanswered: waits.enumerated().filter { $0.offset % workers == worker }.map(\.element))
            }
            let whole = try merged(shards)
            var (answered, unanswered) = (LatencyHistogram(), LatencyHistogram())
            for value in values { answered.record(value) }
            for value in waits { unanswered.record(value) }
            let truth = ResultDocument.Latency(CensoredHistogram(answered: answered, unanswered: unanswered))
            let total = whole.latency[.total]
            #expect(
                total.p50 == truth.p50 && total.p90 == truth.p90 && total.p99 == truth.p99 && total.p999 == truth.p999,
                "seed \(seed), \(workers) workers: \(total), \(truth)")
            #expect(total.censored == truth.censored && total.unanswered == 300 && total.count == 20_300)
            #expect(total.min == truth.min && total.max == truth.max)
            #expect(whole.pushes.planned == 20_300 && whole.pushes.ended == 20_300 && whole.statuses == ["200": 20_000])
            #expect(abs(whole.throughput.answered - 2000) < 1e-6 && whole.throughput.windowSeconds == 10)
            #expect(whole.workers?.map(\.index) == Array(0..<workers) && whole.scenario == ["connections": .integer(8)])
            #expect(whole.run.complete && !whole.run.interrupted && whole.run.id == Self.id && !whole.isMerged)
        }
    }

    /// A shard of anything.
    private func anyShard(_ index: Int, _ random: inout SeededRandom) -> WorkerShard {
        let values = (0..<(1 + random.below(200))).map { _ in 1 + random.next() >> UInt64(20 + random.below(30)) }
        let waits = (0..<random.below(4)).map { _ in 1 + random.next() >> 30 }
        var made = shard(
            index, values, unanswered: waits, from: Double(random.below(5)), seconds: 1 + random.below(9) == 0 ? 3 : 2.5
        )
        made.attempt = 1
        made.begun = random.chance(0.3) ? Double(random.below(1000)) / 7 : 0
        var time = 0.0
        let step = random.chance(0.2) ? 1.7 : 0.1
        for _ in 0..<(random.chance(0.2) ? 900 : random.below(60)) {
            time += step * Double(50 + random.below(100)) / 100
            made.result.series.append(
                point(time, UInt64(random.below(1000)), inFlight: random.below(100), p99: random.next() >> 40))
        }
        let labels = random.chance(0.5) ? 100 : 10
        for _ in 0..<random.below(40) {
            let label = random.chance(0.1) ? Breakdown.other : "\(random.below(labels))"
            guard made.result.breakdown["tag"]?[label] == nil else { continue }
            made.result.breakdown["tag", default: [:]][label] = .init(
                accepted: UInt64(random.below(50)), rejected: 1, failed: 0, total: .init())
            made.result.histograms[ResultDocument.histogramKey("tag", label)] = made.result.histograms["total"]
        }
        if random.chance(0.3) {
            made.result.histograms["total_rejected"] = made.result.histograms["total"]
            made.result.histograms["total_accepted"] = made.result.histograms["total"]
        }
        made.result.generator.spin = Double(random.below(1000)) / 999
        made.result.generator.limited = random.chance(0.2)
        made.result.generator.reasons = made.result.generator.limited ? ["busy \(random.below(3))"] : []
        made.result.cost.clientCPU = Double(random.below(1_000_000)) / 7
        made.result.notes = random.chance(0.5) ? ["a note", "note \(random.below(3))"] : []
        var send = ResultDocument.Send(
            name: "news", audience: "x", devices: 9, fingerprint: "00000000000000f1", pushes: UInt64(values.count),
            start: 0)
        send.accepted = UInt64(values.count)
        made.result.sends = [send]
        made.result.histograms[ResultDocument.fanOutKey("news")] = made.result.histograms["total"]
        if random.chance(0.2) {
            made.result.notes = [ResultDocument.partialMark + "so far"]
            made.result.breakdown = [:]
            made.result.sends = nil
        }
        return made
    }

    /// The first line that is not the same; nil where all are.
    private static func difference(_ one: String, _ other: String) -> String? {
        guard one != other else { return nil }
        let lines = zip(one.split(separator: "\n"), other.split(separator: "\n")).first { $0 != $1 }
        return lines.map { "\($0) \($1)" } ?? "one is longer"
    }

    @Test("The order in which shards come changes nothing, and two halves' counts are the whole's")
    func order() throws {
        let seed = UInt64.random(in: .min ... .max)
        for round in 0..<6 as Range<UInt64> {
            var random = SeededRandom(seed &+ round)
            var shards = (0..<(2 + random.below(12))).map { anyShard($0, &random) }
            if random.chance(0.5) {
                var second = anyShard(0, &random)
                second.attempt = 2
                shards.append(second)
            }
            let workers = shards.count
            let first = String(decoding: try ResultFile.encode(merged(shards, of: workers)), as: UTF8.self)
            for _ in 0..<2 {
                shards.shuffle(using: &random)
                let other = String(decoding: try ResultFile.encode(merged(shards, of: workers)), as: UTF8.self)
                #expect(Self.difference(first, other) == nil, "seed \(seed), round \(round)")
            }
            let whole = try merged(shards, of: workers)
            let cut = random.below(shards.count)
            let halves = try [shards[..<cut], shards[cut...]].map { try merged(Array($0), of: workers) }
            func sum(_ path: (ResultDocument) -> UInt64) -> UInt64 { halves.reduce(0) { $0 + path($1) } }
            for path in [
                \ResultDocument.pushes.planned, \.pushes.accepted, \.pushes.failed, \.connections.opened,
                \.cost.clientMemory,
            ] {
                #expect(whole[keyPath: path] == sum { $0[keyPath: path] }, "seed \(seed), round \(round), \(path)")
            }
            #expect(whole.statuses["200"] ?? 0 == sum { $0.statuses["200"] ?? 0 })
            #expect(whole.latency[.total].count == sum { $0.latency[.total].count })
            #expect(whole.series.reduce(0) { $0 + $1.accepted } == sum { $0.series.reduce(0) { $0 + $1.accepted } })
            let tags = { (result: ResultDocument) in
                result.breakdown["tag"]?.values.reduce(0) { $0 + $1.accepted } ?? 0
            }
            #expect(tags(whole) == sum(tags), "seed \(seed), round \(round)")
            #expect((whole.breakdown["tag"]?.count ?? 0) <= Breakdown.most)
            let labels = whole.breakdown["tag"] ?? [:]
            for (label, part) in labels {
                let key = ResultDocument.histogramKey("tag", label)
                #expect(try whole.censoredHistogram(key).count == part.total.count)
            }
            #expect(whole.series.count <= SeriesBuilder.most)
            #expect(whole.sends?.first?.devices ?? 9 == 9)
        }
    }

    @Test("Rates are what all did from the first window's begin to the last one's end")
    func rates() throws {
        var second = shard(1, [UInt64](repeating: 5, count: 100), from: 1, seconds: 10)
        let first = shard(0, [UInt64](repeating: 5, count: 100), from: 2, seconds: 8)
        let whole = try merged([first, second])
        #expect(whole.warmup.seconds == 1 && whole.throughput.windowSeconds == 10)
        #expect(abs(whole.throughput.answered - 20) < 1e-9 && abs((whole.throughput.offered ?? 0) - 20) < 1e-9)
        // Taken up after 20 s: to 31 s.
        second.begun = 20
        let late = try merged([first, second])
        #expect(late.warmup.seconds == 2 && late.throughput.windowSeconds == 29 && late.run.durationSeconds == 31)
        #expect(abs(late.throughput.answered - 200.0 / 29) < 1e-9)
        // A closed loop offers nothing; what was too short for a rate has none.
        let closed = (0..<2).map { index in
            shard(index, [5], seconds: 1) {
                $0.throughput.offered = nil
                if index == 0 { $0.throughput = .init(windowSeconds: 0, offered: nil, answered: 0) }
            }
        }
        let rates = try merged(closed).throughput
        #expect(rates.offered == nil && rates.answered == 1 && rates.windowSeconds == 1)
    }

    @Test(
        "A worker that was lost and taken up again is one row, with the counts of both attempts and the state of the last"
    )
    func takenUp() throws {
        var first = shard(1, [UInt64](repeating: 5, count: 60)) {
            $0.pushes.failed = 5
            $0.pushes.planned += 5
            $0.failures = ["worker_lost": 5]
            // Of what only the end tells it has nothing.
            $0.statuses = [:]
            ($0.connections, $0.cost, $0.generator) = (.init(), .init(), .init())
        }
        first.state = .lost
        var second = shard(1, [UInt64](repeating: 90, count: 30))
        (second.attempt, second.begun, second.host) = (2, 20, "other")
        let whole = try merged([shard(0, [5]), second, first], of: 2)
        let rows = try #require(whole.workers)
        #expect(rows.map(\.index) == [0, 1] && rows[1].state == .done && rows[1].host == "other")
        #expect(rows[1].attempts == 2 && rows[1].pushes == 95 && rows[1].accepted == 90 && rows[1].failed == 5)
        #expect(rows[1].p99 == 90 && abs(rows[1].answeredPerSecond - 3) < 1e-9)
        #expect(whole.failures == ["worker_lost": 5] && whole.run.complete)
        // The other shards' figures of the end stay, and means are theirs.
        #expect(whole.connections.opened == 4 && whole.cost.clientCPU == 100 && whole.connections.afterWindow != nil)
        #expect(whole.environment.host == "2 hosts" && whole.environment.cores == 4)
    }

    @Test(
        "A partial whole keeps what those that have ended know, in its file too; a running and a limited worker are called so"
    )
    func partial() throws {
        let note = ResultDocument.partialMark + "1 of 3 workers has ended"
        let running = shard(1, [5, 6]) {
            $0.notes = [ResultDocument.partialMark + "written while the run went on"]
            ($0.run.complete, $0.run.interrupted) = (false, true)
            $0.statuses = [:]
            $0.connections = .init()
        }
        let limited = shard(0, [5]) {
            $0.generator.limited = true
            $0.generator.reasons = ["a worker thread was busy 99 % of the time"]
        }
        let whole = try merged([limited, running], of: 3, notes: [note])
        #expect(whole.isPartial && whole.workers?.map(\.state) == [.saturated, .running] && !whole.run.complete)
        #expect(whole.generator.reasons == ["worker 0 (h0): a worker thread was busy 99 % of the time"])
        let read = try ResultFile.decode(ResultFile.encode(whole), origin: "x")
        #expect(read == whole && read.statuses == ["200": 1] && read.connections.opened == 2)
        // Nothing has ended: all of it is null.
        let begun = try merged([running], of: 3, notes: [note])
        let text = String(decoding: try ResultFile.encode(begun), as: UTF8.self)
        #expect(text.contains("\"connections\" : null") && text.contains("\"cost\" : null"))
        #expect(try ResultFile.decode(ResultFile.encode(begun), origin: "x") == begun)
    }

    @Test("Targets are added up by name, of the workers that know theirs")
    func targets() throws {
        func target(_ name: String, _ accepted: UInt64, isReached: Bool = true) -> ResultDocument.Target {
            var target = ResultDocument.Target(target: name)
            (target.accepted, target.connections.opened, target.reachedAtEnd) = (accepted, 1, isReached)
            return target
        }
        let shards = [
            shard(0, [5]) { $0.targets = [target("a", 5), target("b", 6)] },
            shard(1, [5]) { $0.targets = [target("a", 7), target("b", 8, isReached: false)] }, shard(2, [5]),
        ]
        let whole = try merged(shards)
        #expect(whole.targets?.map(\.accepted) == [12, 14] && whole.targets?.map(\.reachedAtEnd) == [true, false])
        #expect(whole.notes == ["figures by target are without worker 2"])
        #expect(try merged([shard(0, [5])]).targets == nil)
        // One with fewer connections than targets has none to the other: that is no failure, unless nobody had one.
        var none = target("b", 0, isReached: false)
        none.connections.opened = 0
        let apart = try merged([
            shard(0, [5]) { $0.targets = [target("a", 5), none] },
            shard(1, [5]) { $0.targets = [target("a", 5), target("b", 6)] },
        ])
        #expect(apart.targets?.map(\.reachedAtEnd) == [true, true] && RunVerdict(apart).problems.isEmpty)
        let nobody = try merged([shard(0, [5]) { $0.targets = [target("a", 5), none] }])
        #expect(nobody.targets?.map(\.reachedAtEnd) == [true, false])
    }

    @Test("Notes of many workers are one, and what is missing is said")
    func notes() throws {
        let shards = (0..<9).map { index in
            shard(index, [5]) {
                $0.notes = ["all have it"] + (index > 1 ? ["most"] : []) + (index == 4 ? ["one"] : [])
                if index == 7 {
                    $0.breakdown = ["stage": ["a": .init(accepted: 1, rejected: 0, failed: 0, total: .init())]]
                }
            }
        }
        let notes = try merged(shards).notes
        #expect(
            notes == [
                "figures by stage are without workers 0, 1, 2, 3, 4 and 3 more", "all workers: all have it",
                "workers 2, 3, 4, 5, 6 and 2 more: most", "worker 4 (h1): one",
            ], "\(notes)")
        let some = try merged([shards[0], shards[2]], of: 4)
        #expect(some.notes.first == "without workers 1 and 3: there is no result of theirs" && !some.run.complete)
    }

    @Test("Merged with another run, the workers of one are not the whole's")
    func mergedAgain() throws {
        var parts = try [merged([shard(0, [5]), shard(1, [6])]), merged([shard(0, [7])])]
        parts[1].run.id = "00000000000000cd"
        let whole = try ResultMerge.merge([("a", parts[0]), ("b", parts[1])])
        #expect(whole.workers == nil && whole.pushes.planned == 3)
    }

    @Test("A shard of another run, of no worker, twice or damaged is refused, and nothing of it stays")
    func refused() throws {
        let one = shard(0, [5])
        #expect(message([one, one], of: 2) == "worker 0 (h0): attempt 1 was added before")
        #expect(message([shard(2, [5])], of: 2) == "worker 2 (h2): the run has 2 workers, 0 to 1")
        let other = shard(1, [5]) { $0.run.id = "00000000000000cd" }
        #expect(
            message([one, other], of: 2)
                == "worker 1 (h1): a result of run 00000000000000cd; expected 00000000000000ab")
        let damaged = shard(1, [5, 6]) { $0.histograms["sign"] = "HISTFAAA" }
        #expect(message([one, damaged], of: 2) == "worker 1 (h1): histograms.sign: a histogram that is not Base64")
        var merge = WorkerMerge(id: Self.id, workers: 2, scenario: [:], startedAt: "")
        try merge.add(one)
        let before = try merge.document(notes: [])
        #expect(throws: ResultMerge.Failure.self) { try merge.add(damaged) }
        #expect(try merge.document(notes: []) == before)
    }

    @Test("Series are added on one clock; points that lie in several bins are shared out, and none of them is lost")
    func series() throws {
        let one = shard(0, [5]) {
            $0.series = [point(0.1, 10, inFlight: 3, p99: 40), point(0.2, 20, inFlight: 4), point(0.3, 5)]
        }
        // One point of 300 ms, and one that began later.
        let two = shard(1, [5]) { $0.series = [point(0.3, 30, inFlight: 9, p99: 90)] }
        var three = shard(2, [5]) { $0.series = [point(0.1, 7, inFlight: 1)] }
        three.begun = 0.2
        let series = try merged([one, two, three]).series
        #expect(series.map(\.accepted) == [20, 30, 22], "\(series)")
        #expect(series.map(\.p99) == [90, 90, 90] && series.map(\.inFlight)[0...1] == [12, 13])
        #expect(zip(series.map(\.time), [0.1, 0.2, 0.3]).allSatisfy { abs($0 - $1) < 1e-9 })
        // What no clock says.
        let odd = shard(0, [5]) {
            $0.series = [
                point(.nan, 1), point(-5, 2), point(1e300, 3), point(2, 4),
                point(.infinity, .max),
            ]
        }
        let sum = try merged([odd]).series.reduce(0) { $0 &+ $1.accepted }
        #expect(sum == 10 &+ UInt64.max)
    }

    @Test("A run by connection of many workers has 64 labels, numbers in their order, and the rest in (other)")
    func labels() throws {
        let shards = (0..<10).map { worker in
            shard(worker, [5]) { result in
                for connection in (worker * 20)..<(worker * 20 + 20) {
                    result.breakdown["connection", default: [:]]["\(connection)"] = .init(
                        accepted: 2, rejected: 0, failed: 1, total: .init())
                    let key = ResultDocument.histogramKey("connection", "\(connection)")
                    result.histograms[key] = result.histograms["total"]
                }
            }
        }
        let parts = try #require(try merged(shards).breakdown["connection"])
        #expect(parts.count == 64 && Set(parts.keys) == Set((0..<63).map(String.init) + [Breakdown.other]))
        let other = try #require(parts[Breakdown.other])
        #expect(other.accepted == 2 * 137 && other.failed == 137 && other.total.count == 137)
        // Of a worker that could not keep a label it is not known.
        let full = shard(10, [5]) {
            for label in ["0", "1", Breakdown.other] {
                $0.breakdown["connection", default: [:]][label] = .init(
                    accepted: 1, rejected: 0, failed: 0, total: .init())
            }
        }
        let whole = try merged(shards + [full]).breakdown["connection"]
        #expect(whole?.mapValues(\.accepted) == ["0": 3, "1": 3, Breakdown.other: 2 * 198 + 1], "\(whole ?? [:])")
    }
}
