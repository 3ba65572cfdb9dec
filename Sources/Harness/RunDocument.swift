import Foundation
import Measurement
import Networking
import Results
import Scenarios
import Settings
import Transport

/// What the bundled mock had used before and after the load.
struct MockCosts: Sendable {
    let before: ProcessCost?
    let after: ProcessCost?
}

/// What the bundled mock said at its end.
struct MockAccount {
    let costs: MockCosts
    let counts: BundledMock.Counts?
    var comparison: LedgerFile.Comparison?
    var oneWay: OneWayTimes?
    var problem: String?
    /// With a device model.
    var devices: DeviceAccount?
}

/// The result of a run, made of what was asked for and what came of it.
struct RunDocument {
    let inputs: RunInputs
    let outcome: LoadOutcome
    var started = Date(timeIntervalSince1970: 0)
    /// URL, or "bundled mock".
    let target: String
    var mock: MockAccount?
    /// What measuring costs, where that is known already.
    var measuring: MeasurementCost?

    /// All files of a result.
    var product: RunProduct {
        RunProduct(
            result: result, percentiles: HistogramLog.percentiles(outcome.measurements.totals.answered),
            abortedFor: outcome.abortedFor, lostFeedback: outcome.lostFeedback)
    }

    var result: ResultDocument {
        let measured = outcome.measurements
        let oneWay = mock?.oneWay ?? OneWayTimes()
        var result = ResultDocument()
        result.run = run
        result.environment = Self.environment
        result.scenario = Self.settings(inputs.scenario)
        result.pushes = pushes
        result.throughput = outcome.throughput
        result.latency = latencies(oneWay)
        result.breakdown = breakdown
        result.sends = sends
        if let devices = mock?.devices {
            result.devices = devices.section
            result.echo = devices.echo?.section(backend: devices.backend, start: devices.start)
            result.echo?.backendCounts = devices.backendCounts
        }
        result.warmup = outcome.warmup
        if inputs.scenario.measure { result.warmup.answered = answered - measured.counts.measured }
        result.cooldown = outcome.cooldown
        result.retries = outcome.retries
        let generator = GeneratorVerdict(outcome, inputs: inputs)
        result.generator = generator.section
        if !outcome.isPartial, inputs.place.isAlone, inputs.place.resumed == nil {
            result.trust =
                TrustVerdict(
                    outcome, inputs: inputs, generator: result.generator, lateness: generator.lateness,
                    start: outcome.start
                ).section
        }
        result.statuses = Self.named(measured.statuses) { String($0) }
        result.setRejections(measured.rejections)
        if outcome.isPartial { result.rejections = nil }
        result.failures = Self.named(measured.failures) { FailureCause.names[$0] }
        result.notSent = Self.named(measured.notSent) { FailureCause.names[$0] }
        result.connections = outcome.connections.section(late: outcome.lateConnections)
        // What never began had nothing due.
        result.connections.noConnection = outcome.start > 0 ? outcome.noConnection.section : nil
        if !outcome.targets.isEmpty {
            result.targets = zip(inputs.scenario.target?.urls ?? [], outcome.targets).map { $1.section($0) }
        }
        result.connections.windowLimited = outcome.holdUps.windowLimited.map(Self.share)
        result.connections.writeBlocked = outcome.holdUps.writeBlocked.map(Self.share)
        result.cost = cost
        result.series = outcome.series
        result.histograms = histograms(oneWay)
        var notes = RunNotes(inputs: inputs, outcome: outcome, mock: mock)
        notes.isLatenessSaid = generator.lateness != nil
        result.notes = notes.all
        return result
    }

    private var answered: UInt64 { outcome.measurements.counts.accepted + outcome.measurements.counts.rejected }

    private var run: ResultDocument.Run {
        var run = outcome.run
        run.id = inputs.run.description
        run.name = inputs.scenario.name
        if run.startedAt.isEmpty { run.startedAt = ResultDocument.Run.timestamp(started) }
        run.complete =
            (outcome.untaken == 0 && !outcome.isAbandoned || outcome.hasEndedInTime) && !run.interrupted
            && (outcome.planned > 0 || inputs.place.resumed != nil)
        run.engine = inputs.scenario.engine
        run.target = target
        return run
    }

    private static var environment: ResultDocument.Environment {
        let facts = MachineFacts()
        var environment = ResultDocument.Environment()
        environment.host = facts.host
        environment.cpu = facts.cpuModel
        environment.cores = facts.cores
        environment.memoryBytes = facts.memoryBytes
        environment.kernel = facts.kernel
        environment.system = facts.system
        environment.versions = Versions.all
        environment.commit = Versions.commit
        return environment
    }

    private var pushes: ResultDocument.Pushes {
        let counts = outcome.measurements.counts
        var pushes = ResultDocument.Pushes()
        pushes.planned = outcome.planned
        pushes.sent = counts.sent
        pushes.sentAgain = counts.sentAgain
        pushes.accepted = counts.accepted
        pushes.rejected = counts.rejected
        pushes.failed = counts.failed
        pushes.notSent = counts.notSent
        pushes.retried = counts.retried
        pushes.lost = ledger?.lost
        pushes.duplicated = ledger?.duplicated
        return pushes
    }

    private var cost: ResultDocument.Cost {
        func perPush(_ value: UInt64) -> Double { answered > 0 ? Double(value) / Double(answered) : 0 }
        var cost = ResultDocument.Cost()
        cost.clientCPU = perPush(outcome.cpu)
        if let before = mock?.costs.before, let after = mock?.costs.after {
            cost.mockCPU = perPush(after.cpu - before.cpu)
        }
        cost.clientMemory = ProcessCost.sample()?.peakMemory ?? 0
        cost.mockMemory = mock?.counts?.peakMemory ?? mock?.costs.after?.peakMemory
        cost.clientAllocations = outcome.allocations.map(perPush)
        cost.mockAllocations = mock?.counts?.allocations.map(perPush)
        cost.tokensSigned = outcome.tokensSigned
        // Only the end tells what all connections took; and measuring takes a few milliseconds: not while the run goes on.
        if !outcome.isPartial {
            cost.clientHandshakes = outcome.workerTime.handshake
            cost.mockHandshakes = mock?.counts?.handshakeTime
            let measuring = measuring ?? Self.measuredCost()
            cost.clockReading = measuring.clockReading
            cost.histogramRecord = measuring.histogramRecord
            if inputs.scenario.measure { cost.measuring = measuring.perPush(isOpenLoop: inputs.schedule != nil) }
        }
        return cost
    }

    /// What the mock's ledger says against ours; nil where they cannot be compared.
    private var ledger: (lost: UInt64, duplicated: UInt64)? {
        guard outcome.planned <= inputs.ledgerCapacity, inputs.replay?.isUntraceable != true,
            let comparison = mock?.comparison, let theirs = mock?.counts
        else {
            return nil
        }
        return (comparison.lost, theirs.ledgers.first { $0.run == inputs.run.description }?.duplicated ?? 0)
    }

    /// To a hundredth of a percent.
    static func share(_ value: Double) -> Double { (value * 10_000).rounded() / 10_000 }

    static func measuredCost() -> MeasurementCost {
        MeasurementCost.calibrate(clock: { MonotonicClock.now() }, reading: { CycleClock.shared.now() })
    }

    private var breakdown: [String: [String: ResultDocument.Part]] {
        var breakdown = outcome.breakdowns.outcomes.mapValues { labels in
            labels.mapValues {
                ResultDocument.Part(
                    accepted: $0.accepted, rejected: $0.rejected, failed: $0.failed, notSent: $0.notSent,
                    total: .init(CensoredHistogram(answered: $0.total, unanswered: $0.unanswered ?? .empty)))
            }
        }
        // Whose a push is that was never taken from the plan is known of sends.
        for send in inputs.sends?.all ?? [] {
            guard let part = breakdown["send"]?[send.name] else { continue }
            breakdown["send"]?[send.name]?.notSent =
                inputs.ownPushes(of: send)
                - min(inputs.ownPushes(of: send), part.accepted + part.rejected + part.failed)
        }
        return breakdown
    }

    /// nil where there are no registrations, and while the run goes on.
    private var sends: [ResultDocument.Send]? {
        guard let plan = inputs.sends, outcome.fanOut.count == plan.all.count else { return nil }
        let parts = outcome.breakdowns.outcomes["send"] ?? [:]
        let counts = outcome.measurements.counts
        return plan.all.enumerated().map { place, send in
            let isOnly = plan.all.count == 1
            var row = ResultDocument.Send(
                name: send.name, audience: send.audience, devices: send.tokens, fingerprint: send.fingerprint,
                pushes: isOnly ? outcome.planned : inputs.ownPushes(of: send), start: Double(send.start) / 1e9)
            let part = parts[send.name]
            row.accepted = isOnly ? counts.accepted : part?.accepted ?? 0
            row.rejected = isOnly ? counts.rejected : part?.rejected ?? 0
            row.failed = isOnly ? counts.failed : part?.failed ?? 0
            // What was never taken from the plan is in no part.
            row.notSent = row.pushes - min(row.pushes, row.accepted + row.rejected + row.failed)
            row.fanOut = .init(outcome.fanOut[place], of: row.pushes)
            return row
        }
    }

    private func histograms(_ oneWay: OneWayTimes) -> [String: String] {
        var histograms: [String: String] = [:]
        let totals = outcome.measurements.totals
        func note(_ key: String, _ histogram: LatencyHistogram?) {
            guard let histogram, histogram.count > 0 else { return }
            histograms[key] = HistogramCodec.encodeForLog(histogram)
        }
        let isApart = (totals.rejected?.count ?? 0) > 0
        for stage in Stage.allCases where isApart || stage != .totalAccepted {
            note(stage.key, answered(stage, oneWay).answered)
            if Stage.ofDevices.contains(stage), let key = ResultDocument.unansweredKey(stage.key) {
                note(key, answered(stage, oneWay).unanswered)
            }
        }
        note("total_unanswered", totals.unanswered)
        note("loop_lag", outcome.loopLag)
        if let echo = mock?.devices?.echo {
            note(ResultDocument.echoKey, echo.latency.answered)
            note(ResultDocument.unansweredKey(ResultDocument.echoKey)!, echo.latency.unanswered)
            note(ResultDocument.echoWaitKey, echo.wait.answered)
            note(ResultDocument.unansweredKey(ResultDocument.echoWaitKey)!, echo.wait.unanswered)
        }
        for (send, times) in zip(inputs.sends?.all ?? [], outcome.fanOut) {
            note(ResultDocument.fanOutKey(send.name), times)
        }
        for (dimension, labels) in outcome.breakdowns.outcomes {
            for (label, part) in labels {
                let key = ResultDocument.histogramKey(dimension, label)
                note(key, part.total)
                if let key = ResultDocument.unansweredKey(key) { note(key, part.unanswered) }
            }
        }
        return histograms
    }

    /// With what is only known from below, where that counts.
    private func answered(_ stage: Stage, _ oneWay: OneWayTimes) -> CensoredHistogram {
        let totals = outcome.measurements.totals
        func known(_ histogram: LatencyHistogram) -> CensoredHistogram {
            CensoredHistogram(answered: histogram, unanswered: LatencyHistogram())
        }
        return switch stage {
        case .total: totals.all
        case .totalAccepted: known(totals.accepted)
        case .totalRejected: known(totals.rejected ?? .empty)
        case .toMock: known(oneWay.toMock)
        case .inMock: known(oneWay.inMock)
        case .fromMock: known(oneWay.fromMock)
        case .timeToScreen: mock?.devices?.outcomes.screen ?? known(.empty)
        case .timeToContent: mock?.devices?.outcomes.content ?? known(.empty)
        default: known(outcome.measurements[stage])
        }
    }

    private func latencies(_ oneWay: OneWayTimes) -> ResultDocument.Latencies {
        .init { .init(answered($0, oneWay)) }
    }

    private static func named(_ counts: [UInt64], _ name: (Int) -> String) -> [String: UInt64] {
        var result: [String: UInt64] = [:]
        for (index, count) in counts.enumerated() where count > 0 { result[name(index)] = count }
        return result
    }

    static func settings(_ scenario: Scenario) -> [String: JSONValue] {
        var settings = ScenarioSettings.write(scenario)
        // As people write them.
        settings["stages"] = .array(
            scenario.stages.map { stage in
                let text = stage.text
                return .string(text.hasPrefix(stage.name + " ") ? text : "\(stage.name): \(text)")
            })
        // The size of a population that was not pushed to.
        if scenario.registrations != nil { settings["devices"] = nil }
        // Passwords are nobody's business.
        if let backend = scenario.deviceBackend {
            settings["device_backend"] = .string(BackendClient.shown(backend))
        }
        // Who allowed it makes no other run of it.
        settings["allowed_targets"] = .array([])
        return settings
    }
}
