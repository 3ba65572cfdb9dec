import Measurement
import Testing

@testable import Results

@Suite struct FanOutTests {
    private func times(_ milliseconds: [UInt64]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for time in milliseconds { histogram.record(time * 1000) }
        return histogram
    }

    /// To the histogram's precision.
    private func isNear(_ seconds: Double?, _ milliseconds: Double) -> Bool {
        seconds.map { abs($0 - milliseconds / 1e3) <= 0.002 * milliseconds / 1e3 } ?? false
    }

    @Test("Of a hundred pushes the times are those of the 1st, 50th, 99th and 100th answer, in any order")
    func known() {
        let all = (1...100).map { UInt64($0) * 10 }
        let fanOut = ResultDocument.FanOut(times(all.shuffled()), of: 100)
        #expect(isNear(fanOut.first, 10) && isNear(fanOut.last, 1000), "\(fanOut)")
        #expect(isNear(fanOut.p50, 500) && isNear(fanOut.p99, 990) && isNear(fanOut.max, 1000), "\(fanOut)")
    }

    @Test("Times are as long as they were in runs of a month, to a thousandth")
    func long() {
        let day: UInt64 = 86_400_000
        let fanOut = ResultDocument.FanOut(times([1, 7_200_000, 20 * day, 30 * day]), of: 4)
        #expect(isNear(fanOut.first, 1) && isNear(fanOut.p50, 7_200_000), "\(fanOut)")
        #expect(isNear(fanOut.max, Double(30 * day)) && isNear(fanOut.last, Double(30 * day)), "\(fanOut)")
    }

    @Test("Shares are of what was planned: what never came so far is null, not the last answer's time")
    func unreached() {
        let most = ResultDocument.FanOut(times((1...99).map { $0 * 10 }), of: 100)
        #expect(isNear(most.p50, 500) && isNear(most.p99, 990) && most.max == nil && isNear(most.last, 990))
        let some = ResultDocument.FanOut(times((1...60).map { $0 * 10 }), of: 100)
        #expect(isNear(some.p50, 500) && some.p99 == nil && some.max == nil && isNear(some.last, 600))
        let few = ResultDocument.FanOut(times([7, 9]), of: 100)
        #expect(isNear(few.first, 7) && isNear(few.last, 9) && few.p50 == nil)
        let none = ResultDocument.FanOut(LatencyHistogram(), of: 100)
        #expect(none.first == nil && none.last == nil && none.p50 == nil && none.p99 == nil && none.max == nil)
        let nothing = ResultDocument.FanOut(LatencyHistogram(), of: 0)
        #expect(nothing.max == nil)
        let one = ResultDocument.FanOut(times([5]), of: 1)
        #expect(isNear(one.first, 5) && isNear(one.p50, 5) && isNear(one.max, 5))
    }

    @Test("Of any number of pushes the rank is the least that is not below the share")
    func ranks() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        for _ in 0..<300 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let planned = 1 + Int((state >> 33) % 900)
            let accepted = Int((state >> 20) % UInt64(planned + 1))
            let fanOut = ResultDocument.FanOut(times((0..<accepted).map { UInt64($0 + 1) }), of: UInt64(planned))
            for (share, value) in [(50, fanOut.p50), (99, fanOut.p99), (100, fanOut.max)] {
                let rank = (share * planned + 99) / 100
                let isRight = rank <= accepted ? isNear(value, Double(rank)) : value == nil
                #expect(
                    isRight,
                    "seed \(seed): \(share) % of \(planned), \(accepted) accepted: \(String(describing: value))")
            }
        }
    }

    @Test("A result with sends reads back as it was, with null where it never came so far; one without has none")
    func document() throws {
        var result = sampleResult()
        #expect(result.sends == nil)
        var send = ResultDocument.Send(name: "a", audience: "x && !y", devices: 3, pushes: 4, start: 1.5)
        (send.accepted, send.rejected, send.failed, send.notSent) = (2, 1, 1, 0)
        send.fanOut = ResultDocument.FanOut(times([10, 20]), of: 4)
        result.sends = [send]
        let text = try ResultFile.encode(result)
        #expect(try ResultFile.decode(text, origin: "r") == result)
        let words = String(decoding: text, as: UTF8.self)
        for part in ["\"fan_out_seconds\"", "\"not_sent\" : 0", "\"start_seconds\" : 1.5", "\"p99\" : null"] {
            #expect(words.contains(part), "\(part) is not in \(words)")
        }
    }
}
