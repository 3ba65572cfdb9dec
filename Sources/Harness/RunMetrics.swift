import Measurement
import PlainHTTP
import Transport

/// A run at one moment, as `GET /metrics` shows it; names and meanings as in its result.
enum RunMetrics {
    /// - Parameter target: as results name it.
    static func text(_ now: RunSnapshot, inputs: RunInputs, target: String) -> String {
        var page = MetricsText(prefix: "pushload_")
        page.add(
            .gauge, "info", "What runs: always 1.",
            [
                (
                    [
                        ("run", inputs.run.description), ("name", inputs.scenario.name),
                        ("engine", inputs.scenario.engine), ("target", target),
                    ], 1
                )
            ])
        page.add(.gauge, "elapsed_seconds", "Since the schedule began.", Double(now.elapsed) / 1e9)
        addPushes(now, inputs, to: &page)
        page.add(
            .counter, "failures_total", "Pushes begun and not answered, by cause.",
            by: "cause", named(now.failures))
        page.add(.counter, "not_sent_total", "Pushes never begun, by cause.", by: "cause", named(now.notSent))
        page.add(.gauge, "in_flight", "Open streams.", Double(now.inFlight))
        page.add(
            .gauge, "backlog", "Open loop: pushes due and not on a stream; 0 in a closed loop.", Double(now.backlog))
        page.add(
            "latency_seconds",
            "Intended send time to answer, of answered pushes after the warm-up; those without an answer are in failures_total.",
            [("accepted", now.totals.accepted), ("rejected", now.totals.rejected ?? .empty)].map {
                ([("outcome", $0.0)], histogram($0.1))
            })
        if let cost = ProcessCost.sample() {
            page.add(.counter, "cpu_seconds_total", "CPU time of all threads.", Double(cost.cpu) / 1e9)
            page.add(.gauge, "peak_memory_bytes", "Most memory resident at once.", Double(cost.peakMemory))
        }
        return page.text
    }

    private static func addPushes(_ now: RunSnapshot, _ inputs: RunInputs, to page: inout MetricsText) {
        if let planned = inputs.ownPlanned {
            page.add(.gauge, "planned_pushes", "Pushes the run set out to send.", Double(planned))
        }
        if let schedule = inputs.schedule {
            page.add(
                .gauge, "target_pushes_per_second",
                "Open loop: what the schedule asks for at the moment; 0 for a burst, for recorded due times, and while no send has pushes left.",
                schedule.rate(at: Double(now.elapsed + inputs.passed) / 1e9) / Double(inputs.place.workers))
            page.add(
                .counter, "due_total", "Open loop: pushes that came due, bursts and recorded ones too.",
                Double(now.counts.taken + now.backlog))
        }
        let counts = now.counts
        page.add(
            .counter, "pushes_total", "Pushes ended, by outcome.",
            [
                ("accepted", counts.accepted), ("rejected", counts.rejected), ("failed", counts.failed),
                ("not_sent", counts.notSent),
            ].map { ([("outcome", $0.0)], Double($0.1)) })
        page.add(.counter, "sent_total", "Pushes handed to the kernel, attempts counted.", Double(counts.sent))
        page.add(
            .counter, "retried_total", "Attempts put back to be sent again, unprocessed; not those of --retry.",
            Double(counts.retried))
    }

    /// Every cause from the beginning on, so that the first of a kind is a growth and not a new series; stream resets, of which
    /// there are many kinds, only when they happened.
    private static func named(_ counts: [UInt64]) -> [String: UInt64] {
        var named: [String: UInt64] = [:]
        for (index, name) in FailureCause.names.enumerated() {
            let count = index < counts.count ? counts[index] : 0
            if count > 0 || !name.hasPrefix("stream_reset_") { named[name] = count }
        }
        return named
    }

    private static func histogram(_ latencies: LatencyHistogram) -> MetricsText.Histogram {
        let summary = latencies.summary
        return .init(
            below: latencies.counts(upTo: MetricsText.latencyBounds), count: summary.count,
            sum: summary.mean * Double(summary.count) / 1e9)
    }
}
