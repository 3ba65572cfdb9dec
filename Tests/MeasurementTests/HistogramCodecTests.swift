import Foundation
import Testing

@testable import Measurement

@Suite struct HistogramCodecTests {
    private func random(_ seed: UInt64, _ count: Int) -> LatencyHistogram {
        var state = seed
        var histogram = LatencyHistogram()
        for _ in 0..<count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Over all magnitudes up to an hour.
            histogram.record(min(LatencyHistogram.highest, max(1, (state >> 20) >> (state & 43))))
        }
        return histogram
    }

    @Test("Counters are numbered as HdrHistogram does, and every value falls into its own")
    func counters() {
        #expect(LatencyHistogram.place(of: 0) == 0 && LatencyHistogram.place(of: 2047) == 2047)
        #expect(LatencyHistogram.place(of: 2048) == 2048 && LatencyHistogram.place(of: 2049) == 2048)
        #expect(LatencyHistogram.place(of: 4096) == 3072)
        for index in 0..<33_000 { #expect(LatencyHistogram.place(of: LatencyHistogram.lowest(at: index)) == index) }
    }

    @Test("What is decoded has the same counts and percentiles")
    func roundTrip() throws {
        let seed = UInt64.random(in: .min ... .max)
        for count in [0, 1, 10, 5000] {
            let histogram = random(seed, count)
            let decoded = try HistogramCodec.decode(HistogramCodec.encode(histogram))
            #expect(decoded.count == histogram.count, "seed \(seed)")
            #expect(decoded.counters.elementsEqual(histogram.counters) { $0 == $1 }, "seed \(seed)")
            for percentile in [0.0, 50, 90, 99, 99.9, 100] {
                #expect(
                    decoded.value(atPercentile: percentile) == histogram.value(atPercentile: percentile), "seed \(seed)"
                )
            }
        }
    }

    @Test("Damaged bytes are refused, with a printed seed")
    func damaged() {
        let seed = UInt64.random(in: .min ... .max)
        let good = HistogramCodec.encode(random(seed, 500))
        for length in 0..<good.count {
            #expect(throws: HistogramCodec.Failure.self) { try HistogramCodec.decode(Array(good[..<length])) }
        }
        var state = seed
        for _ in 0..<2000 {
            var bytes = good
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
            // Either refused or read; never a crash.
            _ = try? HistogramCodec.decode(bytes)
        }
    }

    @Test("Histograms of more records than anybody makes are refused; those of as many as may be are read and written")
    func huge() throws {
        var most = LatencyHistogram()
        most.record(1000, count: (1 << 48) - 1)
        most.record(5_000_000, count: 1)
        let bytes = HistogramCodec.encode(most)
        var sum = try HistogramCodec.decode(bytes)
        // A thousand results merged.
        for _ in 0..<1000 { sum.add(most) }
        #expect(sum.value(atPercentile: 100) >= 5_000_000 && sum.value(atPercentile: 50) == 1000)
        #expect(HistogramCodec.encode(sum).count > 40 && HistogramLog.percentiles(sum).count > 100)
        most.record(7, count: 1)
        #expect(throws: HistogramCodec.Failure.self) { try HistogramCodec.decode(HistogramCodec.encode(most)) }
        var one = LatencyHistogram()
        one.record(1000, count: UInt64(Int64.max))
        #expect(throws: HistogramCodec.Failure.self) { try HistogramCodec.decode(HistogramCodec.encode(one)) }
    }

    @Test("A log has its header, one line an interval, and times as numbers")
    func log() {
        let text =
            HistogramLog.header(startTime: 1_700_000_000.25)
            + HistogramLog.line(.init(start: 0, length: 1.5, tag: "total", histogram: random(1, 100)))
        let lines = text.split(separator: "\n")
        #expect(lines[0] == "#[Histogram log format version 1.3]" && lines[2].contains("1700000000.250"))
        #expect(lines[4].hasPrefix("Tag=total,0.000,1.500,") && lines[4].contains(",HISTFA"))
    }
}
