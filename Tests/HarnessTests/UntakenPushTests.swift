import Measurement
import Scenarios
import Synchronization
import Testing
import Transport

@testable import Harness

@Suite struct UntakenPushTests {
    @Test("What workers did not take ends for the cause that each of them gave up for")
    func causes() throws {
        var scenario = Scenario()
        scenario.pushes = 101
        scenario.threads = 2
        scenario.connections = 2
        scenario.plaintext = true
        let observed = try ObservedRun(scenario)
        let (run, drivers) = (observed.run, observed.drivers)
        drivers[0].abandon(.connectTimeout, now: 1)
        drivers[1].abandon(.certificateUntrusted, now: 1)
        let result = run.result()
        #expect(result.notSent == ["connect_timeout": 51, "certificate_untrusted": 50])
        #expect(result.pushes.planned == 101 && result.pushes.notSent == 101 && !result.run.complete)
    }

    private static let second: UInt64 = 1_000_000_000

    /// What the watcher's judge was told last.
    private final class Told: Sendable {
        let due = Mutex<UInt64>(0)
    }

    @Test("After one of two workers gave its target up, a run says only what came due, live and when it is interrupted")
    func interruptedAfterOneGaveUp() throws {
        var scenario = Scenario()
        (scenario.rate, scenario.pushes) = (1000, 10_000)
        (scenario.threads, scenario.connections, scenario.plaintext) = (2, 2, true)
        let told = Told()
        let observed = try ObservedRun(scenario) { _, _, _, due, _ in
            told.due.withLock { $0 = due }
            return nil
        }
        let (run, drivers) = (observed.run, observed.drivers)
        let start = 5 * Self.second
        func tick(_ time: UInt64) {
            for driver in drivers { driver.tick(now: time, unixTime: 0, inFlight: 0) }
        }
        run.look()
        var ticket = PushTicket(sequence: 0, due: 0)
        _ = drivers[0].take(now: start, into: &ticket)
        tick(start + Self.second / 2)
        drivers[1].abandon(.connectionReset, now: start + Self.second)
        for time in [2, 3] {
            run.look()
            tick(start + UInt64(time) * Self.second)
            run.look()
            let due = told.due.withLock { $0 }
            #expect((0...1).contains(Int(due) - 1000 * time), "\(due) due after \(time) s")
        }
        for driver in drivers {
            driver.stopped(.interrupted, now: start + 4 * Self.second)
            driver.ended(now: start + 4 * Self.second)
        }
        let result = run.result()
        let offered = try #require(result.throughput.offered)
        #expect(abs(offered - 1000) <= 1 && abs(result.throughput.windowSeconds - 4) < 1e-6, "\(result.throughput)")
        // One was taken and never ended.
        #expect(result.latency[.total].unanswered == 4000, "\(result.latency[.total])")
        #expect(result.pushes.planned == 10_000 && result.pushes.notSent == 9_999)
        #expect(result.notSent["connection_reset"] == 5000, "\(result.notSent)")
    }

    @Test("What a breakdown leaves out is said, in an interrupted run and where too much was left of the schedule")
    func leftOut() throws {
        var scenario = Scenario()
        (scenario.stages, scenario.pushes) = (try LoadStage.parse("hold 1k 1s, hold 2k 1s"), nil)
        let inputs = try RunInputs(scenario)
        func notes(_ end: (WorkerDriver) -> Void) throws -> (notes: [String], parts: UInt64, notSent: UInt64) {
            let driver = WorkerDriver(
                inputs: inputs, thread: 0,
                state: RunState(accepted: try #require(DeliveryLedger(capacity: 1000)), times: nil), box: SnapshotBox(),
                signer: nil)
            var ticket = PushTicket(sequence: 0, due: 0)
            _ = driver.take(now: Self.second, into: &ticket)
            driver.mostCountedApart = 1000
            end(driver)
            var outcome = LoadOutcome()
            outcome.measurements.add(driver.recorder)
            for breakdown in driver.breakdowns.all { outcome.breakdowns.add(breakdown) }
            (outcome.planned, outcome.untaken) = (3000, 3000 - outcome.measurements.counts.taken)
            outcome.isAbandoned = driver.abandonedBy != nil
            outcome.run.interrupted = driver.interruptedAt > 0
            let result = RunDocument(inputs: inputs, outcome: outcome, target: "t").result
            let parts = result.breakdown["stage"]!.values.reduce(0) { $0 + $1.notSent }
            return (result.notes, parts, parts + outcome.untaken)
        }
        let interrupted = try notes { $0.stopped(.interrupted, now: Self.second + Self.second / 2) }
        #expect(interrupted.parts == 500 && interrupted.notSent == 2999)
        #expect(
            interrupted.notes == [
                "the breakdown leaves out 2,499 pushes that were not sent: the run was over before their turn"
            ])
        let gone = try notes {
            $0.abandon(.connectionReset, now: Self.second + Self.second / 2)
            $0.ended(now: Self.second + Self.second / 2)
        }
        #expect(gone.parts == 500 && gone.notSent == 2999, "\(gone)")
        #expect(
            gone.notes == [
                "the breakdown leaves out 2,499 pushes that were not sent: so many were left of the schedule when the target "
                    + "was given up that they were only counted"
            ])
        let short = try notes {
            $0.mostCountedApart = 3000
            $0.abandon(.connectionReset, now: Self.second + Self.second / 2)
            $0.ended(now: 2 * Self.second)
        }
        #expect(short.parts == 2999 && short.notes == [])
    }

    @Test("What one worker asked for when all others are through counts to the schedule's end")
    func allGaveUp() throws {
        var scenario = Scenario()
        (scenario.rate, scenario.duration, scenario.pushes) = (1000, 10 * Self.second, nil)
        (scenario.threads, scenario.connections, scenario.plaintext) = (2, 2, true)
        let observed = try ObservedRun(scenario)
        let (run, drivers) = (observed.run, observed.drivers)
        let start = 5 * Self.second
        var ticket = PushTicket(sequence: 0, due: 0)
        // One has no connection before the schedule begins.
        drivers[1].abandon(.connectFailed, now: start - Self.second)
        _ = drivers[0].take(now: start, into: &ticket)
        drivers[0].abandon(.connectionReset, now: start + Self.second)
        for driver in drivers { driver.ended(now: start + 2 * Self.second) }
        let result = run.result()
        #expect(result.throughput.offered == 1000 && result.latency[.total].unanswered == 9_999)
        #expect(result.notSent == ["connect_failed": 5000, "connection_reset": 4999], "\(result.notSent)")
    }
}
