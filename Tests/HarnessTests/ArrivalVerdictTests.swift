import Foundation
import Measurement
import Scenarios
import Statistics
import Testing

@testable import Harness

/// The form in which Poisson arrivals are tested goes by how many pushes a round begins.
@Suite struct ArrivalVerdictTests {
    /// Pushes a second of all workers.
    private static let rate = 1000.0

    /// What one worker of several began, in stretches one after the other.
    ///
    /// - Parameters:
    ///   - pushes: that a round begins.
    ///   - wait: until the next round, ns.
    private func sample(_ stretches: Int, _ pushes: (Int) -> UInt64, wait: (Int) -> UInt64) -> ArrivalSample {
        var sample = ArrivalSample()
        var (push, time, round) = (UInt64(0), UInt64(1), 0)
        for _ in 0..<stretches {
            sample.tick(time)
            for _ in 0..<ArrivalSample.pointsEach {
                sample.began(push, at: time)
                push += pushes(round)
                time += wait(round)
                round += 1
            }
            time += 100_000_000
        }
        return sample
    }

    private func verdict(
        _ sample: ArrivalSample, workers: Int, _ arrivals: String = "poisson", rate: Double = Self.rate,
        recorder: Recorder? = nil
    ) throws -> ArrivalVerdict? {
        var scenario = Scenario()
        (scenario.rate, scenario.duration, scenario.arrivals) = (rate, 100_000_000_000, arrivals)
        (scenario.threads, scenario.connections) = (workers, workers)
        var outcome = LoadOutcome()
        outcome.arrivals = [sample]
        if let recorder { outcome.measurements.add(recorder) }
        return ArrivalVerdict(outcome, inputs: try RunInputs(scenario), start: 1)
    }

    /// The chance that so many events of a Poisson process of rate 1 take no longer than a time: Erlang's distribution, as a sum.
    private func erlang(_ count: UInt64, within time: Double) -> Double {
        var (term, later) = (exp(-time), 0.0)
        for number in 0..<count {
            later += term
            term *= time / Double(number + 1)
        }
        return 1 - later
    }

    /// The statistic of the times that so many rounds one after the other took, for as many pushes as they began.
    private func statistic(_ sample: ArrivalSample, rounds: Int, workers: Int) throws -> Double {
        var shares: [Double] = []
        for stretch in sample.stretches {
            let points = Array(stretch)
            for end in stride(from: rounds, to: points.count, by: rounds) {
                let (from, to) = (points[end - rounds], points[end])
                let time = Double(to.time - from.time) / 1e9 * Self.rate
                shares.append(erlang((to.push - from.push) * UInt64(workers), within: time))
            }
        }
        return try #require(AndersonDarling(shares)).statistic
    }

    /// Some gaps longer, some shorter than the mean: 0.8 to 1.2.
    private func factor(_ round: Int) -> Double { 0.8 + 0.1 * Double(round % 5) }

    @Test("Where a round begins one push, the gap between two is that of a Poisson process", arguments: [1, 2])
    func single(_ workers: Int) throws {
        let sample = sample(4, { _ in 1 }) { UInt64(1e6 * Double(workers) * factor($0)) }
        let section = try #require(try verdict(sample, workers: workers)).section
        #expect(section.gaps == 4 * 128 && section.gapPushes == 1 && section.process == "poisson", "\(section)")
        let expected = try statistic(sample, rounds: 1, workers: workers)
        #expect(abs(try #require(section.andersonDarling) - expected) < 1e-6 * expected, "\(section) \(expected)")
        // Gaps that are nearly the same are none of Poisson arrivals.
        #expect(!section.kept, "\(section)")
    }

    @Test("Where it begins few, the time that a number of pushes takes is tested", arguments: [1, 2])
    func few(_ workers: Int) throws {
        // 1.5 and 1.8 pushes a round.
        for (pushes, mean) in [({ $0 % 2 == 0 ? 1 : 2 }, 1.5), ({ $0 % 5 == 0 ? 1 : 2 }, 1.8)]
            as [((Int) -> UInt64, Double)]
        {
            let sample = sample(4, pushes) { UInt64(mean * 1e6 * Double(workers) * factor($0 / 20)) }
            let section = try #require(try verdict(sample, workers: workers)).section
            #expect(section.gaps == 24 && section.gapPushes == Int(mean * 20), "\(section)")
            let expected = try statistic(sample, rounds: 20, workers: workers)
            #expect(abs(try #require(section.andersonDarling) - expected) < 1e-6 * expected, "\(section) \(expected)")
        }
    }

    @Test("Where it begins more, it is the number that is drawn, not the time")
    func many() throws {
        // 1.9 pushes a round.
        let sample = sample(4, { $0 % 10 == 0 ? 1 : 2 }) { UInt64(1.9e6 * factor($0 / 20)) }
        let section = try #require(try verdict(sample, workers: 1)).section
        #expect(section.gaps == 24 && section.gapPushes == 38, "\(section)")
        let time = try statistic(sample, rounds: 20, workers: 1)
        #expect(abs(try #require(section.andersonDarling) - time) > 1e-3 * time, "\(section) \(time)")
    }

    @Test(
        "Even arrivals: one hiccup in fifty is no doubt, nor are pushes that leave 0.5 ms apart; one in ten is, or twice the rate"
    )
    func even() throws {
        // 66 pushes each millisecond, in rounds of 0.1 to 0.5 ms.
        func wait(_ round: Int) -> UInt64 { [100_000, 500_000, 200_000, 400_000][round / 20 % 4] }
        func begun(_ hiccup: Int, _ factor: Double) -> ArrivalSample {
            sample(16, { round in UInt64(66 * factor * Double(wait(round)) / 1e6) }) { round in
                wait(round) + (round % (20 * hiccup) == 0 ? 5_000_000 : 0)
            }
        }
        for (hiccup, factor, isKept) in [(1000, 1.0, true), (50, 1.0, true), (8, 1.0, false), (1000, 2.0, false)] {
            let verdict = try #require(
                try verdict(begun(hiccup, factor), workers: 1, "constant", rate: 66_000))
            #expect(verdict.section.kept == isKept, "\(hiccup) \(factor): \(verdict.section)")
        }
    }

    @Test(
        "Lateness is of pushes that had to be sent again, of those that waited for streams, or of both, by how many were late"
    )
    func causes() throws {
        let sample = sample(4, { _ in 2 }) { _ in 2_000_000 }
        // Of 1,000 pushes.
        for (late, again, cause) in [
            (20, 20, "20 attempts had to be sent again, which the server had not processed (late p99 "),
            (100, 20, "they waited for free streams, and 20 attempts had to be sent again, which "),
            (100, 5, "they waited for free streams (late p99 "), (100, 0, "they waited for free streams (late p99 "),
        ] {
            let recorder = Recorder(causes: 1)
            for number in 0..<1000 {
                recorder.wrote(late: number < late ? 100_000_000 : 1000, write: 1000)
                recorder.accepted(total: 200_000_000, isMeasured: true)
            }
            for _ in 0..<again { recorder.retried() }
            let verdict = try #require(try verdict(sample, workers: 1, "constant", recorder: recorder))
            #expect(verdict.doubt?.contains("; \(cause)") == true && !verdict.isOwn, "\(late) \(again): \(verdict)")
        }
    }

    @Test("A round of two pushes in forty is none of one push; of fewer than twenty gaps nothing is said")
    func edges() throws {
        let nearly = sample(4, { $0 % 40 == 0 ? 2 : 1 }) { _ in 1_025_000 }
        #expect(try verdict(nearly, workers: 1)?.section.gaps == 24)
        let short = sample(3, { _ in 2 }) { _ in 2_000_000 }
        #expect(try verdict(short, workers: 1) == nil)
        #expect(try verdict(ArrivalSample(), workers: 1) == nil)
    }
}
