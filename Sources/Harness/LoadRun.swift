import Foundation
import HTTP2
import Measurement
import Networking
import Payloads
import Scenarios
import Signing
import Synchronization
import Transport

#if NIO
    import TransportNIO
#endif

/// What the workers of one run brought home.
struct LoadOutcome: Sendable {
    var measurements = MergedMeasurements(causes: FailureCause.count)
    var breakdowns = MergedBreakdowns()
    /// How late the loops came back for pushes they could have sent on time.
    var loopLag = LatencyHistogram()
    var retries = RetryCounts()
    /// Of each worker: its thread's CPU time as a share of the run's time.
    var workerLoad: [Double] = []
    /// Share of the machine's CPU time that other virtual machines took.
    var steal = 0.0
    /// Seconds from the first answer that is measured to the last.
    var answering = 0.0
    /// Seconds from the start to the first push that is measured.
    var warmup = 0.0
    /// With `--warmup auto`: whether the end was found, rather than set after a quarter of the run.
    var foundSteadyState: Bool?
    /// From the last push being taken to the last answer, seconds, and pushes open then.
    var cooldown = (seconds: 0.0, pushes: UInt64(0))
    /// CPU time of all worker threads in all, and what of it is known, ns.
    var workerTime = WorkerTime()
    var planned: UInt64 = 0
    /// Pushes of the plan that no worker took; they are among the failed.
    var untaken: UInt64 = 0
    var isInterrupted = false
    /// Why the run was ended before its time, by itself.
    var abortedFor: String?
    var opened: UInt64 = 0
    var lost: UInt64 = 0
    var connectFailures: UInt64 = 0
    var goAways: UInt64 = 0
    var reconnects: UInt64 = 0
    var tokensSigned: UInt64 = 0
    /// First intended send time to the end of the last push, seconds.
    var duration: Double = 0
    var cpu: UInt64 = 0
    var allocations: UInt64?
    var series: [SeriesPoint] = []
    var intervals: [HistogramLog.Interval] = []
    var tls: String?
    /// Why the last connection was lost or not made, empty when none was.
    var lastProblem = ""
}

/// Where the worker threads' CPU time went, ns.
struct WorkerTime: Sendable {
    var cpu: UInt64 = 0
    /// In calls that read from and write to connections: TLS and the socket.
    var transfer: UInt64 = 0
    /// In the socket calls alone.
    var socket: UInt64 = 0
    var sign: UInt64 = 0
}

/// Runs the workers of one run against one target and watches them.
final class LoadRun: Sendable {
    let inputs: RunInputs
    let state: RunState
    let control = RunControl()
    private let target: Target
    private let identity: ProviderIdentity?
    private let boxes: [SnapshotBox]

    /// - Parameter times: filled with the moments of some pushes, as the client sees them.
    /// - Throws: when the ledger's address space cannot be had.
    init(
        inputs: RunInputs, target: Target, identity: ProviderIdentity?, times: PushTimes?
    ) throws(HarnessError) {
        self.inputs = inputs
        self.target = target
        self.identity = identity
        // Closed loop for a duration has no bound beforehand; 2^32 pushes are 512 MB of address space, touched as used.
        let capacity = inputs.planned ?? inputs.scenario.pushes ?? 1 << 32
        guard let ledger = DeliveryLedger(capacity: capacity) else {
            throw HarnessError("not enough address space for a ledger of \(capacity) pushes", isUsage: false)
        }
        state = RunState(accepted: ledger, times: times)
        boxes = (0..<inputs.scenario.threads).map { _ in SnapshotBox() }
    }

    /// Sends everything; returns when every push has ended.
    ///
    /// - Parameter progress: called about once a second (`isTerminal`: four times) with how far it is.
    ///   - judge: called each second; a reason ends the run early.
    func run(
        isTerminal: Bool, judge: LiveJudge?, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> LoadOutcome {
        let gathering = Gathering()
        let cpuBefore = ProcessCost.sample()?.cpu ?? 0
        let machineBefore = MachineTime.sample()
        let allocationsBefore = AllocationCount.current()
        let shared = SharedToken()
        let scenario = inputs.scenario
        let metrics = try scenario.metricsPort.map { port in try MetricsServer(port: port) { [self] in metricsText() } }
        defer { metrics?.stop() }
        let series = await withTaskGroup(of: Void.self, returning: SeriesBuilder.self) { group in
            for worker in 0..<scenario.threads {
                group.addTask {
                    await ThreadTask.run(name: "worker \(worker)") { [self] in
                        do {
                            let result = try runWorker(worker, shared: shared)
                            gathering.results.withLock { $0.append(result) }
                        } catch {
                            gathering.failures.withLock { $0.append("\(error)") }
                        }
                        AllocationCount.flushThread()
                    }
                }
            }
            let watcher = Task {
                await watch(isTerminal: isTerminal, gathering: gathering, judge: judge, progress: progress)
            }
            await group.waitForAll()
            gathering.isDone.store(true, ordering: .relaxed)
            return await watcher.value
        }
        if let failure = gathering.failures.withLock({ $0.first }) { throw HarnessError(failure, isUsage: false) }
        var outcome = collect(gathering.results.withLock { $0 })
        outcome.tokensSigned += shared.signed
        outcome.abortedFor = gathering.abortedFor.withLock { $0 }
        if scenario.warmupAuto { outcome.foundSteadyState = gathering.isSteady.load(ordering: .relaxed) }
        outcome.cpu = (ProcessCost.sample()?.cpu ?? 0) - cpuBefore
        outcome.steal = MachineTime.sample().stealShare(since: machineBefore)
        if let before = allocationsBefore, let after = AllocationCount.current() {
            outcome.allocations = after - before
        }
        var builder = series
        builder.add(
            time: outcome.duration, counts: outcome.measurements.counts, inFlight: 0, backlog: 0,
            total: outcome.measurements[.total])
        outcome.series = builder.points
        outcome.intervals = builder.intervals
        return outcome
    }

    // MARK: Workers

    /// What the workers' threads leave for the run.
    private final class Gathering: Sendable {
        let results = Mutex<[WorkerResult]>([])
        let failures = Mutex<[String]>([])
        let isDone = Atomic<Bool>(false)
        let isSteady = Atomic<Bool>(false)
        let abortedFor = Mutex<String?>(nil)
    }

    private struct WorkerResult: Sendable {
        // Handed over by the worker's thread, which has ended.
        nonisolated(unsafe) let driver: WorkerDriver
        let tls: String?
        let problem: String
        let time: WorkerTime
    }

    private func runWorker(_ worker: Int, shared: SharedToken) throws -> WorkerResult {
        let scenario = inputs.scenario
        let options = transportOptions(worker)
        let signer = try identity.map {
            try TokenSigner(
                identity: $0, policy: inputs.policy, shared: shared, firstConnection: options.firstConnection,
                connections: options.connections)
        }
        let driver = WorkerDriver(
            inputs: inputs, share: WorkerShare(worker: worker, workers: scenario.threads), state: state,
            box: boxes[worker], signer: signer)
        let client = try makeEngine(options, driver)
        let before = ThreadTime.now()
        client.run()
        driver.giveUpRetries()
        return WorkerResult(
            driver: driver, tls: client.tlsDescription, problem: signer?.failure?.description ?? client.lastProblem,
            time: WorkerTime(
                cpu: ThreadTime.now() - before, transfer: client.transferTime, socket: client.socketTime,
                sign: driver.signTime))
    }

    func makeEngine(_ options: TransportOptions, _ driver: WorkerDriver) throws -> any PushEngine {
        let headerSets = inputs.headers.map(\.fields)
        #if NIO
            if inputs.scenario.engine == "nio" {
                return try NIOPushClient(
                    target: target, options: options, driver: driver, control: control, headerSets: headerSets,
                    tokenCapacity: inputs.population.longestToken, payloadCapacity: driver.payloadCapacity)
            }
        #endif
        return try PushClient(
            target: target, options: options, driver: driver, control: control, headerSets: headerSets,
            tokenCapacity: inputs.population.longestToken, payloadCapacity: driver.payloadCapacity)
    }

    func transportOptions(_ worker: Int) -> TransportOptions {
        let scenario = inputs.scenario
        var options = TransportOptions()
        options.engine = EngineKind(rawValue: scenario.engine) ?? .wire
        // The first workers take what does not divide evenly.
        let share = scenario.connections / scenario.threads
        let rest = scenario.connections % scenario.threads
        options.connections = share + (worker < rest ? 1 : 0)
        options.firstConnection = worker * share + min(worker, rest)
        options.streams = scenario.streams
        options.sendBatch = scenario.sendBatch
        options.session.streamWindow = UInt32(scenario.streamWindow)
        options.session.connectionWindow = UInt32(scenario.connectionWindow)
        options.session.headerTableSize = UInt32(scenario.headerTableSize)
        options.session.encoderTableSize = UInt32(scenario.encoderTableSize)
        options.session.maxFrameSize = UInt32(scenario.maxFrameSize)
        options.huffman = scenario.huffman
        options.socket = SocketOptions(
            noDelay: scenario.noDelay, sendBuffer: scenario.socketSendBuffer,
            receiveBuffer: scenario.socketReceiveBuffer)
        options.connectTimeout = scenario.connectTimeout
        options.pushTimeout = scenario.pushTimeout
        options.pingInterval = scenario.pingInterval
        options.pingTimeout = scenario.pingTimeout
        options.giveUpAfter = scenario.giveUpAfter
        options.retryLimit = UInt8(scenario.retryLimit)
        options.seed = scenario.seed &+ UInt64(worker)
        return options
    }

    private func collect(_ results: [WorkerResult]) -> LoadOutcome {
        var outcome = LoadOutcome()
        var lastEnd: UInt64 = 0
        var abandonedBy: FailureCause?
        var firstMeasured = UInt64.max
        var firstAnswer = UInt64.max
        var cooldownFrom: UInt64 = 0
        for result in results {
            let driver = result.driver
            outcome.measurements.add(driver.recorder)
            for breakdown in driver.breakdowns.all { outcome.breakdowns.add(breakdown) }
            outcome.loopLag.add(driver.loopLag)
            outcome.retries.add(driver.retries.counts)
            firstMeasured = min(firstMeasured, driver.firstMeasured)
            firstAnswer = min(firstAnswer, driver.firstAnswer)
            outcome.opened += driver.opened
            outcome.lost += driver.lost
            outcome.connectFailures += driver.connectFailures
            outcome.goAways += driver.goAways
            outcome.reconnects += driver.reconnects
            outcome.tokensSigned += driver.tokensSigned
            cooldownFrom = max(cooldownFrom, driver.cooldownFrom)
            outcome.cooldown.pushes += driver.cooldownPushes
            outcome.workerTime.cpu += result.time.cpu
            outcome.workerTime.socket += result.time.socket
            outcome.workerTime.transfer += result.time.transfer
            outcome.workerTime.sign += result.time.sign
            lastEnd = max(lastEnd, driver.lastEnd)
            abandonedBy = abandonedBy ?? driver.abandonedBy
            outcome.tls = outcome.tls ?? result.tls
            if !result.problem.isEmpty { outcome.lastProblem = result.problem }
        }
        let start = state.start.load(ordering: .relaxed)
        outcome.duration = start > 0 && lastEnd > start ? Double(lastEnd - start) / 1e9 : 0
        outcome.warmup = firstMeasured != .max && firstMeasured > start ? Double(firstMeasured - start) / 1e9 : 0
        outcome.answering = firstAnswer < lastEnd ? Double(lastEnd - firstAnswer) / 1e9 : 0
        if cooldownFrom > 0, lastEnd > cooldownFrom { outcome.cooldown.seconds = Double(lastEnd - cooldownFrom) / 1e9 }
        if outcome.duration > 0 {
            outcome.workerLoad = results.map { min(1, Double($0.time.cpu) / 1e9 / outcome.duration) }.sorted(by: >)
        }
        outcome.isInterrupted = control.request != .none
        let taken = outcome.measurements.counts.taken
        let scenario = inputs.scenario
        // What the plan still held when a run was stopped or abandoned has failed; a closed loop that ends with its
        // duration planned what it took.
        var planned = inputs.planned ?? taken
        if inputs.planned == nil, let pushes = scenario.pushes, abandonedBy != nil || outcome.isInterrupted {
            planned = pushes
        }
        outcome.planned = planned
        outcome.untaken = planned - min(planned, taken)
        if outcome.untaken > 0 {
            outcome.measurements.addFailures(outcome.untaken, cause: (abandonedBy ?? .interrupted).index)
        }
        return outcome
    }

    // MARK: Watching

    private func watch(
        isTerminal: Bool, gathering: Gathering, judge: LiveJudge?, progress: @Sendable (RunProgress) -> Void
    ) async -> SeriesBuilder {
        var series = SeriesBuilder()
        var second: UInt64 = 1
        var shown = Snapshot()
        var steady = inputs.scenario.warmupAuto ? SteadyState() : nil
        while !gathering.isDone.load(ordering: .relaxed) {
            // Each look asks for the next, so that a snapshot is at most a round and a worker's tick old.
            let now = snapshot()
            try? await Task.sleep(nanoseconds: 50_000_000)
            let start = state.start.load(ordering: .relaxed)
            guard start > 0, now.time > start else { continue }
            if shown.time == 0 { shown.time = start }
            let elapsed = now.time - start
            if steady != nil {
                let isSteady = steady!.look(
                    at: elapsed, total: now.total, unanswered: UInt64(now.inFlight) + now.backlog)
                if isSteady || isQuarterOver(elapsed, now.counts) {
                    state.measuredFrom.store(MonotonicClock.now(), ordering: .relaxed)
                    gathering.isSteady.store(isSteady, ordering: .relaxed)
                    steady = nil
                }
            }
            if elapsed >= second * 1_000_000_000 {
                series.add(
                    time: Double(elapsed) / 1e9, counts: now.counts, inFlight: now.inFlight,
                    backlog: now.backlog, total: now.total)
                second = elapsed / 1_000_000_000 + 1
                if let reason = judge?(now.counts, now.total, inputs.planned), control.request == .none {
                    gathering.abortedFor.withLock { $0 = reason }
                    control.ask(.drain)
                }
            }
            if now.time >= shown.time + (isTerminal ? 250_000_000 : 2_000_000_000) {
                let (p50, p99) = now.total.percentilesSince(shown.total)
                let seconds = Double(now.time - shown.time) / 1e9
                progress(
                    RunProgress(
                        counts: now.counts, planned: inputs.planned, inFlight: now.inFlight, p50: p50,
                        p99: p99, perSecond: Double(now.counts.ended - shown.counts.ended) / seconds,
                        elapsed: Double(elapsed) / 1e9))
                shown = now
            }
        }
        return series
    }

    /// A quarter of the run's time or of its pushes is over.
    private func isQuarterOver(_ elapsed: UInt64, _ counts: PushCounts) -> Bool {
        if let duration = inputs.schedule?.duration ?? inputs.scenario.duration, elapsed >= duration / 4 { return true }
        return inputs.schedule == nil && inputs.planned.map { counts.ended >= $0 / 4 } ?? false
    }

    /// The run at this moment in Prometheus' text format (version 0.0.4); names as in the result.
    func metricsText() -> String {
        let now = snapshot()
        let summary = now.total.summary
        var text = ""
        func metric(_ name: String, _ type: String, _ help: String, _ samples: [(String, String)]) {
            text += "# HELP pushload_\(name) \(help)\n# TYPE pushload_\(name) \(type)\n"
            for (labels, value) in samples { text += "pushload_\(name)\(labels) \(value)\n" }
        }
        func seconds(_ nanoseconds: UInt64) -> String { String(Double(nanoseconds) / 1e9) }
        if let planned = inputs.planned { metric("planned", "gauge", "Pushes planned.", [("", String(planned))]) }
        metric(
            "pushes_total", "counter", "Pushes ended, by outcome.",
            [
                ("{outcome=\"accepted\"}", String(now.counts.accepted)),
                ("{outcome=\"rejected\"}", String(now.counts.rejected)),
                ("{outcome=\"failed\"}", String(now.counts.failed)),
            ])
        metric(
            "sent_total", "counter", "Pushes handed to the kernel, attempts counted.", [("", String(now.counts.sent))])
        metric("retried_total", "counter", "Attempts after the first.", [("", String(now.counts.retried))])
        metric("in_flight", "gauge", "Open streams.", [("", String(now.inFlight))])
        metric("backlog", "gauge", "Open loop: pushes due and not on a stream.", [("", String(now.backlog))])
        metric(
            "total_seconds", "summary", "Intended send time to answer, since the start.",
            [
                ("{quantile=\"0.5\"}", seconds(summary.p50)), ("{quantile=\"0.9\"}", seconds(summary.p90)),
                ("{quantile=\"0.99\"}", seconds(summary.p99)), ("{quantile=\"0.999\"}", seconds(summary.p999)),
                ("_sum", String(summary.mean * Double(summary.count) / 1e9)), ("_count", String(summary.count)),
            ])
        return text
    }

    /// All workers at about one moment.
    private struct Snapshot {
        /// Of the worker that was seen last, ns.
        var time: UInt64 = 0
        var counts = PushCounts()
        var inFlight = 0
        var backlog: UInt64 = 0
        var total = LatencyHistogram()
    }

    private func snapshot() -> Snapshot {
        var all = Snapshot()
        for box in boxes {
            let snapshot = box.read()
            all.time = max(all.time, snapshot.time)
            all.counts.add(snapshot.counts)
            all.inFlight += snapshot.inFlight
            all.backlog += snapshot.backlog
            all.total.add(snapshot.total)
        }
        return all
    }
}

/// Looks at a run while it goes on: counts, total latencies so far, pushes planned. A reason ends the run.
public typealias LiveJudge = @Sendable (PushCounts, LatencyHistogram, UInt64?) -> String?

/// How far a run is, at one moment.
public struct RunProgress: Sendable {
    public let counts: PushCounts
    public let planned: UInt64?
    public let inFlight: Int
    /// Intended time to answer since the last call, ns.
    public let p50: UInt64
    public let p99: UInt64
    /// Ended pushes a second since the last call.
    public let perSecond: Double
    /// Seconds since the start.
    public let elapsed: Double
}
