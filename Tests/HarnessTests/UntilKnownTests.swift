import Foundation
import Measurement
import Results
import Scenarios
import Settings
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Harness

/// Whole runs in virtual time, whose answers a test makes.
@Suite struct UntilKnownTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start = 5 * second
    private static let seed: UInt64 = 20_261_125

    private struct Random {
        var state: UInt64
        mutating func share() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) * 0x1p-53
        }
        mutating func normal() -> Double { (-2 * log(1 - share())).squareRoot() * cos(2 * .pi * share()) }
    }

    private func scenario(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
        var scenario = Scenario()
        (scenario.threads, scenario.connections, scenario.plaintext) = (2, 2, true)
        scenario.rate = 4000
        change(&scenario)
        return scenario
    }

    /// Answers every push after a log-normal time around `level(seconds since the start)` ms.
    ///
    /// - Returns: the result, and how long the run was, seconds.
    private func play(_ scenario: Scenario, most: Double = 100, level: (Double) -> Double = { _ in 2 }) throws -> (
        result: ResultDocument, seconds: Double
    ) {
        let observed = try ObservedRun(scenario)
        let (run, drivers) = (observed.run, observed.drivers)
        var random = Random(state: Self.seed)
        var open: [[(ticket: PushTicket, at: UInt64)]] = drivers.map { _ in [] }
        var isOver = drivers.map { _ in false }
        var now = Self.start
        run.look()
        while isOver.contains(false), now < Self.start + UInt64(most * 1e9) {
            for (index, driver) in drivers.enumerated() where !isOver[index] {
                var isFinished = false
                while true {
                    var ticket = PushTicket(sequence: 0, due: 0)
                    // Closed loop: ten streams a worker.
                    if scenario.rate == nil, open[index].count >= 10 { break }
                    let supply = driver.take(now: now, into: &ticket)
                    guard case .push = supply else {
                        if case .finished = supply { isFinished = true }
                        break
                    }
                    let seconds = Double(now - Self.start) / 1e9
                    let time = UInt64(1e6 * level(seconds) * exp(0.5 * random.normal()))
                    open[index].append((ticket, now + time))
                }
                for push in open[index] where push.at <= now {
                    driver.finished(
                        push.ticket, outcome: .accepted, connection: index, started: now, written: push.at - 1,
                        at: push.at, body: UnsafeBufferPointer(start: nil, count: 0))
                }
                open[index].removeAll { $0.at <= now }
                driver.tick(now: now, unixTime: 0, inFlight: open[index].count)
                if isFinished, open[index].isEmpty {
                    isOver[index] = true
                    driver.ended(now: now)
                    driver.tick(now: now, unixTime: 0, inFlight: 0)
                }
            }
            if (now - Self.start) % 50_000_000 == 0 { run.look() }
            now += 1_000_000
        }
        return (run.result(), Double(now - Self.start) / 1e9)
    }

    @Test("An open loop ends when the figure is known: nothing it took is unsent, and what it planned is what it took")
    func openLoop() throws {
        let (result, seconds) = try play(
            scenario {
                ($0.until, $0.budget) = ("p50 +- 2 %", 60 * Self.second)
                $0.warmup = Self.second / 2
            })
        let until = try #require(result.trust?.until)
        #expect(until.reached && until.obstacle == nil && until.asked == "p50 +- 2 %", "\(until)")
        #expect(try #require(until.halfWidth) <= 0.02)
        #expect(seconds < 30 && until.seconds > 0.9 && abs(until.seconds + 0.5 - seconds) < 0.2, "\(seconds) \(until)")
        let pushes = result.pushes
        #expect(pushes.planned == pushes.accepted && pushes.notSent == 0 && result.run.complete, "\(pushes)")
        let offered = try #require(result.throughput.offered)
        #expect(abs(offered - 4000) < 10 && abs(result.throughput.answered - 4000) < 40, "\(result.throughput)")
        let p50 = try #require(result.trust?[.p50])
        let (low, high) = (Double(try #require(p50.low)), Double(try #require(p50.high)))
        // 1 ms more: the test takes pushes once a millisecond.
        #expect(low < 2.6e6 && high > 2e6 && p50.steady == true && p50.independent == true, "\(p50)")
    }

    @Test("A closed loop does too, and Poisson arrivals with a warm-up that the run finds")
    func others() throws {
        let (closed, _) = try play(scenario { ($0.rate, $0.until, $0.warmup) = (nil, "p99 +- 10 %", Self.second / 5) })
        #expect(closed.trust?.until?.reached == true && closed.run.complete, "\(String(describing: closed.trust))")
        #expect(closed.pushes.planned == closed.pushes.accepted && closed.throughput.offered == nil)
        let (poisson, seconds) = try play(scenario { ($0.arrivals, $0.until) = ("poisson", "p50 +- 3 %") })
        #expect(poisson.trust?.until?.reached == true && poisson.warmup.steady == true, "\(poisson.warmup)")
        #expect(poisson.pushes.planned == poisson.pushes.accepted && seconds < 30)
        #expect(poisson.warmup.answered > 0)
    }

    @Test("What cannot be had is not had: the budget ends the run, and says what would do")
    func budget() throws {
        let (time, seconds) = try play(
            scenario {
                ($0.until, $0.budget, $0.warmup) = ("p99 +- 0.5 %", 4 * Self.second, Self.second)
            })
        let until = try #require(time.trust?.until)
        #expect(!until.reached && until.obstacle == "time" && abs(seconds - 4) < 0.1, "\(until)")
        // 12,000 pushes know it to some 5 %, so that a hundred times as long is wanted; how well that is told has chance in it.
        #expect((60...2000).contains(try #require(until.neededSeconds)), "\(until)")
        #expect(time.pushes.planned == 16_000 && time.pushes.notSent == 0)
        let (drifting, _) = try play(
            scenario { ($0.until, $0.budget, $0.warmup) = ("p50 +- 1 %", 6 * Self.second, Self.second) },
            level: { $0 < 3.5 ? 2 : 6 })
        let trust = try #require(drifting.trust)
        #expect(trust.until?.reached == false && trust.until?.obstacle == "not_steady", "\(trust)")
        #expect(
            trust.doubts.contains { $0.hasPrefix("not steady: ") && $0.contains(" p50 went from ") }, "\(trust.doubts)")
        let at = try #require(trust[.p50]?.shift?.at)
        #expect(abs(at - 3.5) < 0.5, "\(at)")
    }

    @Test("It ends a little after its figure is known: by the clock, where what workers said last is old")
    func endsByTheClock() throws {
        // How old each snapshot is when it is looked at, ns; nil: there is no clock but theirs.
        for age in [nil, 0, 3 * Self.second] as [UInt64?] {
            let inputs = try RunInputs(
                scenario { ($0.until, $0.budget, $0.warmup) = ("p50 +- 10 %", 60 * Self.second, Self.second / 2) })
            let state = RunState(accepted: try #require(DeliveryLedger(capacity: 1)), times: nil)
            let (box, recorder) = (SnapshotBox(), Recorder(causes: 1))
            let watcher = RunWatcher(
                inputs: inputs, state: state, control: RunControl(), boxes: [box], isTerminal: false, judge: nil,
                record: nil, progress: { _ in })
            var window = RateWindow()
            window.begin(Self.start)
            state.start.store(Self.start, ordering: .relaxed)
            watcher.look()
            var random = Random(state: Self.seed)
            var (now, end) = (Self.start, UInt64.max)
            while end == .max, now < Self.start + 30 * Self.second {
                now += RunWatcher.pause
                for _ in 0..<500 {
                    recorder.accepted(total: UInt64(2e6 * exp(0.5 * random.normal())), isMeasured: true)
                }
                box.offer(recorder, window: window, inFlight: 0, backlog: 0, position: 0, time: now)
                watcher.look(clock: age.map { now + $0 })
                end = state.endsAt.load(ordering: .relaxed)
            }
            #expect(end == now + (age ?? 0) + 2 * RunWatcher.pause, "\(String(describing: age)): \(end), \(now)")
        }
    }

    @Test("A run that stays what it is raises no doubt; its gaps are those of the arrivals asked for")
    func steady() throws {
        for arrivals in ["constant", "poisson"] {
            let (result, _) = try play(scenario { ($0.duration, $0.arrivals) = (8 * Self.second, arrivals) })
            let trust = try #require(result.trust)
            #expect(trust.doubts.isEmpty && trust.until == nil, "\(arrivals): \(trust.doubts)")
            #expect(trust.figures.count == 4 && trust.arrivals?.kept == true, "\(arrivals): \(trust)")
            #expect(trust.arrivals?.process == arrivals)
        }
    }

    @Test("A generator that stands still, or begins fewer pushes than come due, has not the arrivals asked for")
    func arrivals() throws {
        /// - Parameter shift: when a push that is due at a time is begun at the earliest, ns after the start.
        func verdict(
            _ arrivals: String, every pause: UInt64, _ shift: (UInt64) -> UInt64 = { $0 }
        ) throws -> ArrivalVerdict {
            let inputs = try RunInputs(scenario { ($0.duration, $0.arrivals) = (60 * Self.second, arrivals) })
            var cursor = try #require(inputs.schedule).cursor()
            var (sample, recorder) = (ArrivalSample(), Recorder(causes: 1))
            // One worker of two has every second push.
            var (push, due) = (UInt64(0), cursor.due(0))
            for now in stride(from: UInt64(0), to: 20 * Self.second, by: Int(pause)) {
                if now % 20_000_000 == 0 { sample.tick(now + 1) }
                while shift(due) <= now {
                    sample.began(push, at: now + 1)
                    recorder.wrote(late: now - due + 1, write: 1)
                    push += 1
                    due = cursor.due(2 * push)
                }
            }
            var outcome = LoadOutcome()
            outcome.arrivals = [sample]
            outcome.measurements.add(recorder)
            return try #require(ArrivalVerdict(outcome, inputs: inputs, start: 1), "\(arrivals) \(pause)")
        }
        for (arrivals, pause, gap) in [
            ("poisson", 2_000, 0.00045...0.00055), ("poisson", 100_000, 0.005...0.02),
            ("poisson", 5_000_000, 0.09...0.11),
            ("constant", 20_000, 0.009...0.011), ("constant", 5_000_000, 0.09...0.11),
        ] as [(String, UInt64, ClosedRange<Double>)] {
            let punctual = try verdict(arrivals, every: pause)
            #expect(punctual.doubt == nil && punctual.section.kept, "\(arrivals) \(pause): \(punctual)")
            #expect(gap.contains(punctual.section.gapSeconds), "\(arrivals) \(pause): \(punctual)")
        }
        for arrivals in ["constant", "poisson"] {
            // It stands still for 30 ms ten times a second, and catches up.
            let lumps = try verdict(arrivals, every: 20_000) {
                $0 % 100_000_000 < 30_000_000 ? $0 / 100_000_000 * 100_000_000 + 30_000_000 : $0
            }
            #expect(!lumps.section.kept && lumps.doubt != nil, "\(arrivals): \(lumps)")
            // It is a tenth slower than the schedule.
            let slow = try verdict(arrivals, every: 20_000) { $0 / 9 * 10 }
            #expect(!slow.section.kept && slow.doubt != nil, "\(arrivals): \(slow)")
        }
    }

    @Test("Nothing of a run that sent nothing, and of a partial one; several workers have no figures of their own")
    func nothing() throws {
        let observed = try ObservedRun(scenario { $0.duration = Self.second })
        for driver in observed.drivers { driver.abandon(.connectTimeout, now: 1) }
        let trust = try #require(observed.run.result().trust)
        #expect(trust.figures.isEmpty && trust.doubts.isEmpty && trust.arrivals == nil && trust.until == nil)
    }
}
