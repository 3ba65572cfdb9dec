import Foundation
import Measurement
import Results
import Testing

@testable import Plan
@testable import Statistics

/// The simulation held against what queueing theory says exactly. Times are nanoseconds.
@Suite struct FanOutSimulationTests {
    private static let millisecond = 1e6

    /// One server thread that takes `cost` a push, and pushes that arrive as a Poisson process.
    private func queue(_ cost: TimeDistribution, perSecond: Double, seed: UInt64) -> FanOutSimulation.Settings {
        var settings = FanOutSimulation.Settings()
        settings.streams = 1_000_000
        settings.batch = 1
        settings.serverThreads = 1
        settings.serverCost = cost
        settings.arrivals = .poisson(perSecond)
        settings.pushes = 60_000
        settings.seed = seed
        return settings
    }

    private func isClose(_ one: Double, _ other: Double, _ within: Double) -> Bool {
        abs(one / other - 1) <= within
    }

    @Test(
        "M/M/1: the mean time in the system is 1 / (μ − λ)",
        arguments: [(0.3, 1), (0.6, 2)] as [(Double, UInt64)])
    func exponential(load: Double, seed: UInt64) {
        let outcome = FanOutSimulation(
            queue(.exponential(mean: Self.millisecond), perSecond: 1000 * load, seed: seed)
        ).run()
        let expected = Self.millisecond / (1 - load)
        #expect(
            isClose(outcome.meanTotal, expected, 0.05), "seed \(seed), load \(load): \(outcome.meanTotal), \(expected)")
        #expect(isClose(outcome.arrivalRate, 1000 * load, 0.01), "seed \(seed)")
        // The median of an exponentially distributed time.
        let median = Double(outcome.total.value(atPercentile: 50))
        #expect(isClose(median, expected * 0.693147, 0.05), "seed \(seed), load \(load): \(median)")
    }

    @Test(
        "M/D/1: the mean time in the system is (2 − ρ) / (2 μ (1 − ρ))",
        arguments: [(0.5, 4), (0.7, 5)] as [(Double, UInt64)])
    func constant(load: Double, seed: UInt64) {
        let outcome = FanOutSimulation(queue(.constant(Self.millisecond), perSecond: 1000 * load, seed: seed)).run()
        let expected = Self.millisecond * (2 - load) / (2 * (1 - load))
        #expect(
            isClose(outcome.meanTotal, expected, 0.04), "seed \(seed), load \(load): \(outcome.meanTotal), \(expected)")
    }

    @Test("M/M/∞: a server that is never short answers after its own time and the link's, whatever the load")
    func unlimited() {
        var settings = queue(.constant(0), perSecond: 20_000, seed: 6)
        settings.serverThreads = 0
        settings.serverTime = .exponential(mean: 5 * Self.millisecond)
        settings.link.roundTrip = 20 * Self.millisecond
        let outcome = FanOutSimulation(settings).run()
        #expect(isClose(outcome.meanTotal, 25 * Self.millisecond, 0.01), "\(outcome.meanTotal)")
        #expect(isClose(outcome.meanInSystem, 20_000 * 0.025, 0.04), "\(outcome.meanInSystem)")
    }

    @Test("Little's law holds to the last digit: what is in the system is counted apart from how long each push takes")
    func little() {
        for seed in 1...6 as ClosedRange<UInt64> {
            var random = SplitMix(seed: seed)
            var settings = queue(.exponential(mean: 2000), perSecond: 300_000, seed: seed)
            settings.pushes = 3000
            settings.workers = 1 + random.below(3)
            settings.connections = settings.workers + random.below(5)
            settings.streams = 10 + random.below(300)
            settings.batch = 1 + random.below(40)
            settings.clientCost = .uniform(low: 100, high: 900)
            settings.link.roundTrip = Double(random.below(3_000_000))
            settings.payloadBytes = 300
            settings.requestBytes = 400
            settings.answerBytes = 50
            settings.window = seed % 2 == 0 ? 65_536 : nil
            settings.linkRate = seed % 3 == 0 ? 50_000_000 : nil
            settings.cores = seed % 2 == 0 ? 2 : nil
            settings.serverTime = .lognormal(median: 100_000, sigma: 0.8)
            if seed % 2 == 1 { settings.arrivals = .closed }
            let outcome = FanOutSimulation(settings).run()
            #expect(outcome.answered == 3000, "seed \(seed): every push is answered")
            let product = outcome.arrivalRate * outcome.meanTotal / 1e9
            #expect(isClose(outcome.meanInSystem, product, 1e-9), "seed \(seed): \(outcome.meanInSystem), \(product)")
            #expect(FanOutSimulation(settings).run().meanTotal == outcome.meanTotal, "seed \(seed): the same again")
        }
    }

    /// A closed loop with constant times.
    private func loop(_ change: (inout FanOutSimulation.Settings) -> Void) -> Double {
        var settings = FanOutSimulation.Settings()
        settings.pushes = 30_000
        settings.warmup = 6000
        settings.payloadBytes = 313
        settings.requestBytes = 400
        settings.answerBytes = 50
        change(&settings)
        return FanOutSimulation(settings).run().throughput
    }

    @Test("A pipeline goes at the rate of its slowest stage; threads that share a core add up")
    func pipeline() {
        func rate(_ change: (inout FanOutSimulation.Settings) -> Void) -> Double {
            loop { settings in
                settings.clientCost = .constant(1000)
                settings.serverCost = .constant(2000)
                settings.serverThreads = 1
                change(&settings)
            }
        }
        #expect(isClose(rate { _ in }, 500_000, 0.002))
        #expect(isClose(rate { $0.serverCost = .constant(400) }, 1_000_000, 0.002))
        #expect(isClose(rate { $0.cores = 1 }, 1e9 / 3000, 0.002))
        #expect(
            isClose(
                rate {
                    ($0.workers, $0.connections, $0.serverThreads, $0.cores) = (2, 4, 2, 2)
                    $0.link.roundTrip = 100_000
                }, 2e9 / 3000, 0.005))
    }

    @Test("Streams, link rate, window and uplink each bound a closed loop as their formula says")
    func bounds() {
        let trip = 20 * Self.millisecond
        #expect(isClose(loop { ($0.connections, $0.streams, $0.link.roundTrip) = (2, 10, trip) }, 1000, 0.01))
        #expect(isClose(loop { ($0.connections, $0.link.roundTrip, $0.linkRate) = (2, trip, 1e6) }, 5000, 0.01))
        #expect(isClose(loop { ($0.connections, $0.link.roundTrip, $0.uplinkRate) = (4, trip, 4e6) }, 10_000, 0.01))
        // The window opens by 105 pushes, the first number above half of it.
        #expect(
            isClose(loop { ($0.link.roundTrip, $0.window, $0.largestPayload) = (trip, 65_536, 500) }, 105 / 0.02, 0.02))
        // Opened after every push, all of it is used: 208 pushes.
        #expect(
            isClose(
                loop { ($0.link.roundTrip, $0.window, $0.windowReopen, $0.largestPayload) = (trip, 65_536, 0, 500) },
                208 / 0.02, 0.02))
    }

    @Test("Jitter without a load adds half of it each way on average; with one, order is kept and what follows waits")
    func jitter() {
        var settings = queue(.constant(0), perSecond: 20, seed: 3)
        settings.serverThreads = 0
        settings.link = FanOutLink(roundTrip: 20 * Self.millisecond, jitter: 5 * Self.millisecond)
        settings.pushes = 20_000
        let alone = FanOutSimulation(settings).run()
        #expect(isClose(alone.meanTotal, 25 * Self.millisecond, 0.01), "\(alone.meanTotal)")
        let longest = Double(alone.total.value(atPercentile: 100))
        #expect(longest <= 30.1 * Self.millisecond && longest > 29 * Self.millisecond, "\(longest)")
        // Hundreds of pushes within the jitter of one connection: all are nearly as late as the latest.
        settings.arrivals = .constant(200_000)
        let dense = FanOutSimulation(settings).run()
        #expect(
            dense.meanTotal > 29 * Self.millisecond && dense.meanTotal < 30 * Self.millisecond, "\(dense.meanTotal)")
    }

    @Test("A lost segment costs a round trip, lost again a timeout that doubles: the mean is the sum of the chances")
    func loss() {
        var random = SplitMix(seed: 5)
        let link = FanOutLink(roundTrip: 40 * Self.millisecond, loss: 0.1)
        var sum = 0.0
        for _ in 0..<200_000 {
            var last = 0.0
            sum += link.arrival(leaves: 0, bytes: 2000, last: &last, &random)
        }
        // Two segments: 0.19 are late by 40 ms and, by chances of 0.1, 0.01, …, by 200, 400, … ms more.
        var timeouts = 0.0
        for time in 0..<10 { timeouts += pow(0.1, Double(time + 1)) * 200 * exp2(Double(time)) }
        let expected = (20 + 0.19 * (40 + timeouts)) * Self.millisecond
        #expect(isClose(sum / 200_000, expected, 0.01), "\(sum / 200_000), \(expected)")
        var last = 90 * Self.millisecond
        #expect(
            FanOutLink(roundTrip: 2, loss: 1e-12).arrival(leaves: 0, bytes: 1, last: &last, &random) == 90
                * Self.millisecond)
    }

    @Test(
        "Pushes that are sent again take 1 / (1 − q) times as long; what each waits by itself has the measured quantiles"
    )
    func again() {
        var settings = queue(.constant(0), perSecond: 20_000, seed: 8)
        settings.serverThreads = 0
        settings.link.roundTrip = 20 * Self.millisecond
        settings.sentAgain = 0.5
        let twice = FanOutSimulation(settings).run()
        #expect(twice.answered == 60_000 && isClose(twice.meanTotal, 40 * Self.millisecond, 0.02), "\(twice.meanTotal)")
        settings.sentAgain = 0
        // Half at once, and the other half up to 10 ms later.
        let waits = TimeDistribution.measured(TimeDistribution.shares.map { max(0, $0 - 0.5) * 20 * Self.millisecond })
        #expect(isClose(waits.mean, 2.5 * Self.millisecond, 0.001) && !waits.isConstant)
        settings.wait = waits
        let late = FanOutSimulation(settings).run()
        #expect(isClose(late.meanTotal, 22.5 * Self.millisecond, 0.005), "\(late.meanTotal)")
        #expect(isClose(Double(late.total.value(atPercentile: 90)), 28 * Self.millisecond, 0.01))
        #expect(isClose(Double(late.total.value(atPercentile: 25)), 20 * Self.millisecond, 0.002))
    }

    @Test("A connection that is made anew sends nothing meanwhile, and its streams come back while it is")
    func renewal() {
        // 500 pushes in five round trips of 10 ms; the last hundred are answered within the pause of 30 ms.
        let rate = loop {
            ($0.streams, $0.link.roundTrip, $0.renewal) = (
                100, 10 * Self.millisecond,
                .init(every: 500, told: 10 * Self.millisecond, making: 20 * Self.millisecond)
            )
            $0.batch = 100
        }
        #expect(isClose(rate, 500 / 0.07, 0.01), "\(rate)")
    }

    @Test("What is sent until the client hears that a connection is ended is refused, and waits for the next one")
    func refused() {
        var settings = FanOutSimulation.Settings()
        settings.link.roundTrip = 100 * Self.millisecond
        settings.arrivals = .constant(100)
        settings.renewal = .init(
            every: 100, told: 95 * Self.millisecond, making: 50 * Self.millisecond)
        (settings.pushes, settings.warmup, settings.measured) = (1050, 100, 800)
        let outcome = FanOutSimulation(settings).run()
        let total = ResultDocument.Latency(CensoredHistogram(answered: outcome.total))
        // Of each hundred the first ten were refused (0 to 85 ms before the client heard of it), five more came due until the next
        // connection was there 45 ms later: they wait 135 − 10 k ms each.
        let waits = (0..<14).reduce(0.0) { $0 + 135 - 10 * Double($1) } / 100
        #expect(isClose(Double(total.max), 235 * Self.millisecond, 0.001), "\(total)")
        #expect(isClose(total.mean, (100 + waits) * Self.millisecond, 0.001), "\(total), \(waits)")
        #expect(outcome.answered == 1050 && outcome.total.count == 800)
        #expect(isClose(outcome.throughput, 100, 0.001), "\(outcome.throughput)")
        // Where another connection could have taken them they wait for the word all the same.
        settings.connections = 2
        settings.renewal?.making = 5 * Self.millisecond
        let two = FanOutSimulation(settings).run()
        let longest = Double(two.total.value(atPercentile: 100))
        #expect(two.answered == 1050 && longest > 180 * Self.millisecond, "\(longest)")
    }

    @Test("The connection that is there first takes what came due until then, and is ended alone, before the others")
    func first() {
        var settings = FanOutSimulation.Settings()
        (settings.connections, settings.link.roundTrip) = (2, 100 * Self.millisecond)
        settings.arrivals = .constant(100)
        settings.renewal = .init(every: 100, told: 95 * Self.millisecond, making: 300 * Self.millisecond)
        (settings.pushes, settings.warmup, settings.measured) = (400, 100, 200)
        func longest() -> Double { Double(FanOutSimulation(settings).run().total.value(atPercentile: 100)) }
        // Ended together: what is due waits for the next ones.
        let together = longest()
        #expect(together > 390 * Self.millisecond, "\(together)")
        // Thirty of its hundred are due before it is there, so that the other is ended 0.6 s later: only what it refuses waits.
        settings.renewal?.first = 300 * Self.millisecond
        settings.renewal?.each = 10 * Self.millisecond
        let apart = longest()
        #expect(apart < 200 * Self.millisecond, "\(apart)")
    }

    @Test("Full use of streams begins as it goes on: the rate is Little's, however long the longest answers take")
    func beginsSteady() {
        let times = TimeDistribution.lognormal(median: Self.millisecond, sigma: 2)
        func rate(_ beginsSteady: Bool) -> Double {
            loop {
                ($0.streams, $0.connections, $0.serverTime, $0.beginsSteady) = (1000, 4, times, beginsSteady)
                $0.pushes = 50_000
            }
        }
        let expected = 4000 / times.mean * 1e9
        #expect(isClose(rate(true), expected, 0.03), "\(rate(true)), \(expected)")
        #expect(rate(false) > 1.1 * expected, "\(rate(false)), \(expected)")
    }

    @Test("Fewer streams for a part of every period: the simulated rate is the formula's, and the simulation ends")
    func fewerStreams() {
        for (streams, time, every) in [(10, 40.0, 100.0), (50, 500, 1000), (10, 15, 50), (1, 990, 1000)] {
            let fewer = FewerStreams(
                streams: Double(streams), time: time * Self.millisecond, every: every * Self.millisecond)
            let formula = fewer.rate(usual: 100, cycle: 10 * Self.millisecond, most: .infinity)
            let rate = loop {
                ($0.streams, $0.connections, $0.link.roundTrip) = (100, 20, 10 * Self.millisecond)
                $0.batch = 1
                $0.clientCost = .constant(4000)
                $0.fewerStreams = fewer
                $0.pushes = 300_000
            }
            // What is under way when the limit falls is still answered: at most so many a second more.
            let more = 20 * Double(100 - streams) / every * 1000
            #expect(
                rate >= 20 * formula * 0.99 && rate <= (20 * formula + more) * 1.01,
                "\(streams) for \(time) of \(every) ms: \(rate), \(20 * formula)")
        }
    }

    @Test(
        "Changing limits end with what they are changed for: no push can be sent any more, or only answers are to come")
    func fewerStreamsEnd() {
        let fewer = FewerStreams(streams: 10, time: Self.millisecond, every: 2 * Self.millisecond)
        // A window that never opens again: after ten pushes each connection is stuck.
        var stuck = FanOutSimulation.Settings()
        (stuck.streams, stuck.connections, stuck.fewerStreams, stuck.pushes) = (100, 3, fewer, 1000)
        (stuck.window, stuck.windowReopen, stuck.payloadBytes, stuck.largestPayload) = (1000, 1, 100, 100)
        stuck.link.roundTrip = Self.millisecond
        #expect(FanOutSimulation(stuck).run().answered == 30)
        // Answers after hours.
        var slow = FanOutSimulation.Settings()
        (slow.streams, slow.connections, slow.fewerStreams, slow.pushes) = (100, 3, fewer, 30)
        slow.serverTime = .constant(1e14)
        let outcome = FanOutSimulation(slow).run()
        #expect(outcome.answered == 30 && outcome.seconds > 99_000 && outcome.events < 1000, "\(outcome.events)")
    }

    @Test("What fewer streams carry, worked out by hand; absurd texts are none")
    func fewerStreamsByHand() {
        let second = 1e9
        // 100 streams for 8 s and 20 for 2 s of 10 s, 0.1 s each.
        let fewer = FewerStreams(streams: 20, time: 2 * second, every: 10 * second)
        #expect(isClose(fewer.rate(usual: 100, cycle: second / 10, most: .infinity), 800 + 40, 1e-9))
        // Of a limit of 500/s: 400/s + 40/s.
        #expect(isClose(fewer.rate(usual: 100, cycle: second / 10, most: 500), 400 + 40, 1e-9))
        #expect(fewer.rate(usual: 20, cycle: second, most: .infinity) == 20)
        // Shorter than a cycle.
        let short = FewerStreams(streams: 20, time: 0.05 * second, every: 0.1 * second)
        #expect(short.rate(usual: 100, cycle: second / 10, most: .infinity) == 1000)
        #expect(short.mean(usual: 100, cycle: second / 10) == 100 && fewer.mean(usual: 100, cycle: second / 10) == 84)
        #expect(FewerStreams(parsing: "100:1s/10s") == FewerStreams(streams: 100, time: 1e9, every: 1e10))
        for text in [
            "", "100", "100:1s", "0:1s/2s", "5:2s/2s", "5:0s/2s", "x:1s/2s", "5:1s/2s/3s", "5:1/2", "5:/", ":",
            "-1:1s/2s",
        ] {
            #expect(FewerStreams(parsing: text) == nil, "\(text)")
        }
    }
}
