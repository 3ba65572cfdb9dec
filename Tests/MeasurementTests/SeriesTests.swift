import Testing

@testable import Measurement

@Suite struct SeriesTests {
    /// A series that keeps every interval, and merges neighbours only when it is asked for its points.
    private struct Model {
        var intervals: [SeriesPoint] = []

        func points(_ most: Int) -> [SeriesPoint] {
            var width = 1
            while (intervals.count + width - 1) / width > most { width *= 2 }
            return stride(from: 0, to: intervals.count, by: width).map { first in
                let part = intervals[first..<min(first + width, intervals.count)]
                func sum(_ count: (SeriesPoint) -> UInt64) -> UInt64 { part.reduce(0) { $0 + count($1) } }
                return SeriesPoint(
                    time: part.last!.time, sent: sum(\.sent), accepted: sum(\.accepted), rejected: sum(\.rejected),
                    failed: sum(\.failed), notSent: sum(\.notSent), inFlight: part.map(\.inFlight).max()!,
                    backlog: part.map(\.backlog).max()!, p50: part.map(\.p50).max()!, p99: part.map(\.p99).max()!)
            }
        }
    }

    @Test("A series of any length is that of a plain model with neighbours merged, and never longer than its bound")
    func model() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        let most = 16
        var builder = SeriesBuilder(most: most)
        var model = Model()
        var counts = PushCounts()
        var time = 0.0
        var totals = TotalLatencies()
        let length = 10 * most + Int(random(100))
        for number in 1...length {
            let next = SeriesPoint(
                time: time + Double(1 + random(3000)) / 1000, sent: random(50), accepted: random(40),
                rejected: random(9), failed: random(5), notSent: random(3), inFlight: Int(random(100)),
                backlog: random(1000), p50: 0, p99: 0)
            time = next.time
            counts.sent += next.sent
            counts.accepted += next.accepted
            counts.rejected += next.rejected
            counts.failed += next.failed
            counts.notSent += next.notSent
            totals.removeAll()
            let times = (0..<random(4)).map { _ in 1 + random(1 << 20) }
            times.withUnsafeBufferPointer { totals.accepted($0) }
            builder.add(
                time: time, counts: counts, inFlight: next.inFlight, backlog: next.backlog, totals: totals)
            model.intervals.append(next)
            model.intervals[number - 1].p50 = totals.answered.value(atPercentile: 50)
            model.intervals[number - 1].p99 = totals.answered.value(atPercentile: 99)
            #expect(builder.points.count <= most)
            #expect(builder.points == model.points(most), "seed \(seed), interval \(number)")
            #expect(builder.points(atMost: 3) == model.points(3), "seed \(seed), interval \(number)")
        }
        #expect(zip(builder.points, builder.points.dropFirst()).allSatisfy { $0.time < $1.time }, "seed \(seed)")
    }

    @Test("A week, second by second, is at most as many points as a series may have, with every push in them")
    func week() {
        var builder = SeriesBuilder()
        var counts = PushCounts()
        let nothing = TotalLatencies()
        for second in 1...604_800 {
            counts.sent += 2000
            counts.accepted += UInt64(second % 2000)
            builder.add(time: Double(second), counts: counts, inFlight: second, backlog: 0, totals: nothing)
        }
        let points = builder.points
        #expect(points.count == 591 && points.first?.time == 1024 && points.last?.time == 604_800)
        #expect(points.reduce(0) { $0 + $1.sent } == counts.sent)
        #expect(points.reduce(0) { $0 + $1.accepted } == counts.accepted && points.last?.inFlight == 604_800)
    }

    @Test("An end before the last point's is taken for its: times never fall")
    func ends() {
        var builder = SeriesBuilder()
        for time in [1, 2.06, 2.04] {
            builder.add(time: time, counts: PushCounts(), inFlight: 0, backlog: 0, totals: TotalLatencies())
        }
        #expect(builder.points.map(\.time) == [1, 2.06, 2.06])
    }
}
