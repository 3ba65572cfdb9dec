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
        let counts = outcome.measurements.counts
        let answered = counts.accepted + counts.rejected
        let oneWay = mock?.oneWay ?? OneWayTimes()
        let ledger = ledger
        func perPush(_ value: UInt64) -> Double { answered > 0 ? Double(value) / Double(answered) : 0 }
        var mockCPU: Double?
        if let before = mock?.costs.before, let after = mock?.costs.after { mockCPU = perPush(after.cpu - before.cpu) }
        // Takes a few milliseconds: not while the run goes on.
        let measuring = outcome.isPartial ? nil : self.measuring ?? Self.measuredCost()
        let isOpenLoop = inputs.schedule != nil
        let facts = MachineFacts()
        let scenario = inputs.scenario
        var result = ResultDocument(
            run: .init(
                id: inputs.run.description, name: scenario.name,
                startedAt: Self.timestamp(outcome.startedAt ?? started),
                durationSeconds: outcome.duration,
                complete: (outcome.untaken == 0 && !outcome.isAbandoned || outcome.hasEndedInTime)
                    && !outcome.isInterrupted && outcome.planned > 0,
                interrupted: outcome.isInterrupted, engine: scenario.engine, target: target, tls: outcome.tls),
            environment: .init(
                host: facts.host, cpu: facts.cpuModel, cores: facts.cores, memoryBytes: facts.memoryBytes,
                kernel: facts.kernel, system: facts.system, versions: Versions.all, commit: Versions.commit),
            scenario: Self.settings(scenario),
            pushes: .init(
                planned: outcome.planned, sent: counts.sent, sentAgain: counts.sentAgain, accepted: counts.accepted,
                rejected: counts.rejected, failed: counts.failed, notSent: counts.notSent, retried: counts.retried,
                lost: ledger?.lost,
                duplicated: ledger?.duplicated),
            throughput: .init(
                windowSeconds: outcome.rates?.span ?? 0, offered: isOpenLoop ? outcome.rates?.offered ?? 0 : nil,
                sent: outcome.rates?.sent ?? 0, sentAgain: outcome.rates?.sentAgain ?? 0,
                answered: outcome.rates?.answered ?? 0,
                accepted: outcome.rates?.accepted ?? 0),
            latency: latencies(oneWay),
            breakdown: breakdown,
            warmup: .init(
                seconds: outcome.warmup, answered: scenario.measure ? answered - counts.measured : 0,
                steady: outcome.foundSteadyState),
            generator: GeneratorVerdict(outcome, inputs: inputs).section,
            statuses: Self.named(outcome.measurements.statuses) { String($0) }, reasons: outcome.measurements.reasons,
            failures: Self.named(outcome.measurements.failures) { FailureCause.names[$0] },
            connections: .init(
                opened: outcome.connections.opened, lost: outcome.connections.lost,
                connectFailures: outcome.connections.connectFailures, goAways: outcome.connections.goAways,
                reconnects: outcome.connections.reconnects),
            cost: .init(
                clientCPU: perPush(outcome.cpu), mockCPU: mockCPU,
                clientMemory: ProcessCost.sample()?.peakMemory ?? 0,
                mockMemory: mock?.counts?.peakMemory ?? mock?.costs.after?.peakMemory,
                clientAllocations: outcome.allocations.map(perPush),
                mockAllocations: mock?.counts?.allocations.map(perPush), tokensSigned: outcome.tokensSigned,
                clockReading: measuring?.clockReading ?? 0, histogramRecord: measuring?.histogramRecord ?? 0,
                measuring: scenario.measure ? measuring?.perPush(isOpenLoop: isOpenLoop) ?? 0 : 0),
            series: outcome.series,
            histograms: histograms(oneWay),
            notes: RunNotes(inputs: inputs, outcome: outcome, mock: mock).all)
        result.notSent = Self.named(outcome.measurements.notSent) { FailureCause.names[$0] }
        result.sends = sends
        if let devices = mock?.devices {
            result.devices = devices.section
            result.echo = devices.echo?.section(backend: devices.backend, start: devices.start)
            result.echo?.backendCounts = devices.backendCounts
        }
        result.cooldown = .init(seconds: outcome.cooldown.seconds, pushes: outcome.cooldown.pushes)
        result.connections.ends = outcome.connections.ends.counts
        let late = outcome.lateConnections
        result.connections.afterWindow = .init(
            opened: late.opened, lost: late.lost, connectFailures: late.connectFailures, ends: late.ends.counts)
        result.connections.windowLimited = outcome.holdUps.windowLimited.map(Self.share)
        result.connections.writeBlocked = outcome.holdUps.writeBlocked.map(Self.share)
        let retries = outcome.retries
        result.retries = .init(
            attempts: retries.attempts, recovered: retries.recovered, exhausted: retries.exhausted,
            overBudget: retries.overBudget)
        return result
    }

    /// What the mock's ledger says against ours; nil where they cannot be compared.
    private var ledger: (lost: UInt64, duplicated: UInt64)? {
        guard outcome.planned <= inputs.ledgerCapacity, let comparison = mock?.comparison, let theirs = mock?.counts
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
                send.count - min(send.count, part.accepted + part.rejected + part.failed)
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
                pushes: isOnly ? outcome.planned : send.count, start: Double(send.start) / 1e9)
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
            note(ResultDocument.echoWaitKey, echo.histogram("wait"))
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
        // Who allowed it makes no other run of it.
        settings["allowed_targets"] = .array([])
        return settings
    }

    static func timestamp(_ date: Date) -> String { date.formatted(.iso8601) }
}
