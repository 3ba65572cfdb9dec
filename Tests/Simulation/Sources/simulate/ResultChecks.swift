import Measurement
import Results
import Transport

/// A run's result against the model of it.
struct ResultChecks {
    private let model: RunModel
    private let result: ResultDocument
    private let now: UInt64
    private let world: World

    init(_ model: RunModel, _ result: ResultDocument, now: UInt64, world: World) {
        self.now = now
        self.model = model
        self.result = result
        self.world = world
    }

    func check() {
        checkCounts()
        checkCauses()
        checkRetries()
        checkHistograms()
        checkSeries()
        checkBreakdowns()
        checkTimes()
        checkRates()
        if model.schedule != nil {
            BacklogModel(model, hasDrained: result.connections.goAways > 0, world: world).check()
        }
        note()
        for count in [result.pushes.planned, result.pushes.accepted, result.pushes.failed, result.pushes.sent] {
            world.digest.add(count)
        }
        for name in result.histograms.keys.sorted() where name != "encode" && name != "sign" {
            world.digest.add(result.histograms[name]!)
        }
    }

    private func equal(_ name: String, _ value: UInt64, _ expected: UInt64) {
        world.check(value == expected, "\(name) \(value), expected \(expected)")
    }

    private func checkCounts() {
        let pushes = result.pushes
        equal("pushes.planned", pushes.planned, model.planned)
        equal(
            "accepted + rejected + failed + not sent",
            pushes.accepted + pushes.rejected + pushes.failed + pushes.notSent,
            pushes.planned)
        equal("pushes.accepted", pushes.accepted, count { $0.isAccepted })
        equal("pushes.rejected", pushes.rejected, count { if case .rejected = $0 { true } else { false } })
        equal("pushes.sent", pushes.sent, model.sent)
        equal("pushes.sent_again", pushes.sentAgain ?? 0, model.sentAgain)
        equal("pushes.retried", pushes.retried, model.requeued)
        equal("sum of statuses", result.statuses.values.reduce(0, +), pushes.accepted + pushes.rejected)
        equal("sum of reasons", result.reasons.values.reduce(0, +), pushes.rejected)
    }

    private func count(_ isCounted: (RunModel.End) -> Bool) -> UInt64 {
        UInt64(model.fates.values.count { isCounted($0.outcome) })
    }

    private func checkCauses() {
        var failed: [String: UInt64] = [:]
        for fate in model.fates.values {
            if case .failed(let cause) = fate.outcome { failed[cause.description, default: 0] += 1 }
        }
        for name in Set(failed.keys).union(result.failures.keys).sorted() {
            equal("failures.\(name)", result.failures[name] ?? 0, failed[name] ?? 0)
        }
        equal("pushes.failed", result.pushes.failed, failed.values.reduce(0, +))
        equal("sum of not_sent", result.notSent.values.reduce(0, +), result.pushes.notSent)
        let isWhole = model.closed.allSatisfy { $0 == nil }
        if isWhole { equal("not_sent.overflowed", result.notSent["overflowed"] ?? 0, result.pushes.notSent) }
        world.check(
            result.run.interrupted
                == (model.request != .none && model.ranOut == nil
                    && (model.stopCause == .interrupted || isCutShort))
                || model.request == .none,
            "run.interrupted \(result.run.interrupted)")
    }

    /// Somebody did not wait for the drain's end.
    private var isCutShort: Bool { model.wasAsked && (result.failures["run_ended"] ?? 0) > 0 }

    private func checkRetries() {
        equal("retries.attempts", result.retries.attempts, model.retries.attempts)
        equal("retries.recovered", result.retries.recovered, model.retries.recovered)
        equal("retries.exhausted", result.retries.exhausted, model.retries.exhausted)
        equal("retries.over_budget", result.retries.overBudget, model.retries.overBudget)
    }

    // MARK: Latencies

    private func checkHistograms() {
        var names = ["queue", "round_trip", "total"]
        if model.isOpenLoop {
            names += ["late", "write", "service", "loop_lag"]
        }
        names.append("total_rejected")
        if model.recorded["total_rejected"] != nil { names.append("total_accepted") }
        for name in names { checkHistogram(name, model.recorded[name] ?? []) }
        equal("latency_ns.encode.count", result.latency[.encode].count, model.encoded)
        equal(
            "latency_ns.total.count", result.latency[.total].count,
            UInt64(model.recorded["total"]?.count ?? 0) + result.latency[.total].unanswered)
        checkUnanswered()
    }

    /// Pushes without an answer: those that had been begun are known one by one; of those that had not, how many there are, and
    /// which values each may have.
    private func checkUnanswered() {
        var left = counters("total_unanswered")
        for value in model.recorded["total_unanswered"] ?? [] {
            let counter = Self.counter(of: value)
            guard let count = left[counter], count > 0 else {
                return world.fail("histogram total_unanswered: a push that was given up after \(value) ns is missing")
            }
            left[counter] = count == 1 ? nil : count - 1
        }
        let notBegun = NotBegunModel(model)
        let rest = left.values.reduce(0, +)
        world.check(
            notBegun.count.contains(rest),
            "histogram total_unanswered: \(rest) pushes that were never begun, expected \(notBegun.count)")
        for (value, count) in left.sorted(by: { $0.key < $1.key }) where value != 1 {
            let most = notBegun.waited[value] ?? 0
            world.check(
                count <= most, "histogram total_unanswered: \(count) pushes at \(value) ns, at most \(most) may be")
        }
    }

    private func counters(_ name: String) -> [UInt64: UInt64] {
        guard let text = result.histograms[name] else { return [:] }
        guard let histogram = try? HistogramCodec.decodeFromLog(text) else {
            world.fail("histogram \(name) cannot be read")
            return [:]
        }
        var counters: [UInt64: UInt64] = [:]
        for (value, count) in histogram.counters { counters[Self.counter(of: value)] = count }
        return counters
    }

    private func checkHistogram(_ name: String, _ values: [UInt64]) {
        var counts: [UInt64: UInt64] = [:]
        for value in values { counts[Self.counter(of: value), default: 0] += 1 }
        let found = counters(name)
        guard found != counts else { return }
        let differing = Set(found.keys).union(counts.keys).filter { found[$0] != counts[$0] }.sorted()
        world.fail(
            "histogram \(name): \(found.values.reduce(0, +)) records, expected \(values.count); first difference at \(differing[0]) ns: \(found[differing[0]] ?? 0), expected \(counts[differing[0]] ?? 0)"
        )
    }

    /// The lowest value that counts as the same at three significant digits: 2,048 counters of 1, then 1,024 for each doubling.
    static func counter(of value: UInt64) -> UInt64 {
        let inside = min(max(value, 1), 3_600_000_000_000)
        var unit: UInt64 = 1
        while inside / unit >= 2048 { unit *= 2 }
        return inside / unit * unit
    }

    // MARK: Series

    private func checkSeries() {
        let points = result.series
        equal("sum of series.sent", points.reduce(0) { $0 + $1.sent }, result.pushes.sent)
        equal("sum of series.accepted", points.reduce(0) { $0 + $1.accepted }, result.pushes.accepted)
        equal("sum of series.rejected", points.reduce(0) { $0 + $1.rejected }, result.pushes.rejected)
        equal(
            "sum of series.failed and not_sent", points.reduce(0) { $0 + $1.failed + $1.notSent },
            result.pushes.failed + result.pushes.notSent)
        let ends = SeriesModel(model).ends
        // Of longer runs neighbours are merged, which the tests of the series look at.
        guard ends.count <= 1024 else { return }
        guard ends.count == points.count else {
            return world.fail("\(points.count) points in the series, expected \(ends.count)")
        }
        var last = SeriesModel.Snapshot()
        for (point, end) in zip(points, ends) {
            equal("series.sent at \(point.time)", point.sent, end.sent - last.sent)
            equal("series.accepted at \(point.time)", point.accepted, end.accepted - last.accepted)
            equal("series.rejected at \(point.time)", point.rejected, end.rejected - last.rejected)
            equal("series.failed at \(point.time)", point.failed, end.failed - last.failed)
            equal("series.in_flight at \(point.time)", UInt64(point.inFlight), UInt64(end.inFlight))
            let within = Self.added(end.totals, to: last.totals)
            for (name, value, share) in [("p50", point.p50, 0.5), ("p99", point.p99, 0.99)] {
                let expected = SeriesModel.value(share, of: within)
                world.check(
                    value == 0 ? within.isEmpty : Self.counter(of: value) == Self.counter(of: expected),
                    "series.\(name) at \(point.time) is \(value), expected \(expected)")
            }
            last = end
        }
    }

    /// What `values` has more than `before`.
    private static func added(_ values: [UInt64], to before: [UInt64]) -> [UInt64] {
        var left: [UInt64: Int] = [:]
        for value in before { left[value, default: 0] += 1 }
        return values.filter { value in
            guard let count = left[value], count > 0 else { return true }
            left[value] = count - 1
            return false
        }
    }

    private func checkBreakdowns() {
        let totals = UInt64(model.recorded["total"]?.count ?? 0)
        for (dimension, parts) in result.breakdown {
            equal("\(dimension): accepted", parts.values.reduce(0) { $0 + $1.accepted }, result.pushes.accepted)
            equal("\(dimension): rejected", parts.values.reduce(0) { $0 + $1.rejected }, result.pushes.rejected)
            equal(
                "\(dimension): total_ns.count", parts.values.reduce(0) { $0 + $1.total.count - $1.total.unanswered },
                totals)
            if dimension != "status" {
                equal("\(dimension): failed", parts.values.reduce(0) { $0 + $1.failed }, result.pushes.failed)
            }
        }
    }

    private func checkTimes() {
        let answered = result.pushes.accepted + result.pushes.rejected
        equal("warmup.answered", result.warmup.answered, answered - UInt64(model.recorded["total"]?.count ?? 0))
        guard let last = model.fates.values.map(\.endedAt).max(), last > model.start else { return }
        let duration = result.run.durationSeconds
        world.check(
            duration * 1e9 >= Double(last - model.start) - 1000 && duration * 1e9 <= Double(now - model.start) + 1000,
            "run.duration_seconds \(duration)")
    }

    private func checkRates() {
        guard let rates = RateModel(model) else { return }
        let found = result.throughput
        for (name, value, expected) in [
            ("window_seconds", found.windowSeconds, rates.seconds), ("sent", found.sent, rates.sent),
            ("answered", found.answered, rates.answered), ("accepted", found.accepted, rates.accepted),
            ("offered", found.offered ?? 0, rates.offered ?? 0),
        ] {
            world.check(
                abs(value - expected) <= 1e-9 * max(1, abs(expected)),
                "throughput.\(name) \(value), expected \(expected)")
        }
    }

    private func note() {
        let pushes = result.pushes
        world.note(model.isOpenLoop ? .openLoop : .closedLoop)
        if model.scenario.threads > 1 { world.note(.severalWorkers) }
        if !model.scenario.stages.isEmpty { world.note(.stages) }
        if pushes.accepted > 0 { world.note(.accepted) }
        if pushes.rejected > 0 { world.note(.rejected) }
        if pushes.failed > 0 { world.note(.failed) }
        if (result.notSent["overflowed"] ?? 0) > 0 { world.note(.overflowed) }
        if model.retries.attempts > 0 { world.note(.retried) }
        if model.retries.exhausted > 0 { world.note(.exhausted) }
        if model.retries.overBudget > 0 { world.note(.overBudget) }
        if result.failures["connect_timeout"] != nil || result.notSent["connect_timeout"] != nil {
            world.note(.slowConnections)
        }
        if model.scenario.warmup > 0 { world.note(.warmupTime) }
        if model.scenario.warmupPushes > 0 { world.note(.warmupPushes) }
        if model.scenario.warmupAuto { world.note(.warmupAuto) }
    }
}
