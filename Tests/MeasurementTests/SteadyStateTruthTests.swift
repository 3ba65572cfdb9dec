import Foundation
import Testing

@testable import Measurement

/// What `SteadyState` finds in feeds whose truth is known. Seeds are the same in every run.
@Suite struct SteadyStateTruthTests {
    @Test(
        "A queue that grows is never steady, whether its latency is looked at early or late",
        arguments: [(1.02, 200.0), (1.02, 5000), (1.02, 100_000), (1.1, 200), (1.1, 5000), (1.1, 100_000)])
    func growing(over: Double, rate: Double) {
        let feed = SteadyFeed(
            rate: { _ in rate / over }, latency: { 5e6 + (1 - 1 / over) * 1e9 * $0 },
            unanswered: { rate / over * 0.005 + rate * (1 - 1 / over) * $0 })
        let (_, never) = feed.share(of: 6, foundIn: 0...20)
        #expect(never.count == 6, "found for the other seeds of 1...6 than \(never.keys.sorted())")
    }

    @Test("A queue of even arrivals and noisy service, 2 % more than can be served, is never steady", arguments: 1...4)
    func servedQueue(seed: Int) {
        var random = Noise(state: UInt64(seed))
        var steady = SteadyState()
        let (gap, service) = (1 / 5100.0, 1 / 5000.0)
        var (free, next, ended) = (0.0, 0.1, 0.0)
        var logarithms: [Double] = []
        for push in 1...(5100 * 20) {
            let due = Double(push) * gap
            free = max(due, free) + service * exp(0.3 * random.normal() - 0.045)
            logarithms.append(log((free - due) * 1e9 + 2e6))
            guard free >= next else { continue }
            let answers = Double(logarithms.count)
            ended += answers
            let level = logarithms.reduce(0, +) / answers
            let variance = logarithms.reduce(0) { $0 + ($1 - level) * ($1 - level) } / answers
            let interval = AnswerInterval(
                seconds: 0.1, answers: answers, level: level, variance: variance,
                high: logarithms.sorted()[Int(0.9 * answers)], unanswered: free / gap - ended)
            let isSteady = steady.look(interval)
            #expect(!isSteady, "seed \(seed), \(next) s")
            logarithms.removeAll()
            next += 0.1
        }
    }

    /// A server that becomes fast: what its latency is, and when it is within 10 % of its last.
    struct Warming: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let latency: @Sendable (Double) -> Double
        let warm: Double

        static let linear = Warming(
            testDescription: "linear over 10 s", latency: { max(5e6, 50e6 - 4.5e6 * $0) }, warm: 9.9)
        static let approaching = Warming(
            testDescription: "exponential approach", latency: { 5e6 + 45e6 * exp(-$0 / 2.2) }, warm: 2.2 * log(90))
    }

    @Test(
        "A server that becomes fast is steady within 4 s after it is, and not before",
        arguments: [Warming.linear, .approaching], [false, true])
    func warming(_ warming: Warming, isClosed: Bool) {
        let latency = warming.latency
        // Closed loop: 25 pushes under way.
        let feed = SteadyFeed(
            rate: { isClosed ? 25e9 / latency($0) : 5000 }, latency: latency, unanswered: isClosed ? { _ in 25 } : nil)
        let (share, others) = feed.share(of: 100, foundIn: warming.warm - 0.3...warming.warm + 4)
        #expect(share >= 0.99, "seeds and times: \(others)")
    }

    @Test(
        "What is steady is found within 3 s, at 200 answers a second within 5 s",
        arguments: [(200.0, 5.0), (5000, 3), (100_000, 3)], [false, true])
    func stationary(rate: (a: Double, within: Double), isPoisson: Bool) {
        for latency in [80e6, 2e6] {
            let feed = SteadyFeed(rate: { _ in rate.a }, latency: { _ in latency }, isPoisson: isPoisson)
            let (share, others) = feed.share(of: 60, foundIn: 1.9...rate.within)
            #expect(share >= 0.95, "\(latency / 1e6) ms, seeds and times: \(others)")
        }
    }

    @Test("A level that wanders by 3 % is steady within 3 s", arguments: [0.5, 0.7])
    func wandering(stays: Double) {
        let feed = SteadyFeed(rate: { _ in 5000 }, latency: { _ in 5e6 }, wander: (0.03, stays))
        let (share, others) = feed.share(of: 60, foundIn: 1.9...3)
        #expect(share >= 0.95, "seeds and times: \(others)")
    }

    @Test("Steady is not found across a step of latency", arguments: [1.0, 1.95, 2.2, 2.5, 3.0], [200.0, 5000])
    func step(at step: Double, rate: Double) {
        let feed = SteadyFeed(rate: { _ in rate }, latency: { $0 < step ? 5e6 : 20e6 })
        for seed in UInt64(1)...20 {
            let found = feed.find(seed: seed, until: step + 8)
            // The interval that holds the step may not show it yet.
            #expect(
                found.map { $0 <= step + 0.15 || $0 >= step + 1.5 } ?? false,
                "seed \(seed): \(found.map { "\($0) s" } ?? "never")")
        }
    }

    @Test("A queue that builds up in a cold start and drains is steady after it has drained", arguments: UInt64(1)...20)
    func coldStart(seed: UInt64) throws {
        // Grows by 50 ms a second for 2 s, drains by as much.
        let queue = { (time: Double) in 0.05 * max(0, min(time, 4 - time)) }
        let feed = SteadyFeed(
            rate: { $0 < 2 ? 4750 : $0 < 4 ? 5250 : 5000 }, latency: { 5e6 + 1e9 * queue($0) },
            unanswered: { 5000 * (0.005 + queue($0)) })
        let found = try #require(feed.find(seed: seed, until: 15), "seed \(seed)")
        #expect(found > 4 && found < 9, "seed \(seed)")
    }
}
