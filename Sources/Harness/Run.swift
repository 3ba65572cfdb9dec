import Foundation
import Glibc
import HTTP2
import Measurement
import Networking
import Payloads
import Results
import Scenarios
import Settings
import Signing
import Synchronization
import Transport

/// What a run leaves behind.
public struct RunProduct: Sendable {
    public let result: ResultDocument
    /// Total latencies second by second, as an HdrHistogram interval log (`.hlog`).
    public let log: String
    /// Total latencies as an HdrHistogram percentile text (`.hgrm`).
    public let percentiles: String
}

/// One run from scenario to result document: starts the bundled mock when there is no other target, and stops it.
public struct Run: Sendable {
    /// Where keys and trust come from.
    public struct Identity: Sendable {
        /// The folder both programs understand.
        public var credentials: String?
        /// A provider key given by itself, with the file it came from.
        public var provider: ProviderIdentity?
        public var providerFile: String?
        public var certificate: TLSIdentity?
        /// PEM of the CAs to trust.
        public var trusted: [UInt8]?
        public var trustedOrigin = ""

        public init() {}
    }

    private let inputs: RunInputs
    private let identity: Identity
    private let stopper: Stopper

    /// - Parameter injectedCPU: CPU time that every push costs besides, ns: a slowdown of known size.
    /// - Throws: one line (or one a problem of the scenario) when the run cannot be made.
    public init(
        _ scenario: Scenario, identity: Identity, injectedCPU: UInt64 = 0
    ) throws(HarnessError) {
        var scenario = scenario
        if scenario.target == nil, let folder = identity.credentials,
            FileManager.default.fileExists(atPath: folder + "/credentials.json")
        {
            // A folder in use fixes the topic, unless another was asked for.
            if scenario.topic.isEmpty {
                do { scenario.topic = try Credentials.load(directory: folder).topic } catch {
                    throw HarnessError(error.description)
                }
            }
        }
        if scenario.topic.isEmpty { scenario.topic = Credentials.defaultTopic }
        var inputs = try RunInputs(scenario)
        inputs.injectedCPU = injectedCPU
        self.inputs = inputs
        self.identity = identity
        stopper = Stopper()
    }

    /// The settings as its result will have them.
    public var settings: [String: Setting] { Self.settings(inputs.scenario) }

    /// Stops the run: the first time pushes in flight may still be answered, for 5 seconds; the second time at once.
    public func stop() { stopper.stop() }

    /// Runs it; throws only when nothing could be measured.
    public func execute(
        isTerminal: Bool, judge: LiveJudge? = nil, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> RunProduct {
        let started = Date()
        if let url = inputs.scenario.target {
            let load = try makeLoad(TargetURL(url), identity.credentials, times: nil)
            stopper.attach(load.control)
            let outcome = try await load.run(isTerminal: isTerminal, judge: judge, progress: progress)
            return document(started, target: url, load: load, outcome: outcome, mock: nil)
        }
        return try await executeWithMock(started, isTerminal: isTerminal, judge: judge, progress: progress)
    }

    // MARK: The bundled mock

    private func executeWithMock(
        _ started: Date, isTerminal: Bool, judge: LiveJudge?, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> RunProduct {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushload-\(inputs.run)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let credentials = identity.credentials ?? folder + "/credentials"
        let times =
            inputs.scenario.measure ? PushTimes(interval: PushTimes.interval(planned: inputs.planned)) : nil
        let mock = try BundledMock(
            scenario: inputs.scenario, folder: folder, timesInterval: times?.interval, credentials: credentials,
            clientCA: identity.certificate?.certificateOrigin,
            provider: identity.provider, providerFile: identity.providerFile)
        let control = stopper
        let ((load, outcome, costs), counts) = try await mock.run(ended: { control.targetEnded() }) { handle in
            let load = try makeLoad(TargetURL(handle.url), credentials, times: times)
            control.attach(load.control)
            let before = ProcessCost.sample(pid: handle.pid)
            let outcome = try await load.run(isTerminal: isTerminal, judge: judge, progress: progress)
            let after = ProcessCost.sample(pid: handle.pid)
            return (load, outcome, MockCosts(before: before, after: after))
        }
        var account = MockAccount(costs: costs, counts: counts)
        if counts != nil {
            do {
                account.comparison = try LedgerFile.compare(
                    mock.ledgerPath, run: inputs.run.rawValue, accepted: load.state.accepted)
            } catch {
                account.problem = error.description
            }
            if let times, outcome.measurements.counts.accepted > 0 {
                do {
                    account.oneWay = try PushTimesFile.join(
                        mock.timesPath, run: inputs.run.rawValue, client: times)
                } catch {
                    account.problem = account.problem ?? error.description
                }
            }
        } else {
            account.problem = "the bundled mock ended before the run: its ledger is lost"
        }
        return document(started, target: "bundled mock", load: load, outcome: outcome, mock: account)
    }

    private struct MockCosts: Sendable {
        let before: ProcessCost?
        let after: ProcessCost?
    }

    private struct MockAccount {
        let costs: MockCosts
        let counts: BundledMock.Counts?
        var comparison: LedgerFile.Comparison?
        var oneWay: OneWayTimes?
        var problem: String?
    }

    // MARK: The target

    private func makeLoad(_ url: TargetURL, _ credentials: String?, times: PushTimes?) throws -> LoadRun {
        var provider = identity.provider
        var trusted = identity.trusted
        var trustedOrigin = identity.trustedOrigin
        if let credentials {
            let loaded = try Credentials.load(directory: credentials)
            if provider == nil { provider = loaded.identity }
            if trusted == nil {
                trusted = loaded.ca
                trustedOrigin = credentials + "/ca.pem"
            }
        }
        let scenario = inputs.scenario
        var tls: TLSContext?
        if url.isSecure {
            var options = TLSOptions()
            options.minimumVersion = TLSVersion(rawValue: scenario.tlsMinimum) ?? .v12
            options.maximumVersion = TLSVersion(rawValue: scenario.tlsMaximum) ?? .v13
            options.ciphers = scenario.ciphers
            options.ciphersuites = scenario.ciphersuites
            options.kernelTLS = scenario.kernelTLS
            // With many connections OpenSSL's buffers are most of the memory, and each holds little at a time.
            if scenario.connections > 100 {
                options.releaseIdleBuffers = true
                options.readBuffer = 16_896
            }
            options.trustedCertificates = trusted
            options.trustedOrigin = trustedOrigin
            options.identity = identity.certificate
            do { tls = try TLSContext(.client, options) } catch { throw HarnessError(error.description) }
        }
        let target = Target(
            address: try SocketAddress(host: url.host, port: url.port), host: url.host, authority: url.authority,
            tls: tls)
        return try LoadRun(
            inputs: inputs, target: target, identity: scenario.authentication == "token" ? provider : nil,
            times: times)
    }

    // MARK: The result

    private func document(
        _ started: Date, target: String, load: LoadRun, outcome: LoadOutcome, mock: MockAccount?
    ) -> RunProduct {
        let counts = outcome.measurements.counts
        let answered = counts.accepted + counts.rejected
        var notes: [String] = []
        if !outcome.lastProblem.isEmpty { notes.append("last connection problem: \(outcome.lastProblem)") }
        if let reason = outcome.abortedFor { notes.append("ended early: \(reason)") }
        if let problem = mock?.problem { notes.append(problem) }
        if let unanswered = mock?.comparison?.unanswered, unanswered > 0 {
            notes.append(
                "\(unanswered) pushes reached the mock and were accepted there, but their answers never arrived; "
                    + "they count as failed")
        }
        if let note = Self.latenessNote(outcome) { notes.append(note) }
        if outcome.foundSteadyState == false {
            notes.append("rate and latency were not steady after a quarter of the run; measured from there on")
        }
        let oneWay = mock?.oneWay ?? OneWayTimes()
        if oneWay.unmatched > 0 {
            notes.append(
                "the parts of the round trip leave out \(oneWay.unmatched) sampled pushes whose times at both ends do not "
                    + "belong together")
        }
        var ledger: (lost: UInt64, duplicated: UInt64)?
        if let comparison = mock?.comparison, let theirs = mock?.counts {
            let own = theirs.ledgers.first { $0.run == inputs.run.description }
            ledger = (comparison.lost, own?.duplicated ?? 0)
        }
        func perPush(_ value: UInt64) -> Double { answered > 0 ? Double(value) / Double(answered) : 0 }
        var mockCPU: Double?
        if let before = mock?.costs.before, let after = mock?.costs.after { mockCPU = perPush(after.cpu - before.cpu) }
        let measuring = MeasurementCost.calibrate(
            clock: { MonotonicClock.now() }, reading: { CycleClock.shared.now() })
        let isOpenLoop = inputs.schedule != nil
        let facts = MachineFacts()
        let scenario = inputs.scenario
        var result = ResultDocument(
            run: .init(
                id: inputs.run.description, name: scenario.name, startedAt: Self.timestamp(started),
                durationSeconds: outcome.duration,
                complete: outcome.untaken == 0 && !outcome.isInterrupted && outcome.planned > 0,
                interrupted: outcome.isInterrupted, engine: scenario.engine, target: target, tls: outcome.tls),
            environment: .init(
                host: facts.host, cpu: facts.cpuModel, cores: facts.cores, memoryBytes: facts.memoryBytes,
                kernel: facts.kernel, system: facts.system, versions: Versions.all, commit: Versions.commit),
            scenario: Self.settings(scenario),
            pushes: .init(
                planned: outcome.planned, sent: counts.sent, accepted: counts.accepted, rejected: counts.rejected,
                failed: counts.failed, retried: counts.retried, lost: ledger?.lost, duplicated: ledger?.duplicated),
            throughput: .init(
                perSecond: Self.rate(outcome, isMeasuring: scenario.measure, isOpenLoop: isOpenLoop),
                targetPerSecond: inputs.schedule.flatMap {
                    $0.duration > 0 ? Double($0.count) / (Double($0.duration) / 1e9) : nil
                }),
            latency: .init(
                encode: Self.latency(outcome, .encode), sign: Self.latency(outcome, .sign),
                late: Self.latency(outcome, .late), write: Self.latency(outcome, .write),
                queue: Self.latency(outcome, .queue), roundTrip: Self.latency(outcome, .roundTrip),
                service: Self.latency(outcome, .service), total: Self.latency(outcome, .total),
                toMock: Self.latency(oneWay.toMock.summary), inMock: Self.latency(oneWay.inMock.summary),
                fromMock: Self.latency(oneWay.fromMock.summary)),
            breakdown: outcome.breakdowns.outcomes.mapValues { labels in
                labels.mapValues {
                    .init(
                        accepted: $0.accepted, rejected: $0.rejected, failed: $0.failed,
                        total: Self.latency($0.total.summary))
                }
            },
            warmup: .init(
                seconds: outcome.warmup, answered: scenario.measure ? answered - counts.measured : 0,
                steady: outcome.foundSteadyState),
            generator: GeneratorVerdict(outcome, inputs: inputs).section,
            statuses: Self.named(outcome.measurements.statuses) { String($0) }, reasons: outcome.measurements.reasons,
            failures: Self.named(outcome.measurements.failures) { FailureCause.names[$0] },
            connections: .init(
                opened: outcome.opened, lost: outcome.lost, connectFailures: outcome.connectFailures,
                goAways: outcome.goAways, reconnects: outcome.reconnects),
            cost: .init(
                clientCPU: perPush(outcome.cpu), mockCPU: mockCPU,
                clientMemory: ProcessCost.sample()?.peakMemory ?? 0,
                mockMemory: mock?.counts?.peakMemory ?? mock?.costs.after?.peakMemory,
                clientAllocations: outcome.allocations.map(perPush),
                mockAllocations: mock?.counts?.allocations.map(perPush), tokensSigned: outcome.tokensSigned,
                clockReading: measuring.clockReading, histogramRecord: measuring.histogramRecord,
                measuring: scenario.measure ? measuring.perPush(isOpenLoop: isOpenLoop) : 0),
            series: outcome.series.map {
                .init(
                    t: $0.time, sent: $0.sent, accepted: $0.accepted, rejected: $0.rejected, failed: $0.failed,
                    inFlight: $0.inFlight, backlog: $0.backlog, p50: $0.p50, p99: $0.p99)
            },
            histograms: Self.histograms(outcome, oneWay), notes: notes)
        result.cooldown = .init(seconds: outcome.cooldown.seconds, pushes: outcome.cooldown.pushes)
        let retries = outcome.retries
        result.retries = .init(
            attempts: retries.attempts, recovered: retries.recovered, exhausted: retries.exhausted,
            overBudget: retries.overBudget)
        return RunProduct(
            result: result,
            log: HistogramLog.text(outcome.intervals, startTime: started.timeIntervalSince1970),
            percentiles: HistogramLog.percentiles(outcome.measurements[.total]))
    }

    private static func histograms(_ outcome: LoadOutcome, _ oneWay: OneWayTimes) -> [String: String] {
        var histograms: [String: String] = [:]
        for (name, histogram) in [
            ("to_mock", oneWay.toMock), ("in_mock", oneWay.inMock), ("from_mock", oneWay.fromMock),
        ] where histogram.count > 0 {
            histograms[name] = HistogramCodec.encodeForLog(histogram)
        }
        for stage in Stage.allCases where outcome.measurements[stage].count > 0 {
            histograms[stage.key] = HistogramCodec.encodeForLog(outcome.measurements[stage])
        }
        if outcome.loopLag.count > 0 { histograms["loop_lag"] = HistogramCodec.encodeForLog(outcome.loopLag) }
        for (dimension, labels) in outcome.breakdowns.outcomes {
            for (label, part) in labels where part.total.count > 0 {
                histograms[ResultDocument.histogramKey(dimension, label)] = HistogramCodec.encodeForLog(part.total)
            }
        }
        return histograms
    }

    /// Says so when latency from the intended time and service time from the actual send part.
    private static func latenessNote(_ outcome: LoadOutcome) -> String? {
        let (total, service) = (outcome.measurements[.total].summary, outcome.measurements[.service].summary)
        guard service.count > 0 else { return nil }
        for (name, due, sent) in [("p99", total.p99, service.p99), ("p90", total.p90, service.p90)]
        where due > 2 * sent + 1_000_000 {
            return
                "pushes were sent later than they were due: \(name) \(Units.duration(nanoseconds: Double(due))) from the due "
                + "time, \(Units.duration(nanoseconds: Double(sent))) from the actual send; the first is what counts"
        }
        return nil
    }

    /// Answered pushes a second. Open loop: between the first measured answer and the last, so that the time the last one
    /// takes does not count as time in which nothing was due. Closed loop: from the first measured push on.
    private static func rate(_ outcome: LoadOutcome, isMeasuring: Bool, isOpenLoop: Bool) -> Double {
        let counts = outcome.measurements.counts
        if isOpenLoop, isMeasuring, counts.measured > 1, outcome.answering > 0 {
            return Double(counts.measured - 1) / outcome.answering
        }
        let time = outcome.duration - outcome.warmup
        let answered = isMeasuring ? counts.measured : counts.accepted + counts.rejected
        return time > 0 ? Double(answered) / time : 0
    }

    private static func latency(_ outcome: LoadOutcome, _ stage: Stage) -> ResultDocument.Latency {
        latency(outcome.measurements[stage].summary)
    }

    static func latency(_ summary: LatencySummary) -> ResultDocument.Latency {
        .init(
            count: summary.count, min: summary.min, mean: summary.mean, p50: summary.p50, p90: summary.p90,
            p99: summary.p99, p999: summary.p999, max: summary.max)
    }

    private static func named(_ counts: [UInt64], _ name: (Int) -> String) -> [String: UInt64] {
        var result: [String: UInt64] = [:]
        for (index, count) in counts.enumerated() where count > 0 { result[name(index)] = count }
        return result
    }

    private static func settings(_ scenario: Scenario) -> [String: Setting] {
        var settings = ScenarioSettings.write(scenario)
        // As people write them.
        settings["stages"] = .list(scenario.stages.map { .text($0.text) })
        return settings
    }

    static func timestamp(_ date: Date) -> String { date.formatted(.iso8601) }
}

/// Hands stop requests on to a run that may not have begun yet.
private final class Stopper: Sendable {
    private struct State {
        var control: RunControl?
        var stops = 0
        var isTargetGone = false
    }

    private let state = Mutex(State())

    func attach(_ control: RunControl) {
        state.withLock {
            $0.control = control
            if $0.stops > 0 { control.ask(.abort) }
            if $0.isTargetGone { control.targetEnded() }
        }
    }

    func stop() {
        let (control, stops) = state.withLock { state in
            state.stops += 1
            return (state.control, state.stops)
        }
        guard let control else { return }
        if stops > 1 {
            control.ask(.abort)
            return
        }
        control.ask(.drain)
        Task {
            try? await Task.sleep(nanoseconds: 5_000_000_000)
            control.ask(.abort)
        }
    }

    func targetEnded() {
        state.withLock {
            $0.isTargetGone = true
            $0.control?.targetEnded()
        }
    }
}
