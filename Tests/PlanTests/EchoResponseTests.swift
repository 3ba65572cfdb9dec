import Statistics
import Testing

@testable import Plan

@Suite struct EchoResponseTests {
    private static let second: UInt64 = 1_000_000_000

    private func isClose(_ one: Double, _ other: Double, _ within: Double = 1e-9) -> Bool {
        abs(one - other) <= within * max(1, abs(other))
    }

    @Test("All at once: the peak is D / T from the first push on, and all D come")
    func atOnce() {
        let response = EchoResponse([UInt64](repeating: 0, count: 100), devices: 100)
        #expect(isClose(response.peak(pushes: 6e6, spread: 60e9), 1e5))
        #expect(response.busiest(spread: 60e9, window: 1e9).after == 0)
        #expect(response.perPush(within: 0) == 1 && response.perPush(within: .infinity) == 1)
        #expect(isClose(response.perPush(by: 60e9, spread: 60e9), 1))
        #expect(isClose(response.perPush(by: 15e9, spread: 60e9), 0.25))
        // Within less than a second all are in one.
        #expect(isClose(response.peak(pushes: 6e6, spread: 0.2e9), 6e6))
    }

    @Test("A constant delay shifts the wave and changes nothing else; half of the devices are half of it")
    func shifted() {
        let response = EchoResponse([UInt64](repeating: 7 * Self.second, count: 50), devices: 100)
        let busiest = response.busiest(spread: 10e9, window: 1e9)
        #expect(isClose(busiest.perPush, 0.05) && isClose(busiest.after, 7e9))
        #expect(response.perPush(within: 6.9e9) == 0 && response.perPush(within: 7e9) == 0.5)
        #expect(
            isClose(response.perPush(by: 7e9, spread: 10e9), 0)
                && isClose(response.perPush(by: 12e9, spread: 10e9), 0.25))
    }

    @Test("Two waves are one where they meet: fetches at once, and again after 5 s")
    func twoWaves() {
        let response = EchoResponse([0, 5 * Self.second], devices: 1)
        let apart = response.busiest(spread: 4e9, window: 1e9)
        #expect(isClose(apart.perPush, 0.25) && apart.after == 0)
        let together = response.busiest(spread: 10e9, window: 1e9)
        #expect(isClose(together.perPush, 0.2) && isClose(together.after, 5e9))
        // Half a second of the first wave, all the second of the second.
        let half = response.busiest(spread: 5.5e9, window: 1e9)
        #expect(isClose(half.perPush, 1.5 / 5.5) && isClose(half.after, 4.5e9) || isClose(half.after, 5e9))
    }

    @Test("Peaks are those of all events in a list, counted one by one")
    func bruteForce() {
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = SplitMix(seed: seed)
        for _ in 0..<60 {
            let delays = (0..<(1 + random.below(40))).map { _ in
                random.below(3) == 0 ? 0 : UInt64(random.below(20_000)) * 1_000_000
            }
            let devices = delays.count + random.below(20)
            let spread = 0.3e9 + random.share() * 15e9
            let window = random.below(2) == 0 ? 1e9 : 0.05e9 + random.share() * 4e9
            let pushes = 4000
            var events: [Double] = []
            for push in 0..<pushes {
                let sent = (Double(push) + 0.5) * spread / Double(pushes)
                for delay in delays { events.append(sent + Double(delay)) }
            }
            events.sort()
            var (most, first) = (0, 0)
            for (last, event) in events.enumerated() {
                while events[first] <= event - window { first += 1 }
                most = max(most, last - first + 1)
            }
            let counted = Double(most) / Double(devices)
            let response = EchoResponse(delays, devices: devices)
            let busiest = response.busiest(spread: spread, window: window)
            let expected = busiest.perPush * Double(pushes)
            // Each delay's pushes are whole ones at either end of the window.
            let rounding = 2 * Double(delays.count) / Double(devices)
            #expect(abs(counted - expected) <= rounding, "seed \(seed): \(counted) counted, \(expected) by formula")
            let there = delays.reduce(0.0) {
                $0 + EchoResponse.overlap(Double($1), spread: spread, window: window, after: busiest.after)
            }
            #expect(isClose(there / spread / Double(devices), busiest.perPush, 1e-9), "seed \(seed)")
        }
    }

    @Test("The shortest time keeps the limit, one per cent less does not, and no time in between is skipped")
    func shortest() throws {
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = SplitMix(seed: seed)
        for _ in 0..<40 {
            let delays = (0..<(1 + random.below(30))).map { _ in
                random.below(2) == 0 ? 0 : UInt64(random.below(60)) * Self.second
            }
            let response = EchoResponse(delays, devices: delays.count)
            let from = 0.1e9 + random.share() * 20e9
            let limit = response.peak(pushes: 1e6, spread: from) * (0.02 + 0.97 * random.share())
            func peak(_ spread: Double) -> Double { response.peak(pushes: 1e6, spread: spread) }
            let found = try #require(
                response.shortest(pushes: 1e6, from: from, limit: limit, longest: 1e18) { $0 < limit }, "seed \(seed)")
            #expect(peak(found) < limit && found > from, "seed \(seed)")
            #expect(peak(max(from, found * 0.99)) >= limit, "seed \(seed)")
            for _ in 0..<30 {
                let earlier = from + random.share() * (found * 0.9998 - from)
                if earlier > from { #expect(peak(earlier) >= limit, "seed \(seed): \(earlier) of \(found)") }
            }
        }
    }

    @Test("Where the limit holds already, nothing changes; where it never can, there is no time")
    func limits() {
        let response = EchoResponse([0, 0], devices: 2)
        func shortest(_ limit: Double, _ holds: (Double) -> Bool) -> Double? {
            response.shortest(pushes: 1000, from: 10e9, limit: limit, longest: 1e18, holds: holds)
        }
        #expect(shortest(100) { $0 <= 100.000_001 } == 10e9)
        #expect(shortest(0) { $0 < 0 } == nil && shortest(0) { $0 <= 0 } == nil)
        #expect(shortest(1e-9) { $0 < 1e-9 } == nil)
        let none = EchoResponse([], devices: 5)
        #expect(none.busiest(spread: 1e9, window: 1e9) == (0, 0) && none.perPush(within: .infinity) == 0)
        #expect(none.shortest(pushes: 1e6, from: 5, limit: 0, longest: 1e18) { $0 <= 0 } == 5)
    }

    @Test("Absurd numbers give numbers")
    func absurd() {
        let response = EchoResponse([0, 1, .max, 1 << 60, 30 * 86_400 * Self.second], devices: 1)
        for pushes in [0, 1, 0x1p40, 1e300] {
            for spread in [0, 1, 1e9, 1e18, 1e300] {
                for window in [0, 1, 1e9, 1e18] {
                    let busiest = response.busiest(spread: spread, window: window)
                    #expect(busiest.perPush >= 0 && busiest.perPush <= 5.000_001 && busiest.after >= 0)
                }
                #expect(response.peak(pushes: pushes, spread: spread) >= 0)
                #expect(response.perPush(by: spread, spread: spread) <= 5.000_001)
            }
        }
        // Two at once, of 2⁴⁰ devices.
        #expect(isClose(response.peak(pushes: 0x1p40, spread: 1), 0x1p41))
    }
}
