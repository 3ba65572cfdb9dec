import Measurement
import Networking
import Scenarios
import Testing
import Transport

@testable import Harness

@Suite struct GeneratorVerdictTests {
    private static func inputs(_ change: (inout Scenario) -> Void = { _ in }) throws -> RunInputs {
        var scenario = Scenario()
        scenario.pushes = 1000
        scenario.rate = 1000
        change(&scenario)
        return try RunInputs(scenario)
    }

    private func reasons(_ change: (inout LoadOutcome) -> Void) throws -> [String] {
        var outcome = LoadOutcome()
        change(&outcome)
        let section = GeneratorVerdict(outcome, inputs: try Self.inputs()).section
        #expect(section.limited == !section.reasons.isEmpty)
        return section.reasons
    }

    @Test("A worker that waits for a core more than a twentieth of the time is a limit")
    func starved() throws {
        #expect(try reasons { $0.generator.runQueueDelay = nil }.isEmpty)
        #expect(try reasons { $0.generator.runQueueDelay = 0.04 }.isEmpty)
        let reasons = try reasons { $0.generator.runQueueDelay = 0.17 }
        let waited = "a worker thread waited for a core 17 % of the time: other threads"
        #expect(reasons == [waited + ", the bundled mock's among them, need the cores too"])
        var outcome = LoadOutcome()
        outcome.generator.runQueueDelay = 0.17
        let elsewhere = try Self.inputs { $0.target = "http://127.0.0.1:1" }
        #expect(GeneratorVerdict(outcome, inputs: elsewhere).section.reasons == [waited + " need the cores too"])
    }

    @Test("More threads are advised where there are cores for them")
    func advice() throws {
        var outcome = LoadOutcome()
        outcome.generator.workerLoad = [0.99]
        func reasons(cores: Int, _ change: (inout Scenario) -> Void = { _ in }) throws -> [String] {
            GeneratorVerdict(outcome, inputs: try Self.inputs(change), cores: cores).section.reasons
        }
        let busy = "a worker thread was busy 99 % of the time: "
        #expect(try reasons(cores: 3) == [busy + "give more threads (-t) with connections of their own"])
        // The bundled mock has the other one.
        #expect(try reasons(cores: 2) == [busy + "no core is left for another (2 cores)"])
        let elsewhere = try reasons(cores: 2) { $0.target = "http://127.0.0.1:1" }
        #expect(elsewhere == [busy + "give more threads (-t) with connections of their own"])
    }

    @Test(
        "The parts of the client's CPU add up to the whole, also when threads lost their cores in the middle of a call")
    func parts() throws {
        var outcome = LoadOutcome()
        var counts = PushCounts()
        (counts.sent, counts.accepted) = (1000, 1000)
        outcome.measurements.add(counts)
        func parts() throws -> [Double] {
            let cpu = GeneratorVerdict(outcome, inputs: try Self.inputs()).section.cpu
            return [cpu.encode, cpu.sign, cpu.tls, cpu.socket, cpu.spin, cpu.other]
        }
        // 2 ms of the process; its worker had 1.7 ms, 0.2 ms of them spun.
        outcome.cpu = 2_000_000
        outcome.workerTime = WorkerTime(
            cpu: 1_700_000, spin: 200_000, transfer: 900_000, socket: 600_000, sign: 100_000, busy: 1_500_000)
        #expect(try parts() == [0, 100, 300, 600, 200, 800])
        // Half of the time in which it did not wait it had no core.
        outcome.workerTime.busy = 3_200_000
        #expect(try parts() == [0, 50, 150, 300, 100, 1400])
        // More than there is.
        outcome.workerTime = WorkerTime(
            cpu: 1_500_000, transfer: 3_000_000, socket: 1_700_000, sign: 100_000)
        #expect(try parts() == [0, 0, 300, 1700, 0, 0])
        outcome.workerTime = WorkerTime(cpu: 500_000)
        #expect(try parts() == [0, 0, 0, 0, 0, 2000])
    }

    @Test("Pushes late by a millisecond although streams were free are a limit by themselves")
    func late() throws {
        func lag(_ time: UInt64, _ count: UInt64) -> LatencyHistogram {
            var histogram = LatencyHistogram()
            histogram.record(20_000, count: 9_000)
            histogram.record(time, count: count)
            return histogram
        }
        #expect(try reasons { $0.loopLag = lag(900_000, 500) }.isEmpty)
        #expect(try reasons { $0.loopLag = lag(77_000_000, 10) }.isEmpty)
        let reasons = try reasons { $0.loopLag = lag(77_000_000, 500) }
        #expect(reasons.count == 1 && reasons[0].hasPrefix("pushes left late although streams were free: p99 77"))
    }

    private func driver(_ inputs: RunInputs? = nil) throws -> WorkerDriver {
        WorkerDriver(
            inputs: try inputs ?? Self.inputs(), thread: 0,
            state: RunState(accepted: try #require(DeliveryLedger(capacity: 1000)), times: nil), box: SnapshotBox(),
            signer: nil)
    }

    /// Takes all that is due.
    private func take(_ driver: WorkerDriver, at time: UInt64) {
        var ticket = PushTicket(sequence: 0, due: 0)
        while case .push = driver.take(now: time, into: &ticket) {}
    }

    @Test("A push is late by the generator's fault only since the engine last had nothing to do")
    func stalledTarget() throws {
        let driver = try driver()
        take(driver, at: 1_000_000_000)
        // No stream was free for 125 ms; then the answers came, and 0.2 ms later all was sent.
        driver.idled(until: 1_125_000_000)
        take(driver, at: 1_125_200_000)
        let lag = driver.recorder.loopLag.summary
        #expect(lag.count == 126 && lag.max <= 201_000)
    }

    @Test("A busy engine's lateness counts from the due time, however many streams are free")
    func busyGenerator() throws {
        let driver = try driver()
        take(driver, at: 1_000_000_000)
        take(driver, at: 1_125_200_000)
        let lag = driver.recorder.loopLag.summary
        #expect(lag.count == 126 && lag.max >= 124_000_000)
    }

    @Test("A late end of a wait for a due push counts")
    func lateTimer() throws {
        let driver = try driver()
        take(driver, at: 1_000_000_000)
        // It wanted to wake at 1.001 s and did at 1.004.
        driver.idled(until: 1_001_000_000)
        take(driver, at: 1_004_000_000)
        #expect(driver.recorder.loopLag.summary.max >= 2_990_000)
    }

    @Test("What overflowed while the generator stood still is its own fault, what found all streams in use is not")
    func overflowed() throws {
        for (idle, own) in [(1_001_000_000, 488), (1_499_500_000, 0)] as [(UInt64, UInt64)] {
            let inputs = try Self.inputs { $0.backlog = 10 }
            let driver = try driver(inputs)
            take(driver, at: 1_000_000_000)
            // Half a second after the start; it wanted to look each 20 ms.
            driver.idled(until: idle)
            driver.tick(now: 1_500_000_000, unixTime: 0, inFlight: 0)
            #expect(driver.recorder.counts.notSent == 490 && driver.ownOverflows == own)
            var outcome = LoadOutcome()
            outcome.measurements.add(driver.recorder)
            outcome.generator.overflowed = driver.ownOverflows
            let section = GeneratorVerdict(outcome, inputs: inputs).section
            #expect(section.overflowed == own)
            #expect(
                section.reasons
                    == (own > 0
                        ? ["\(own) pushes overflowed the backlog while a worker thread stood still or was busy"] : []))
        }
    }

    @Test("Connections that end once the measured span is over are told apart")
    func lateConnections() throws {
        let driver = try driver()
        driver.clock = { 1_500_000_000 }
        driver.connection(0, .opened)
        take(driver, at: 1_000_000_000)
        driver.connection(0, .lost)
        driver.connection(0, .ended(.broken(.connectionReset)))
        #expect(driver.connections.lost == 1 && driver.lateConnections.lost == 0)
        driver.clock = { 2_000_000_000 }
        driver.connection(0, .opened)
        driver.connection(0, .lost)
        driver.connection(0, .ended(.broken(.connectionClosed)))
        driver.connection(0, .connectFailed)
        var outcome = LoadOutcome()
        outcome.connections.add(driver.connections)
        outcome.lateConnections.add(driver.lateConnections)
        let connections = RunDocument(inputs: try Self.inputs(), outcome: outcome, target: "t").result.connections
        #expect(connections.opened == 2 && connections.lost == 2 && connections.connectFailures == 1)
        #expect(
            connections.afterWindow
                == .init(opened: 1, lost: 1, connectFailures: 1, ends: ["connection_closed": 1]), "\(connections)")
    }

    @Test("Pacing auto spins where a core is left over, and never where client and mock fill them")
    func auto() throws {
        func pacing(_ cores: Int, _ change: (inout Scenario) -> Void) throws -> Pacing {
            try Self.inputs(change).pacing(cores: cores)
        }
        #expect(try pacing(2) { $0.pacing = "auto" } == .sleep)
        #expect(try pacing(3) { $0.pacing = "auto" } == .spin)
        #expect(
            try pacing(4) {
                $0.pacing = "auto"; $0.threads = 2; $0.connections = 2; $0.mockThreads = 2
            } == .sleep)
        #expect(
            try pacing(2) {
                $0.pacing = "auto"; $0.target = "https://127.0.0.1"
            } == .spin)
        for (pin, expected) in [("0", Pacing.sleep), ("0-1", .spin)] {
            #expect(
                try pacing(8) {
                    $0.pacing = "auto"; $0.threads = 2; $0.connections = 2; $0.target = "https://127.0.0.1";
                    $0.pin = pin
                } == expected)
        }
        #expect(try pacing(64) { _ in } == .sleep)
        #expect(try pacing(1) { $0.pacing = "spin" } == .spin)
    }
}
