import Histogram
import Testing

@testable import Measurement

@Suite struct HistogramTests {
    @Test("Counts up to ascending bounds are cumulative, hold what lies at a bound, and end with everything")
    func cumulative() {
        var histogram = LatencyHistogram()
        #expect(histogram.counts(upTo: [10, 20]) == [0, 0])
        histogram.record(10, count: 3)
        histogram.record(11, count: 4)
        histogram.record(2_000_000, count: 5)
        #expect(histogram.counts(upTo: [1, 9, 10, 11, 1_000_000, 2_000_000, 9_000_000]) == [0, 0, 3, 7, 7, 12, 12])
        #expect(histogram.counts(upTo: [5, 10]) == [0, 3] && histogram.counts(upTo: []) == [])
        var all = LatencyHistogram()
        for value in stride(from: 1000, through: 9_999_000, by: 1000) as StrideThrough<UInt64> { all.record(value) }
        for bound in [50_000, 777_000, 5_000_000] as [UInt64] {
            let count = Double(all.counts(upTo: [bound])[0])
            #expect(abs(count - Double(bound / 1000)) <= 1 + count * 0.001, "\(bound): \(count)")
        }
    }

    @Test("Percentiles are within 0.1 % of the exact ones of sorted data")
    func exact() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11
        }
        for _ in 0..<20 {
            var histogram = LatencyHistogram()
            let values = (0..<5000).map { _ in 1 + random() % (1 << (4 + random() % 36)) }
            for value in values { histogram.record(value) }
            let sorted = values.sorted()
            let summary = histogram.summary
            #expect(summary.count == 5000 && summary.max >= sorted.last!, "seed \(seed)")
            for (percentile, measured) in [
                (50.0, summary.p50), (90, summary.p90), (99, summary.p99), (99.9, summary.p999),
            ] {
                let exact = Double(sorted[Int((percentile * 50 - 1e-6).rounded(.up)) - 1])
                #expect(abs(Double(measured) - exact) <= exact * 0.001 + 1, "seed \(seed): p\(percentile)")
            }
            let mean = Double(values.reduce(0, +)) / 5000
            #expect(abs(summary.mean - mean) <= mean * 1e-9)
        }
    }

    @Test("Merging the parts equals recording the whole, and nothing outside the range is lost")
    func merge() {
        var whole = LatencyHistogram()
        var parts = [LatencyHistogram(), LatencyHistogram(), LatencyHistogram()]
        for value in 0..<30_000 {
            let nanoseconds = UInt64(value) * UInt64(value)
            whole.record(nanoseconds)
            parts[value % 3].record(nanoseconds)
        }
        whole.record(.max)
        [UInt64.max].withUnsafeBufferPointer { parts[0].record($0) }
        var sum = LatencyHistogram()
        for part in parts { sum.add(part) }
        #expect(sum.summary == whole.summary)
        #expect(whole.count == 30_001 && whole.clamped == 2 && sum.clamped == 2)
    }

    @Test("Percentiles are those that HdrHistogram finds, and a histogram that forgot everything is as a new one")
    func asTheLibrary() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<10 {
            var histogram = LatencyHistogram()
            var inner = Histogram<UInt64>(
                lowestDiscernibleValue: 1, highestTrackableValue: LatencyHistogram.highest,
                numberOfSignificantValueDigits: .three)
            let times = (0..<Int.random(in: 1...3000, using: &generator)).map { _ in
                UInt64.random(in: 1...1 << Int.random(in: 1...40, using: &generator), using: &generator)
            }
            for time in times { inner.record(time) }
            // One by one, and together.
            let half = times.count / 2
            for time in times[..<half] { histogram.record(time) }
            times[half...].withUnsafeBufferPointer { histogram.record($0) }
            #expect(histogram.count == inner.totalCount && histogram.clamped == 0)
            #expect(histogram.counters.allSatisfy { inner.countForValue($0.value) == $0.count })
            for percentile in [0.001, 1, 25, 50, 90, 99, 99.9, 99.999, 100, .random(in: 0.1...100, using: &generator)] {
                let theirs = inner.highestEquivalentForValue(inner.valueAtPercentile(percentile))
                #expect(histogram.value(atPercentile: percentile) == theirs, "p\(percentile) of \(histogram.counters)")
            }
            let steps = histogram.percentileSteps(ticksPerHalfDistance: 5)
            let others = Array(inner.percentiles(ticksPerHalfDistance: 5))
            #expect(steps.map(\.value) == others.map(\.value))
            #expect(steps.map(\.percentile) == others.map(\.percentileLevelIteratedTo))
            #expect(steps.map(\.count) == others.map(\.totalCountToThisValue))
            let deviation = inner.stdDeviation
            #expect(abs(histogram.standardDeviation - deviation) <= deviation * 0.002 + 1)
            let smallest = histogram.counters[0].value
            #expect(histogram.value(atPercentile: 0) == smallest && histogram.summary.min == smallest)
            histogram.removeAll()
            #expect(histogram.counters.isEmpty && histogram.summary == LatencySummary())
            histogram.record(7)
            #expect(histogram.counters.map(\.count) == [1] && histogram.value(atPercentile: 50) == 7)
        }
    }

    @Test("Ten billion pushes that waited an hour each overflow nothing")
    func long() {
        var histogram = LatencyHistogram()
        histogram.record(LatencyHistogram.highest, count: 10_000_000_000)
        histogram.record(1000, count: 10_000_000_000)
        #expect(histogram.summary.p50 == 1000 && histogram.counters.map(\.count) == [10_000_000_000, 10_000_000_000])
        #expect(abs(histogram.summary.mean - 1.8e12) < 1e4)
        #expect(HistogramLog.percentiles(histogram).contains("20000000000"))
    }

    @Test("An interval's percentiles are of what was recorded within it")
    func interval() {
        var histogram = LatencyHistogram()
        for _ in 0..<1000 { histogram.record(1_000_000) }
        let before = histogram
        #expect(histogram.since(before).count == 0)
        for _ in 0..<99 { histogram.record(5_000) }
        histogram.record(9_000_000)
        let recent = histogram.since(before)
        #expect(recent.count == 100)
        for percentile in [50.0, 99] { #expect(abs(Int(recent.value(atPercentile: percentile)) - 5_000) <= 5) }
    }

    @Test("A recorder counts each outcome once, and reasons without bound are kept bounded")
    func recorder() {
        let recorder = Recorder(causes: 3)
        recorder.take()
        recorder.accepted(total: 6, isMeasured: true)
        recorder.travelled(roundTrip: 5)
        for number in 0..<200 {
            Array("Reason\(number)".utf8).withUnsafeBufferPointer {
                recorder.rejected(status: 400, reason: $0, total: 9, isMeasured: false)
            }
        }
        recorder.failed(cause: 2)
        #expect(recorder.counts.accepted == 1 && recorder.counts.rejected == 200 && recorder.counts.failed == 1)
        #expect(recorder.statuses[200] == 1 && recorder.statuses[400] == 200 && recorder.failures == [0, 0, 1])
        #expect(
            recorder.rejections.count == Recorder.reasonLimit + 1 && recorder.rejections.values.reduce(0, +) == 200)
        #expect(recorder.rejections[Rejection(status: 400, reason: Recorder.otherReason)] == 136)
        recorder.notSent(7, cause: 1)
        #expect(recorder.counts.taken == 8 && recorder.counts.notSent == 7 && recorder.notSent == [0, 7, 0])
        #expect(recorder.counts.failed == 1 && recorder.counts.ended == 1 + 200 + 1 + 7)
        #expect(recorder[.roundTrip].count == 1 && recorder.counts.measured == 1)
    }

    @Test("Total latencies are handed over once, apart by how pushes ended, and the next ones begin empty")
    func handOver() {
        let recorder = Recorder(causes: 1)
        let nobody = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        for time in 1...1000 as ClosedRange<UInt64> { recorder.accepted(total: time * 1000, isMeasured: true) }
        recorder.rejected(status: 429, reason: nobody, total: 50, isMeasured: true)
        recorder.unanswered(after: 20_000_000, count: 3)
        recorder.accepted(total: 77, isMeasured: false)
        var first = TotalLatencies()
        recorder.handOver(&first)
        #expect(first.accepted.count == 1000 && first.rejected?.count == 1 && first.unanswered?.count == 3)
        #expect(first.warmup?.count == 1 && first.answered.count == 1001 && first.everyAnswer.count == 1002)
        #expect(first.all.count == 1004 && recorder.counts.measured == 1001)
        var whole = TotalLatencies()
        whole.add(first)
        first.removeAll()
        recorder.handOver(&first)
        #expect(first.all.count == 0 && first.everyAnswer.count == 0)
        recorder.accepted(total: 5, isMeasured: true)
        recorder.handOver(&first)
        whole.add(first)
        #expect(whole.accepted.count == 1001 && whole.accepted.summary.min == 5 && whole.all.count == 1005)
    }

    @Test("A breakdown keeps labels apart, also new ones, up to its bound; merged parts make the whole")
    func breakdown() {
        let breakdown = Breakdown("status", labels: ["200"])
        breakdown.answered(0, isAccepted: true, total: 1000, isMeasured: true)
        breakdown.answered(breakdown.place("503"), isAccepted: false, total: 2000, isMeasured: false)
        breakdown.unanswered(breakdown.place("503"), isBegun: true, after: 9, isMeasured: true)
        for number in 0..<200 {
            breakdown.unanswered(breakdown.place("x\(number)"), isBegun: true, after: 9, isMeasured: false)
        }
        breakdown.unanswered(0, isBegun: false, after: 1, isMeasured: true)
        #expect(breakdown.labels.count == Breakdown.most)
        var merged = MergedBreakdowns()
        merged.add(breakdown)
        merged.add(breakdown)
        let parts = merged.outcomes["status"]!
        #expect(parts["200"]!.accepted == 2 && parts["200"]!.total.count == 2)
        #expect(parts["503"]!.rejected == 2 && parts["503"]!.failed == 2 && parts["503"]!.total.count == 0)
        #expect(parts.values.reduce(0) { $0 + $1.failed } == 402)
        #expect(parts["200"]!.notSent == 2 && parts["200"]!.unanswered?.count == 2)
        #expect(parts["503"]!.unanswered?.count == 2 && parts["x1"]!.unanswered == nil)
    }

    @Test(
        "Labels that one of several workers could not keep are in (other) with all their pushes; there are at most 64")
    func fullBreakdowns() {
        var merged = MergedBreakdowns()
        for worker in 0..<2 {
            let breakdown = Breakdown("tag", labels: [])
            // Both meet the same 100 labels, the second in the opposite order.
            for number in worker == 0 ? Array(0..<100) : (0..<100).reversed() {
                for _ in 0..<10 {
                    breakdown.answered(breakdown.place("x\(number)"), isAccepted: true, total: 1000, isMeasured: true)
                }
            }
            merged.add(breakdown)
        }
        let parts = merged.outcomes["tag"]!
        #expect(parts.count <= Breakdown.most && parts.values.reduce(0) { $0 + $1.accepted } == 2000)
        #expect(parts.count > 2 && parts.allSatisfy { $0.key == Breakdown.other || $0.value.accepted == 20 })
    }

    @Test("What was never begun is on no connection, also when there are as many connections as labels")
    func none() {
        for count in [63, 64, 65] {
            let breakdown = Breakdown("connection", labels: (0..<count).map(String.init))
            breakdown.unanswered(breakdown.place("(none)"), isBegun: false, after: 1, isMeasured: true)
            breakdown.answered(breakdown.place(number: 62), isAccepted: true, total: 1, isMeasured: true)
            var merged = MergedBreakdowns()
            merged.add(breakdown)
            let parts = merged.outcomes["connection"]!
            #expect(parts["62"]!.accepted == 1 && parts["62"]!.notSent == 0 && parts["63"] == nil)
            #expect((parts["(none)"] ?? parts[Breakdown.other])!.notSent == 1)
        }
    }

    @Test("A series holds the differences between snapshots")
    func series() {
        var builder = SeriesBuilder()
        var counts = PushCounts()
        counts.sent = 10
        counts.accepted = 8
        builder.add(time: 1, counts: counts, inFlight: 2, backlog: 0, totals: TotalLatencies())
        counts.sent = 15
        counts.accepted = 12
        counts.failed = 1
        builder.add(time: 2, counts: counts, inFlight: 2, backlog: 0, totals: TotalLatencies())
        #expect(builder.points.map(\.sent) == [10, 5] && builder.points.map(\.accepted) == [8, 4])
        #expect(builder.points[1].failed == 1)
    }
}
