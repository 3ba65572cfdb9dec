import Foundation
import Results
import SampleRuns
import Statistics
import Testing

@testable import Comparison

@Suite struct ResultComparisonTests {
    private func result(_ id: String, _ factor: Double, _ values: [UInt64] = [100, 200, 300]) -> ResultDocument {
        SampleRun.make(id, factor, values)
    }

    private func side(_ name: String, _ results: [ResultDocument]) -> ResultComparison.Side {
        .init(name: name, runs: results.map { ("\(name)/\($0.run.id)", $0) })
    }

    /// A run of a side of which as many runs of the other lie between its own.
    private func inTurn(_ result: ResultDocument, _ side: String, _ place: Int) -> ResultDocument {
        let minute = 2 * place + (side == "a" ? 0 : 1)
        var result = result
        result.run.startedAt = "2026-11-21T\(10 + minute / 50):\(10 + minute % 50):00Z"
        return result
    }

    private func side(_ name: String, _ factors: [Double], _ values: [UInt64] = [100, 200, 300])
        -> ResultComparison.Side
    {
        side(
            name,
            factors.enumerated().map { inTurn(result("\(name)\($0.offset)", $0.element, values), name, $0.offset) })
    }

    private func verdicts(_ comparison: ComparisonDocument) -> [String: FigureVerdict] {
        Dictionary(uniqueKeysWithValues: comparison.metrics.map { ($0.name, $0.verdict) })
    }

    private func message(_ a: ResultComparison.Side, _ b: ResultComparison.Side) -> String {
        do throws(ResultComparison.Failure) {
            _ = try ResultComparison.compare(a, b)
            return "compared"
        } catch { return error.description }
    }

    private let calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005]

    @Test("Higher figures are called faster, slower or more, by what they count; the ratio is B's to A's")
    func called() throws {
        let raised = try ResultComparison.compare(side("a", calm), side("b", calm.map { $0 * 1.5 }))
        #expect(
            verdicts(raised) == [
                "rate": .faster, "client CPU a push": .more, "allocations a push": .noRatio,
                "client peak memory": .more, "total p50": .slower, "total p90": .slower, "total p99": .slower,
                "total p99.9": .slower, "round trip p50": .slower, "round trip p99": .slower,
            ])
        let rate = try #require(raised.metrics.first)
        #expect(abs(rate.ratio! - 1.5) < 1e-9 && rate.low! > 1.4 && rate.high! < 1.6 && rate.p! < 0.01)
        // Nine figures: allocations are 0 on both sides.
        #expect(abs(rate.adjusted! - 9 * rate.p!) < 1e-12)
        #expect(rate.delta == 1 && rate.detectable! > 1 && rate.detectable! < 1.1)
        let lowered = try ResultComparison.compare(side("a", calm.map { $0 * 1.5 }), side("b", calm))
        #expect(verdicts(lowered)["rate"] == .slower && verdicts(lowered)["total p99"] == .faster)
        #expect(verdicts(lowered)["client CPU a push"] == .less)
    }

    @Test("No difference, too few runs and one run are each said to be that")
    func notCalled() throws {
        let alike = try ResultComparison.compare(side("a", calm), side("b", calm.map { $0 + 0.001 }), margin: 0.01)
        #expect(verdicts(alike)["rate"] == .noDifference)
        let few = try ResultComparison.compare(
            side("a", [1, 1.1, 1.2, 1.3, 1.4]), side("b", [5, 5.1, 5.2, 5.3, 5.4]))
        #expect(verdicts(few)["rate"] == .tooFewRuns && few.metrics[0].low! > 1)
        #expect(few.judged == 9 && few.fewestRuns == 6)
        let one = try ResultComparison.compare(side("a", [1]), side("b", [5]))
        #expect(verdicts(one)["rate"] == .oneRun && one.metrics[0].low == nil && one.metrics[0].p == nil)
    }

    @Test("Figures are called the same where their runs leave no room for a difference as large as the margin")
    func same() throws {
        let b = calm.map { $0 + 0.001 }
        let same = try ResultComparison.compare(side("a", calm), side("b", b))
        let rate = try #require(same.metrics.first)
        #expect(rate.verdict == .same && same.margin == 0.02 && rate.sameWithin! > 0.01 && rate.sameWithin! < 0.02)
        // A difference that is seen is called, though it is a small one.
        let even = (0..<6).map { 1 + Double($0) * 1e-5 }
        let small = try ResultComparison.compare(side("a", even), side("b", even.map { $0 * 1.005 }))
        #expect(verdicts(small)["rate"] == .faster && small.metrics[0].sameWithin! < 0.006)
        // Three runs a side can be the same, though none of them could be called different.
        let few = try ResultComparison.compare(side("a", [1, 1.001, 1.002]), side("b", [1, 1.001, 1.002]))
        #expect(verdicts(few)["rate"] == .same && few.metrics[0].coverage! > 0.89 && few.metrics[0].coverage! < 0.91)
        let two = try ResultComparison.compare(side("a", [1, 1.001]), side("b", [1, 1.001]))
        #expect(verdicts(two)["rate"] == .tooFewRuns && two.metrics[0].sameWithin == nil)
    }

    @Test("Of rounds each run is held against that of its round: what drifts is in neither")
    func rounds() throws {
        // Each round is slower than the one before it by more than the sides differ.
        let factors = (0..<9).map { 1 + Double($0) * 0.1 }
        let (a, b) = (side("a", factors), side("b", factors.map { $0 * 1.03 }))
        let rounds = try ResultComparison.compare(a, b, by: .rounds)
        #expect(rounds.analysis == .rounds && verdicts(rounds)["rate"] == .faster)
        let rate = try #require(rounds.metrics.first)
        #expect(abs(rate.ratio! - 1.03) < 1e-9 && abs(rate.p! - 1 / 256.0) < 1e-12 && rate.high! < 1.031)
        #expect(rounds.fewestRuns == 9 && rate.coverage! > 0.95)
        let groups = try ResultComparison.compare(a, b)
        #expect(groups.analysis == .groups && verdicts(groups)["rate"] == .noDifference && groups.fewestRuns == 6)
        let few = try ResultComparison.compare(side("a", [1, 2, 3]), side("b", [2, 3, 4]), by: .rounds)
        #expect(verdicts(few)["rate"] == .tooFewRuns && few.metrics[0].coverage == 0.75)
    }

    @Test("Figures named beforehand are judged alone, and need fewer runs")
    func chosen() throws {
        let (a, b) = (side("a", [1, 1.1, 1.2, 1.3]), side("b", [5, 5.1, 5.2, 5.3]))
        let one = try ResultComparison.compare(a, b, judging: ["total p99"])
        #expect(one.metrics.map(\.name) == ["total p99"] && one.metrics[0].verdict == .slower)
        #expect(one.judged == 1 && one.fewestRuns == 4 && one.metrics[0].adjusted == one.metrics[0].p)
        #expect(throws: ResultComparison.Failure.self) { try ResultComparison.compare(a, b, judging: ["speed"]) }
    }

    @Test("Histograms of a side are added up, and called different when they are, medians being the same or not")
    func shapes() throws {
        let a = side("a", calm, [100, 200, 300])
        let alike = try ResultComparison.compare(a, side("b", calm, [100, 200, 300]))
        #expect(alike.distributions.map(\.name) == ["total"] && alike.distributions[0].differs == false)
        let tail = try ResultComparison.compare(a, side("b", calm, [100, 200, 900]))
        let distribution = try #require(tail.distributions.first)
        #expect(distribution.differs == true && distribution.place == 300 && abs(distribution.d - 1 / 3.0) < 1e-9)
        #expect(distribution.belowA == 1 && abs(distribution.belowB - 2 / 3.0) < 1e-9)
    }

    @Test("Of runs that are too few for a test of shapes, none are called different: that is not known")
    func fewShapes() throws {
        let tail = try ResultComparison.compare(side("a", [1, 1.01]), side("b", [1, 1.01], [100, 200, 900]))
        let distribution = try #require(tail.distributions.first)
        #expect(distribution.p == nil && distribution.differs == nil && distribution.d > 0.3)
        let alike = try ResultComparison.compare(side("a", [1, 1.01]), side("b", [1, 1.01]))
        #expect(alike.distributions.first?.differs == .some(nil))
        // Seven rounds could tell, four runs a side could not: of two distributions each has half of 5 %.
        for (count, analysis, canTell) in [
            (4, .groups, false), (5, .groups, true), (6, .rounds, false), (7, .rounds, true),
        ] as [(Int, ComparisonDocument.Analysis, Bool)] {
            let factors = (0..<count).map { 1 + Double($0) / 100 }
            let comparison = try ResultComparison.compare(
                side("a", factors), side("b", factors, [100, 200, 900]), by: analysis)
            #expect(comparison.distributions[0].differs == (canTell ? true : nil), "\(count) \(analysis)")
        }
    }

    @Test("A figure that is only known from below in some run is not compared, and why; others are")
    func censored() throws {
        let slow = (0..<6).map { UnansweredRun.make("u\($0)", unanswered: $0 < 2 ? 30 : 0) }
        let comparison = try ResultComparison.compare(
            side("a", (0..<6).map { UnansweredRun.make("a\($0)", unanswered: 0) }), side("b", slow))
        let names = comparison.metrics.map(\.name)
        #expect(names.contains("total p50") && names.contains("total p90"))
        #expect(!names.contains("total p99") && !names.contains("total p99.9"))
        #expect(
            comparison.warnings.contains(
                "total p99: not compared; not known in 2 of 6 runs of B "
                    + "(more than 20.0 s: 30 of 1,227 pushes got no answer)"), "\(comparison.warnings)")
        // Asked for by name it is no more known.
        let chosen = try ResultComparison.compare(side("a", calm), side("b", slow), judging: ["total p99"])
        #expect(chosen.metrics.isEmpty && chosen.warnings.contains { $0.hasPrefix("total p99: not compared; ") })
    }

    @Test("Among all latencies those without an answer are the longest, even if they were given up at once")
    func unansweredShapes() throws {
        // A fifth of B's connections is refused after 100 ns, which is shorter than any answer.
        var refused = (0..<6).map { result("r\($0)", 1, [200, 300, 400, 500]) }
        for index in refused.indices {
            refused[index].histograms["total_unanswered"] = SampleRun.make("", 1, [100]).histograms["total"]
        }
        let comparison = try ResultComparison.compare(side("a", calm, [200, 300, 400, 500]), side("b", refused))
        let total = try #require(comparison.distributions.first { $0.name == "total" })
        #expect(total.differs == true && total.place == 500 && abs(total.d - 0.2) < 1e-9)
        #expect(total.belowA == 1 && abs(total.belowB - 0.8) < 1e-9)
    }

    @Test("Goodput is compared where pushes were rejected, and where it is asked for")
    func goodput() throws {
        func sides(_ share: Double) -> (ResultComparison.Side, ResultComparison.Side) {
            let b = calm.enumerated().map { index, factor -> ResultDocument in
                var result = result("b\(index)", factor * 1.5)
                result.throughput.accepted = result.throughput.answered * share
                result.pushes.rejected = share < 1 ? 1 : 0
                return inTurn(result, "b", index)
            }
            return (side("a", calm), side("b", b))
        }
        let (a, clean) = sides(1)
        #expect(try ResultComparison.compare(a, clean).metrics.allSatisfy { $0.name != "goodput" })
        #expect(try ResultComparison.compare(a, clean, judging: ["goodput"]).metrics.map(\.name) == ["goodput"])
        // Half as many pushes again are answered, most of them with a rejection.
        let rejecting = verdicts(try ResultComparison.compare(a, sides(0.3).1))
        #expect(rejecting["rate"] == .faster && rejecting["goodput"] == .slower)
    }

    @Test("What cannot be compared is refused, and why")
    func refused() {
        let good = side("a", [1])
        #expect(message(good, side("b", [ResultDocument]())) == "b: no result found")
        var stopped = result("s", 1)
        stopped.run.interrupted = true
        #expect(
            message(good, side("b", [stopped])) == "b/s: the run was interrupted; only whole runs can be compared")
        var short = result("s", 1)
        short.run.complete = false
        #expect(message(side("b", [short]), good) == "b/s: the run is incomplete; only whole runs can be compared")
        #expect(
            message(side("b", [result("x", 1), result("x", 1)]), good)
                == "b/x: the same run as b/x; each run counts once")
        var damaged = result("d", 1)
        damaged.histograms["total"] = "HISTFAAA"
        #expect(message(good, side("b", [damaged])) == "b/d: histograms.total: a histogram that is not Base64")
    }

    @Test(
        "That all runs of a side were made before the other's is said of groups, not of rounds, nor of runs in alternation"
    )
    func order() throws {
        func made(_ name: String, _ minutes: [Int]) -> ResultComparison.Side {
            side(
                name,
                minutes.map { minute in
                    var run = result("\(name)\(minute)", 1 + Double(minute) / 100)
                    run.run.startedAt = "2026-11-21T10:\(minute + 10):00Z"
                    return run
                })
        }
        func order(_ a: [Int], _ b: [Int], _ analysis: ComparisonDocument.Analysis = .groups) throws -> [String] {
            try ResultComparison.compare(made("a", a), made("b", b), by: analysis).warnings.map {
                $0.components(separatedBy: ": what")[0]
            }
        }
        #expect(try order([1, 2], [3, 4]) == ["all runs of A were made before those of B"])
        #expect(try order([5, 4], [3, 2]) == ["all runs of B were made before those of A"])
        #expect(try order([1, 4], [2, 3]).isEmpty && order([1], [2, 3]).isEmpty)
        // Of whole seconds it is not known which of one second was the first.
        #expect(try order([1, 2], [2, 3]).isEmpty)
        #expect(try order([1, 2], [3, 4], .rounds).isEmpty)
    }

    @Test(
        "Runs that alternated within a second are in alternation by their milliseconds, and not one side after the other"
    )
    func milliseconds() throws {
        func made(_ name: String, _ times: [String]) -> ResultComparison.Side {
            side(
                name,
                times.enumerated().map { place, time in
                    var run = result("\(name)\(place)", 1 + Double(place) / 100)
                    run.run.startedAt = "2026-11-21T10:00:\(time)Z"
                    return run
                })
        }
        func compared(_ a: [String], _ b: [String]) throws -> (stretch: Double, isTold: Bool) {
            let document = try ResultComparison.compare(made("a", a), made("b", b))
            return (document.stretch, document.warnings.contains { $0.hasPrefix("all runs of ") })
        }
        let turns = try compared(["05.010", "05.230", "05.470", "05.690"], ["05.120", "05.350", "05.580", "05.800"])
        #expect(turns.stretch == 1 && !turns.isTold)
        let apart = try compared(["05.010", "05.120", "05.230", "05.350"], ["05.470", "05.580", "05.690", "05.800"])
        #expect(apart.stretch == RunOrder(before: 4, after: 4).stretch && apart.isTold)
        // Older results have whole seconds: what they do not tell widens intervals, and is no claim.
        let old = try compared(["05", "05", "06", "06"], ["05", "06", "06", "07"])
        #expect(old.stretch > 1 && !old.isTold)
        let mixed = try compared(["05", "05", "05", "05"], ["06.000", "06.100", "06.200", "06.300"])
        #expect(mixed.stretch == apart.stretch && mixed.isTold)
    }

    @Test(
        "Closed loops with other numbers of streams differ by Little's law: that is said, with what compares them at one load"
    )
    func littlesLaw() throws {
        func made(_ name: String, streams: Int64, rate: Double, offered: Double? = nil) -> ResultComparison.Side {
            side(
                name,
                (0..<2).map { place in
                    var run = inTurn(result("\(name)\(place)", 1), name, place)
                    run.scenario["connections"] = .integer(1)
                    run.scenario["streams"] = .integer(streams)
                    run.throughput = .init(windowSeconds: 1, offered: offered, answered: rate)
                    return run
                })
        }
        let warnings = try ResultComparison.compare(
            made("a", streams: 10, rate: 31_400), made("b", streams: 500, rate: 109_000)
        ).warnings
        #expect(
            warnings.filter { $0.contains("Little") } == [
                "A keeps 10 pushes open and B 500, in a closed loop: rate and latency follow from that (Little's law: open "
                    + "pushes = rate x latency). Compare at one load: the same with --rate 25k"
            ], "\(warnings)")
        // One fact, one message.
        #expect(!warnings.contains { $0.contains("differ in streams") }, "\(warnings)")
        for (streams, offered) in [(10, nil), (500, 1000)] as [(Int64, Double?)] {
            let others = try ResultComparison.compare(
                made("a", streams: 10, rate: 900, offered: offered),
                made("b", streams: streams, rate: 900, offered: offered)
            ).warnings
            #expect(!others.contains { $0.contains("Little") }, "\(others)")
        }
    }

    @Test("Runs that are too short for intervals of their own are so in a comparison, too")
    func tooShort() throws {
        func made(_ name: String) -> ResultComparison.Side {
            side(
                name,
                (0..<2).map { place in
                    var run = inTurn(result("\(name)\(place)", 1), name, place)
                    var figure = ResultDocument.TrustedFigure(blocks: 1, blockSeconds: 0.02)
                    figure.without = "few_blocks"
                    run.trust = .init()
                    run.trust?.figures = ["p50": figure, "p99": figure]
                    return run
                })
        }
        let warnings = try ResultComparison.compare(made("a"), made("b")).warnings
        for side in ["A", "B"] {
            #expect(
                warnings.contains {
                    $0.hasPrefix("\(side): the measured time was too short for intervals (")
                        && $0.hasSuffix(" is enough) in 2 of 2 runs")
                }, "\(warnings)")
        }
    }

    @Test(
        "Where runs of a side were made together, intervals are wider, p is larger and more runs are needed, in any order of files"
    )
    func together() throws {
        func compare(
            _ a: [Int], _ b: [Int], _ analysis: ComparisonDocument.Analysis = .groups
        ) throws -> (document: ComparisonDocument, rate: ComparisonDocument.Metric) {
            func made(_ name: String, _ minutes: [Int], _ by: Double) -> ResultComparison.Side {
                side(
                    name,
                    minutes.enumerated().map { place, minute in
                        var run = result(
                            "\(name)\(minute)", by * (1 + Double(place) / 100), [100, 200, name == "a" ? 300 : 900])
                        run.run.startedAt = "2026-11-21T10:\(minute + 10):00Z"
                        return run
                    })
            }
            let document = try ResultComparison.compare(made("a", a, 1), made("b", b, 2), by: analysis)
            return (document, try #require(document.metrics.first))
        }
        let turns = try compare([0, 3, 4, 7, 8, 11], [1, 2, 5, 6, 9, 10])
        let apart = try compare([5, 4, 3, 2, 1, 0], [6, 8, 7, 11, 10, 9])
        let unknown = try ResultComparison.compare(
            side("a", (0..<6).map { result("a\($0)", 1 + Double($0) / 100) }),
            side("b", (0..<6).map { result("b\($0)", 2 + Double($0) / 100) }))
        #expect(unknown.stretch == RunOrder(before: 6, after: 6).stretch, "runs that do not say when they were made")
        let partly = try compare([0, 1, 2, 3, 4, 6], [5, 7, 8, 9, 10, 11])
        let rounds = try compare([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], .rounds)
        #expect(turns.document.stretch == 1 && rounds.document.stretch == 1)
        #expect(apart.document.stretch == RunOrder(before: 6, after: 6).stretch)
        #expect(partly.document.stretch > 1 && partly.document.stretch < apart.document.stretch)
        let (low, high) = (try #require(turns.rate.low), try #require(turns.rate.high))
        #expect(apart.rate.ratio == turns.rate.ratio && apart.rate.coverage == turns.rate.coverage)
        #expect(try #require(apart.rate.low) < low && #require(apart.rate.high) > high)
        #expect(try #require(turns.rate.p) < 0.0022 && #require(apart.rate.p) > 0.02)
        #expect(try #require(apart.rate.sameWithin) > #require(turns.rate.sameWithin))
        // Of so few runs none can be called at a ninth of the level, and no ratio could have been seen.
        #expect(turns.rate.detectable != nil && apart.rate.detectable == nil)
        #expect(turns.document.fewestRuns == 6 && apart.document.fewestRuns == 8)
        #expect(turns.rate.verdict == .faster && apart.rate.verdict == .tooFewRuns)
        let distances = [turns, apart].map { $0.document.distributions.compactMap(\.p) }
        #expect(!distances[0].isEmpty && zip(distances[0], distances[1]).allSatisfy { $0 < $1 }, "\(distances)")
    }

    @Test("Whatever else differs is named, within a side and between both")
    func warned() throws {
        var other = result("o", 1)
        other.environment.host = "k"
        other.environment.versions["openssl"] = "3.5"
        other.run.engine = "nghttp2"
        other.scenario["streams"] = .integer(500)
        other.pushes.failed = 1
        other.pushes.planned += 1
        other.generator.limited = true
        other.workers = (0..<2).map { .init(index: $0, host: "k", state: .done) }
        let between = try ResultComparison.compare(side("a", [1]), side("b", [other]))
        #expect(
            between.warnings == [
                "A and B differ in engine: wire and nghttp2", "A and B differ in host: h and k",
                "A and B differ in streams: 100 and 500", "A and B differ in version of openssl: 3.0 and 3.5",
                "A and B differ in workers: 1 and 2",
                "B: pushes were rejected, failed or not sent in 1 of 1 run",
                "B: the generator was a limit in 1 of 1 run",
            ])
        var mixed = result("m", 1)
        mixed.environment.host = "k"
        mixed.cost.clientAllocations = nil
        let within = try ResultComparison.compare(side("a", [result("a0", 1), mixed]), side("b", [result("m", 1)]))
        #expect(
            within.warnings == [
                "the runs of A differ in host: h, k",
                "A and B share runs: all of B's are among A's, so that A is held against a part of itself",
                "allocations a push: not compared, some runs have no such figure",
            ])
    }
}
