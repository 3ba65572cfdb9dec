import Foundation
import Testing

@testable import Measurement

/// Pushes between two machines whose clocks are known, so that what is found can be held against the truth.
@Suite struct ClockOffsetTests {
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }

        /// ns, at least 0: mostly little, sometimes much.
        mutating func delay(_ mean: Double) -> Int64 {
            Int64(-mean * log(Double.random(in: 1e-9..<1, using: &self)))
        }
    }

    private struct Truth {
        var offset: Int64 = 2_000_000_000
        /// Of the mock's clock, by time.
        var drift = 0.0
        var (there, back): (Int64, Int64) = (100_000, 100_000)
        /// Mean of what waiting adds either way.
        var waiting = 50_000.0

        func mockTime(_ time: Int64) -> Int64 { time + offset + Int64(Double(time) * drift) }
        func ahead(_ time: Int64) -> Int64 { mockTime(time) - time }

        /// A push so long after the client's clock began.
        func sample(_ sent: Int64, _ random: inout Random) -> (stamps: PushStamps, there: Int64, back: Int64) {
            let there = there + random.delay(waiting)
            let back = back + random.delay(waiting)
            let inMock = random.delay(30_000)
            let (received, answered) = (sent + there, sent + there + inMock)
            let stamps = PushStamps(
                sent: UInt64(sent), received: UInt64(mockTime(received)), answered: UInt64(mockTime(answered)),
                read: UInt64(answered + back))
            return (stamps!, there, back)
        }
    }

    private let seed = UInt64.random(in: .min ... .max)
    private static let second: Int64 = 1_000_000_000

    @Test(
        "The offset is found within its bound, whatever the ways there and back take",
        arguments: [(100_000, 100_000), (20_000, 900_000), (2_000_000, 1_000)] as [(Int64, Int64)])
    func offset(_ there: Int64, _ back: Int64) throws {
        var random = Random(state: seed)
        var truth = Truth()
        (truth.there, truth.back) = (there, back)
        let samples = (1...400).map { truth.sample(Int64($0) * 10_000_000, &random).stamps }
        let clocks = try #require(ClockOffset(samples))
        for span in clocks.spans {
            #expect(abs(span.offset - truth.offset) <= span.bound, "seed \(seed)")
            // Half of the shortest way there and back, and what waiting added even then.
            #expect(span.bound >= (there + back) / 2 && span.bound < (there + back) / 2 + 100_000, "seed \(seed)")
        }
        #expect(clocks.drift == nil && clocks.spans.count == 4, "\(clocks.spans.count)")
    }

    @Test("A drift of 50 ppm over an hour is found, and taken out of each sample's ways", arguments: [50e-6, -50e-6])
    func drift(_ drift: Double) throws {
        var random = Random(state: seed)
        var truth = Truth()
        truth.drift = drift
        let sent = (1...36_000).map { Int64($0) * Self.second / 10 }
        let pushes = sent.map { truth.sample($0, &random) }
        let clocks = try #require(ClockOffset(pushes.map(\.stamps)))
        let found = try #require(clocks.drift)
        #expect(abs(found - drift * 1e6) < 0.2, "\(found), seed \(seed)")
        var oneWay = OneWayTimes()
        for push in pushes {
            let (offset, bound) = clocks.at(push.stamps.sent)
            // Between two spans the bound is that of the worse one; the drift within 30 µs of a sample is nothing.
            #expect(abs(offset - truth.ahead(push.stamps.sent)) <= bound + 2_000, "seed \(seed)")
            oneWay.add(push.stamps, clocks)
        }
        #expect(oneWay.unmatched == 0 && oneWay.toMock.count == 36_000 && oneWay.unknownWays == nil, "seed \(seed)")
        var truly = LatencyHistogram()
        for push in pushes { truly.record(UInt64(push.there)) }
        let (median, known) = (oneWay.toMock.value(atPercentile: 50), truly.value(atPercentile: 50))
        let bound = Int64(oneWay.bounds.value(atPercentile: 100))
        #expect(abs(Int64(median) - Int64(known)) <= bound, "\(median), truly \(known), seed \(seed)")
    }

    @Test("Pushes that were sent twice do not mislead, and are left out")
    func twice() throws {
        var random = Random(state: seed)
        let truth = Truth()
        var samples: [PushStamps] = []
        var mixed: UInt64 = 0
        for number in 1...2000 {
            var stamps = truth.sample(Int64(number) * 5_000_000, &random).stamps
            if number % 10 == 0 {
                // The client has the times of the second attempt, the mock those of the first, which took no time in it.
                let later = 3_000_000 + random.delay(20_000_000)
                stamps.sent += later
                stamps.read = stamps.sent + 40_000
                stamps.answered = stamps.received + 20_000
                mixed += 1
            }
            samples.append(stamps)
        }
        let clocks = try #require(ClockOffset(samples))
        var oneWay = OneWayTimes()
        for span in clocks.spans { #expect(abs(span.offset - truth.offset) <= span.bound, "seed \(seed)") }
        for sample in samples { oneWay.add(sample, clocks) }
        #expect(oneWay.unmatched == mixed && oneWay.toMock.count == 2000 - mixed, "seed \(seed)")
    }

    @Test("A few samples are one span, moments that cannot be are none, and of none nothing is said")
    func few() throws {
        #expect(ClockOffset([]) == nil)
        let wrong = try #require(PushStamps(sent: 100, received: 50, answered: 40, read: 90))
        #expect(ClockOffset([wrong]) == nil)
        #expect(PushStamps(sent: 1, received: 0, answered: 2, read: 3) == nil)
        #expect(PushStamps(sent: 1, received: .max, answered: 2, read: 3) == nil)
        let stamps = try #require(PushStamps(sent: 1000, received: 5100, answered: 5300, read: 1400))
        let clocks = try #require(ClockOffset([stamps]))
        #expect(clocks.spans.count == 1 && clocks.best.offset == 4000 && clocks.best.bound == 100)
        #expect(clocks.at(0).offset == 4000 && clocks.at(.max / 4).offset == 4000)
    }

    @Test("Ways that take less than what the clocks are known to are said to be unknown")
    func unknown() throws {
        var random = Random(state: seed)
        let truth = Truth()
        // A slow push alone says what the clocks are; those that come then are faster.
        let slow = try #require(
            PushStamps(
                sent: 1_000_000, received: UInt64(truth.offset) + 6_000_000,
                answered: UInt64(truth.offset) + 6_000_000, read: 11_000_000))
        let clocks = try #require(ClockOffset([slow]))
        var oneWay = OneWayTimes()
        for number in 1...100 { oneWay.add(truth.sample(Int64(number) * 1_000_000, &random).stamps, clocks) }
        let unknown = try #require(oneWay.unknownWays)
        #expect(unknown.median < 1_000_000 && unknown.bound >= 4_990_000 && unknown.bound <= 5_010_000)
    }

    @Test("Each sample belongs to the mock that saw it; one that two of them saw, or none, to nobody")
    func mocks() throws {
        func contents(_ samples: [(Int, UInt64, UInt64)], wall: Int64) -> PushTimesFile.Contents {
            .init(
                run: 1, interval: 256, wallClock: wall,
                samples: samples.map { .init(number: $0.0, arrival: $0.1, departure: $0.2) })
        }
        let mocks = MockTimes([
            contents([(0, 1100, 1200), (2, 2100, 2200), (5, 9100, 9200)], wall: 10),
            contents([(1, 50_600, 50_700), (5, 9100, 9200)], wall: 20),
        ])
        // The client's file has the answer as arrival, and the push as departure.
        let client = contents(
            [(0, 1300, 1000), (1, 1400, 1000), (2, 2300, 2000), (4, 3000, 2900), (5, 9300, 9000), (6, 5, 0)], wall: 100)
        var oneWay = OneWayTimes()
        let pairs = mocks.join(client, into: &oneWay)
        #expect(pairs.map(\.mock) == [0, 1] && pairs.map(\.samples) == [2, 1])
        // The first mock's monotonic clock is the client's, its wall clock 90 ns behind.
        #expect(pairs.map(\.offset) == [-90, 49_450 - 80] && pairs.map(\.bound) == [100, 150])
        #expect(oneWay.unmatched == 2 && oneWay.toMock.count == 3)
    }
}
