import Measurement
import Networking
import Results
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

    /// Blocks of a second and 1,000 pushes, give or take some.
    private static func blocks(_ spread: UInt64, count: Int = 12) -> [LatencyBlock] {
        (0..<count).map { block in
            var latencies = LatencyHistogram()
            latencies.record(1_000_000, count: block % 2 == 0 ? 1000 - spread : 1000 + spread)
            return LatencyBlock(from: Double(block), to: Double(block + 1), latencies)
        }
    }

    @Test("A worker that waits for a core is a limit of a closed loop, by what its rate may be low and is known to")
    func starved() throws {
        func reasons(
            _ delay: Double?, blocks: [LatencyBlock] = Self.blocks(10), rate: Double? = nil, target: String? = nil
        ) throws
            -> [String]
        {
            var outcome = LoadOutcome()
            (outcome.generator.runQueueDelay, outcome.blocks) = (delay, blocks)
            let inputs = try Self.inputs { ($0.rate, $0.target) = (rate, target.map { TargetList(stringLiteral: $0) }) }
            return GeneratorVerdict(outcome, inputs: inputs).section.reasons
        }
        #expect(try reasons(nil).isEmpty && reasons(0.04).isEmpty)
        let waited = "a worker thread waited for a core 17 % of the time: other threads"
        let low = "; the rate may be up to 17 % low"
        #expect(try reasons(0.17) == [waited + ", the bundled mock's among them, need the cores too" + low])
        #expect(try reasons(0.17, target: "http://127.0.0.1:1") == [waited + " need the cores too" + low])
        // A rate that is known to 40 % only, one of so short a run that it is not known, and one that was kept: there the event
        // loop's lag tells what it did to figures.
        #expect(
            try reasons(0.17, blocks: Self.blocks(600)).isEmpty
                && reasons(0.17, blocks: Self.blocks(10, count: 1)).isEmpty)
        #expect(try reasons(0.17, rate: 1000).isEmpty)
        // One that was not kept, whether latencies were measured or not.
        var short = LoadOutcome()
        short.generator.runQueueDelay = 0.17
        (short.throughput.offered, short.throughput.sent) = (1000, 500)
        #expect(GeneratorVerdict(short, inputs: try Self.inputs()).section.reasons.first?.hasSuffix(low) == true)
    }

    @Test("A thread that a container's CPU limit stopped has that as its cause, and no other threads")
    func limitedContainer() throws {
        var outcome = LoadOutcome()
        outcome.generator.runQueueDelay = 0.62
        outcome.blocks = Self.blocks(10)
        outcome.generator.cpuLimit = .init(periods: 61, throttled: 61, seconds: 4)
        func reasons() throws -> [String] {
            GeneratorVerdict(outcome, inputs: try Self.inputs { $0.rate = nil }).section.reasons
        }
        #expect(
            try reasons() == [
                "a worker thread waited for a core 62 % of the time: the CPU limit of this container (cpu.stat: throttled 61 of 61 "
                    + "periods); the rate may be up to 62 % low"
            ])
        // Other virtual machines took more.
        outcome.generator.steal = 0.7
        #expect(
            try reasons().first?.hasPrefix("70.0 % of the machine's CPU time went to other virtual machines; ") == true)
        outcome.generator.steal = 0
        // One that was hardly ever reached is not the cause.
        outcome.generator.cpuLimit?.throttled = 2
        #expect(try reasons().first?.contains("need the cores too") == true)
        // A kernel that does not count what threads waited for.
        outcome.generator.runQueueDelay = nil
        outcome.generator.cpuLimit?.throttled = 61
        outcome.run.durationSeconds = 5
        #expect(
            try reasons() == [
                "the CPU limit of this container (cpu.stat: throttled 61 of 61 periods); the rate may be up to 40 % low"
            ])
        // Stopped time is that of all cores, and there are more of them than threads.
        outcome.generator.cpuLimit?.seconds = 12
        #expect(try reasons().first?.hasSuffix("; the rate may be up to 100 % low") == true)
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
        #expect(outcome.measurements[.encode].count == 0)
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

    @Test(
        "Encoding is one figure: the mean of its latency is what it has of the CPU, whatever else a thread lost its core for"
    )
    func encoding() throws {
        let recorder = Recorder(causes: 1)
        for _ in 0..<1000 { recorder.encoded(36) }
        var outcome = LoadOutcome()
        outcome.measurements.add(recorder)
        var counts = PushCounts()
        (counts.sent, counts.accepted) = (1000, 1000)
        outcome.measurements.add(counts)
        outcome.cpu = 2_000_000
        // It had a core a third of the time in which it did not wait.
        outcome.workerTime = WorkerTime(cpu: 1_000_000, busy: 3_000_000)
        let result = RunDocument(inputs: try Self.inputs(), outcome: outcome, target: "t").result
        #expect(result.generator.cpu.encode == result.latency[.encode].mean && result.generator.cpu.encode == 36)
    }

    /// 27,000 pushes late by 20 us and some by more, of which the total latency is that and `rest`.
    private func lateRun(
        _ time: UInt64, _ count: UInt64, rest: UInt64, _ change: (inout Scenario) -> Void = { _ in }
    ) throws -> ResultDocument {
        let recorder = Recorder(causes: 1)
        for push in 0..<(27_000 + count) {
            // In time, those that are late are spread over all blocks.
            let lag = push % (27_000 / max(1, count) + 1) == 0 && count > 0 ? time : 20_000
            recorder.lagged(lag)
            recorder.accepted(total: lag + rest + push % 100 * rest / 1000, isMeasured: true)
        }
        var outcome = LoadOutcome()
        outcome.loopLag = recorder.loopLag
        outcome.measurements.add(recorder)
        var totals = TotalLatencies()
        recorder.handOver(&totals)
        outcome.measurements.add(totals)
        let whole = totals.all.answered
        outcome.blocks = (0..<20).map { block in
            var part = LatencyHistogram()
            for counter in whole.counters { part.record(counter.value, count: (counter.count + UInt64(block)) / 20) }
            return LatencyBlock(from: Double(block) / 2, to: Double(block + 1) / 2, part)
        }
        outcome.throughput.offered = 1000
        return RunDocument(inputs: try Self.inputs(change), outcome: outcome, target: "t").result
    }

    @Test("Pushes that left late are a limit where that may have moved a percentile by more than it is known to")
    func late() throws {
        func reasons(_ time: UInt64, _ count: UInt64, rest: UInt64) throws -> [String] {
            try lateRun(time, count, rest: rest).generator.reasons
        }
        // Late by less than a millisecond, or hardly ever.
        #expect(try reasons(900_000, 1500, rest: 300_000).isEmpty)
        #expect(try reasons(77_000_000, 30, rest: 300_000).isEmpty)
        let late = try reasons(77_000_000, 1500, rest: 300_000)
        #expect(
            late.count == 1 && late[0].hasPrefix("pushes left late although streams were free (p99 77")
                && late[0].contains("): p99 may be up to 77"), "\(late)")
        // Of a target that takes a second 1.5 ms is no twentieth.
        #expect(try reasons(1_500_000, 1500, rest: 1_000_000_000).isEmpty)
    }

    @Test("A threshold that is crossed for nothing but lateness is said, however well the percentile is known")
    func crossedByLateness() throws {
        func reasons(_ threshold: String) throws -> [String] {
            try lateRun(1_500_000, 1500, rest: 1_000_000_000) { $0.thresholds = [threshold] }.generator.reasons
        }
        let p99 = try lateRun(1_500_000, 1500, rest: 1_000_000_000).latency[.total].p99
        let close = "p99 < \(p99 - 100_000)ns"
        let crossed = try reasons(close)
        #expect(crossed.count == 1 && crossed[0].hasSuffix(": \(close) may be crossed for that alone"), "\(crossed)")
        #expect(try reasons("p99 < 100ms").isEmpty && reasons("p99 < 10s").isEmpty)
    }

    @Test("That pushes were late is said once, with its cause first: no doubt and no note repeat it")
    func once() throws {
        var result = try lateRun(77_000_000, 1500, rest: 300_000)
        func lines() -> [String] { result.generator.reasons + result.notes + (result.trust?.doubts ?? []) }
        #expect(lines().filter { $0.contains("late") }.count == 1, "\(lines())")
        let recorder = Recorder(causes: 1)
        for push in 0..<10_000 as Range<UInt64> {
            let lag: UInt64 = push % 10 == 0 ? 50_000_000 : 20_000
            recorder.lagged(lag)
            recorder.accepted(total: lag + 300_000, isMeasured: true)
        }
        var outcome = LoadOutcome()
        outcome.loopLag = recorder.loopLag
        var totals = TotalLatencies()
        recorder.handOver(&totals)
        outcome.measurements.add(totals)
        outcome.generator.runQueueDelay = 0.3
        outcome.generator.overflowed = 7
        result = RunDocument(inputs: try Self.inputs(), outcome: outcome, target: "t").result
        let reasons = result.generator.reasons
        #expect(
            reasons.count == 1 && reasons[0].hasPrefix("a worker thread waited for a core 30 % of the time: ")
                && reasons[0].contains("; pushes left late although streams were free (p99 50")
                && reasons[0].contains("; 7 pushes overflowed the backlog"), "\(reasons)")
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

    @Test("Lateness in the warm-up is no lateness of measured pushes")
    func lateWarmup() throws {
        let driver = try driver(try Self.inputs { $0.warmup = 100_000_000 })
        take(driver, at: 1_000_000_000)
        // It stood still until the warm-up's last push was due.
        take(driver, at: 1_099_500_000)
        #expect(driver.recorder.loopLag.summary.count == 0)
        driver.idled(until: 1_100_000_000)
        take(driver, at: 1_100_100_000)
        let lag = driver.recorder.loopLag.summary
        #expect(lag.count == 1 && lag.max <= 101_000)
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
