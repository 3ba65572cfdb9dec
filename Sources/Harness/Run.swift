import Foundation
import Glibc
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
package struct RunProduct: Sendable {
    package let result: ResultDocument
    /// Total latencies as an HdrHistogram percentile text (`.hgrm`).
    package let percentiles: String
    /// Why it ended itself before its end; nil: it did not.
    package let abortedFor: String?
    /// Why what was said of devices is not in the journal of the registrations.
    package let lostFeedback: String?
    /// What was said of devices and is not in the journal of the registrations yet; nil: all is.
    package var feedback: LateFeedback?
}

/// What answers said of devices, to be written into the journal of their registrations when nobody reads these any more.
package struct LateFeedback: Sendable {
    fileprivate let feedback: Feedback
    fileprivate let sends: Sends
    fileprivate let topic: String

    /// - Returns: what a reader must know of it, a sentence each; and whether it could not be kept.
    package func write() -> (notes: [String], isLost: Bool) { feedback.write(sends, topic: topic) }
}

/// One run from scenario to result document: starts the bundled mock when there is no other target, and stops it.
package struct Run: Sendable {
    /// Where keys and trust come from.
    package struct Identity: Sendable {
        /// The folder both programs understand.
        package var credentials: String?
        /// A provider key given by itself, with the file it came from.
        package var provider: ProviderIdentity?
        package var providerFile: String?
        package var certificate: TLSIdentity?
        /// PEM of the CAs to trust.
        package var trusted: [UInt8]?
        package var trustedOrigin = ""

        package init() {}
    }

    private let inputs: RunInputs
    private let identity: Identity
    private let stopper: Stopper

    /// - Parameters:
    ///   - injectedCPU: CPU time that every push costs besides, ns: a slowdown of known size.
    ///   - place: which part of the run this process sends.
    /// - Throws: one line (or one a problem of the scenario) when the run cannot be made.
    package init(
        _ scenario: Scenario, identity: Identity, injectedCPU: UInt64 = 0, place: RunPlace = .alone
    ) throws(HarnessError) {
        var scenario = scenario
        // A recording has topics of its own.
        if scenario.replay == nil, scenario.target == nil, let folder = identity.credentials,
            FileManager.default.fileExists(atPath: folder + "/credentials.json")
        {
            // A folder in use fixes the topic, unless another was asked for.
            if scenario.topic.isEmpty {
                do { scenario.topic = try Credentials.load(directory: folder).topic } catch {
                    throw HarnessError(error.description)
                }
            }
        }
        if scenario.topic.isEmpty, scenario.replay == nil { scenario.topic = Credentials.defaultTopic }
        var inputs = try RunInputs(scenario, place: place)
        try inputs.checkMeaning()
        try inputs.checkPlace()
        inputs.injectedCPU = injectedCPU
        try Self.checkFiles(inputs)
        self.inputs = inputs
        self.identity = identity
        stopper = Stopper()
    }

    /// A descriptor a connection, 4 a thread, and 24 for results, pipes and what libraries keep; the bundled mock has the same
    /// limit and needs no more.
    private static func checkFiles(_ inputs: RunInputs) throws(HarnessError) {
        let scenario = inputs.scenario
        let needed = UInt64(inputs.connections) + 4 * UInt64(scenario.threads) + 24
        guard needed > FileLimit.current else { return }
        throw HarnessError(
            "connections \(inputs.connections): they need \(needed) file descriptors, and \(FileLimit.current) are "
                + "allowed: raise the limit (ulimit -n \(needed)), or give fewer")
    }

    /// Pushes that this process plans; nil where that is not known beforehand.
    package var planned: UInt64? { inputs.ownPlanned }
    package var threads: Int { inputs.scenario.threads }
    /// Its length is not known beforehand: it goes on until a figure is.
    package var endsByPrecision: Bool { inputs.scenario.until != nil }
    package var isStopped: Bool { stopper.isStopped }

    /// The settings of a run as its result will have them.
    package static func settings(of scenario: Scenario) -> [String: JSONValue] {
        RunDocument.settings(scenario.withDefaultTopic)
    }

    /// The settings as its result will have them.
    package var settings: [String: JSONValue] { RunDocument.settings(inputs.scenario) }

    /// What of the run must be the same in all its workers, besides their settings.
    package var content: RunContent { RunContent(inputs) }

    /// How long a run that is stopped waits for the answers of its open pushes, ns.
    static let stopDrain: UInt64 = 5_000_000_000

    /// Stops the run: the first time pushes in flight may still be answered, for 5 seconds; the second time at once.
    package func stop() { stopper.stop() }

    /// Runs it; throws only when nothing could be measured.
    ///
    /// - Parameters:
    ///   - output: where it leaves what it has while it goes on; nil: nowhere.
    ///   - keepsFeedback: false: devices that are gone stay in the registrations, so that the runs of a series have one audience.
    ///   - begin: called when everything is loaded; says when the run starts. nil: once it is connected.
    package func execute(
        isTerminal: Bool, judge: LiveJudge? = nil, output: RunOutput? = nil, keepsFeedback: Bool = true,
        begin: Begin? = nil, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> RunProduct {
        let started = Date()
        if let targets = inputs.scenario.target {
            let load = try makeLoad(
                targets.urls.map { try TargetURL($0) }, identity.credentials,
                times: output?.isShard == true && inputs.scenario.measure
                    ? PushTimes(interval: PushTimes.sharedInterval, planned: inputs.planned ?? 0) : nil, output: output)
            stopper.attach(load.control)
            if let begin { load.state.begin(try await begin()) }
            let record = output.map { RunRecord(inputs: inputs, started: started, target: targets.shown, output: $0) }
            var outcome = try await load.run(isTerminal: isTerminal, judge: judge, record: record, progress: progress)
            if keepsFeedback { keepFeedback(&outcome) }
            var product = RunDocument(inputs: inputs, outcome: outcome, started: started, target: targets.shown).product
            if !keepsFeedback, let sends = inputs.sends {
                product.feedback = LateFeedback(
                    feedback: outcome.feedback, sends: sends, topic: inputs.scenario.topic)
            }
            return product
        }
        let record = output.map {
            RunRecord(inputs: inputs, started: started, target: ResultDocument.Run.bundledMock, output: $0)
        }
        return try await executeWithMock(
            started, isTerminal: isTerminal, judge: judge, record: record, keepsFeedback: keepsFeedback,
            begin: begin, progress: progress)
    }

    /// When a run starts.
    package struct Start: Sendable {
        /// ns of the monotonic clock.
        package let at: UInt64
        /// How long before that the run of all workers began, ns.
        package let begun: UInt64

        package init(at: UInt64, begun: UInt64) {
            self.at = at
            self.begun = begun
        }
    }

    /// Says when a run starts.
    package typealias Begin = @Sendable () async throws -> Start

    /// Devices that are gone leave their registrations.
    private func keepFeedback(_ outcome: inout LoadOutcome) {
        guard let sends = inputs.sends else { return }
        let (notes, isLost) = outcome.feedback.write(sends, topic: inputs.scenario.topic)
        outcome.hasKeptFeedback = true
        outcome.notes += notes
        if isLost { outcome.lostFeedback = notes.first }
    }

    // MARK: The bundled mock

    private func executeWithMock(
        _ started: Date, isTerminal: Bool, judge: LiveJudge?, record: RunRecord?, keepsFeedback: Bool, begin: Begin?,
        progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> RunProduct {
        let scenario = inputs.scenario
        guard scenario.deviceModel != nil, scenario.deviceBackend == nil else {
            return try await executeWithMock(
                started,
                backend: scenario.deviceBackend.map {
                    Backend(url: $0, name: BackendClient.shown($0), counts: { nil })
                },
                isTerminal: isTerminal, judge: judge, record: record, keepsFeedback: keepsFeedback, begin: begin,
                progress: progress)
        }
        return try await BundledBackend(scenario).server.run(ended: {}) { handle in
            let before = await handle.ask()?.named ?? [:]
            let backend = Backend(
                url: handle.url, name: ResultDocument.Echo.bundledBackend,
                counts: {
                    // A store may have counts of runs before.
                    await handle.ask()?.named.reduce(into: [:]) {
                        $0[$1.key] = $1.value - min($1.value, before[$1.key] ?? 0)
                    }
                })
            return try await executeWithMock(
                started, backend: backend, isTerminal: isTerminal, judge: judge, record: record,
                keepsFeedback: keepsFeedback, begin: begin, progress: progress)
        }.0
    }

    /// Whom the mock's devices ask.
    private struct Backend: Sendable {
        let url: String
        let name: String
        /// What it counted by now; nil: it does not say.
        let counts: @Sendable () async -> [String: UInt64]?
    }

    private func executeWithMock(
        _ started: Date, backend: Backend?, isTerminal: Bool, judge: LiveJudge?, record: RunRecord?,
        keepsFeedback: Bool, begin: Begin?, progress: @escaping @Sendable (RunProgress) -> Void
    ) async throws -> RunProduct {
        let scratch = try ScratchFolder()
        defer { withExtendedLifetime(scratch) {} }
        let folder = scratch.path
        let credentials = identity.credentials ?? folder + "/credentials"
        let times =
            inputs.scenario.measure
            ? PushTimes(interval: PushTimes.interval(planned: inputs.most), planned: inputs.planned ?? 0) : nil
        let mock = BundledMock(
            scenario: inputs.scenario, folder: folder, ledgerCapacity: inputs.ledgerCapacity,
            timesInterval: times?.interval, credentials: credentials,
            clientCA: identity.certificate?.certificateOrigin, backend: backend?.url,
            provider: identity.provider, providerFile: identity.providerFile)
        let control = stopper
        let tell = record?.tell
        let ((load, outcome, costs, waited), counts) = try await mock.server.run(ended: { control.targetEnded() }) {
            handle in
            let load = try makeLoad(
                [TargetURL(handle.url)], credentials, times: times,
                notification: try backend.map { try notification(in: $0.url, credentials) } ?? 0, output: record?.output
            )
            control.attach(load.control)
            if let begin { load.state.begin(try await begin()) }
            let before = ProcessCost.sample(pid: handle.pid)
            var outcome = try await load.run(isTerminal: isTerminal, judge: judge, record: record, progress: progress)
            let after = ProcessCost.sample(pid: handle.pid)
            if keepsFeedback { keepFeedback(&outcome) }
            let waited = inputs.scenario.deviceModel == nil ? 0 : await waitForDevices(handle, tell)
            if inputs.scenario.deviceModel != nil, stopper.isStopped { outcome.run.interrupted = true }
            return (load, outcome, MockCosts(before: before, after: after), waited)
        }
        var account = MockAccount(costs: costs, counts: counts)
        if counts != nil {
            do {
                account.comparison = try LedgerFile.compare(
                    mock.ledgerPath, run: inputs.run.rawValue, accepted: load.state.accepted)
            } catch {
                account.problem = error.description
            }
            // Of pushes without a trace tag neither side has times.
            if let times, outcome.measurements.counts.accepted > 0, inputs.replay?.isUntraceable != true {
                do {
                    account.oneWay = try PushTimesFile.join(
                        mock.timesPath, run: inputs.run.rawValue, client: times)
                } catch {
                    account.problem = account.problem ?? error.description
                }
            }
        } else {
            account.problem =
                "the bundled mock did not say what it had counted (it was killed, or stood still): its ledger is lost"
        }
        if let intended = load.state.intended {
            var devices = DeviceAccount(
                counts, accepted: outcome.measurements.counts.accepted, backend: backend?.name ?? "", waited: waited)
            devices.start = load.state.start.load(ordering: .relaxed)
            devices.backendCounts = await backend?.counts()
            devices.isBackendSilent = devices.backendCounts == nil && inputs.scenario.deviceBackend == nil
            devices.isWaitOver = !stopper.isStopped
            devices.read(mock.devicesPath, inputs, due: intended)
            account.devices = devices
        }
        return RunDocument(
            inputs: inputs, outcome: outcome, started: started, target: ResultDocument.Run.bundledMock, mock: account
        ).product
    }

    /// Devices that still fetch, decrypt or are about to show something get the time for it.
    ///
    /// - Returns: how long that took, ns.
    private func waitForDevices(
        _ mock: BundledServer<BundledMock.Counts>.Handle, _ tell: (@Sendable (String) -> Void)?
    ) async -> UInt64 {
        let begun = MonotonicClock.now()
        var isTold = false
        while MonotonicClock.now() - begun < inputs.scenario.deviceWait, !stopper.isStopped {
            // One that is too busy to answer is asked again.
            guard let devices = await mock.ask()?.devices else {
                if mock.isOver { break }
                continue
            }
            if devices.settling == 0 { break }
            if !isTold, MonotonicClock.now() - begun > 1_000_000_000 {
                isTold = true
                tell?(
                    "all pushes have ended; waiting for devices, at most "
                        + "\(Units.duration(nanoseconds: Double(inputs.scenario.deviceWait))) (device_wait): "
                        + "\(Units.counted(devices.settling, "push")) still to be shown, fetched or decrypted")
            }
            try? await Task.sleep(nanoseconds: 200_000_000)
        }
        return MonotonicClock.now() - begun
    }

    /// Stores the notification that pushes name.
    ///
    /// - Returns: its id; 0: they name none.
    private func notification(in backend: String, _ credentials: String) throws(HarnessError) -> UInt64 {
        guard inputs.mix.entries.contains(where: { $0.profile.template.namesNotification }) else { return 0 }
        let ca = credentials + "/ca.pem"
        return try BackendClient.create(
            at: backend, message: "New picture",
            trusted: FileManager.default.fileExists(atPath: ca) ? ca : nil)
    }

    // MARK: The target

    private func makeLoad(
        _ urls: [TargetURL], _ credentials: String?, times: PushTimes?, notification: UInt64 = 0, output: RunOutput?
    ) throws -> LoadRun {
        var inputs = inputs
        inputs.notification = notification
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
        if urls.contains(where: \.isSecure) {
            var options = TLSOptions()
            options.minimumVersion = TLSVersion(rawValue: scenario.tlsMinimum) ?? .v12
            options.maximumVersion = TLSVersion(rawValue: scenario.tlsMaximum) ?? .v13
            options.ciphers = scenario.ciphers
            options.ciphersuites = scenario.ciphersuites
            options.kernelTLS = scenario.kernelTLS
            // With many connections OpenSSL's buffers are most of the memory, and each holds little at a time.
            if inputs.connections > 100 {
                options.releaseIdleBuffers = true
                options.readBuffer = 16_896
            }
            options.trustedCertificates = trusted
            options.trustedOrigin = trustedOrigin
            options.identity = identity.certificate
            do { tls = try TLSContext(.client, options) } catch { throw HarnessError(error.description) }
        }
        let allowed = AllowedTargets(scenario.allowedTargets, ProcessInfo.processInfo.environment)
        return try LoadRun(
            inputs: inputs, targets: try urls.map { try Target($0, rule: allowed.rule($0), tls: tls) },
            identity: scenario.authentication == "token" ? provider : nil,
            times: times, shard: output.flatMap { $0.isShard ? $0 : nil })
    }
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
            try? await Task.sleep(nanoseconds: Run.stopDrain)
            control.ask(.abort)
        }
    }

    var isStopped: Bool { state.withLock { $0.stops > 0 } }

    func targetEnded() {
        state.withLock {
            $0.isTargetGone = true
            $0.control?.targetEnded()
        }
    }
}
