import Measurement

/// All workers of a run at about one moment.
struct RunSnapshot: Sendable {
    /// Of the worker that was seen last, ns.
    var time: UInt64 = 0
    var counts = PushCounts()
    var inFlight = 0
    var backlog: UInt64 = 0
    /// Of each worker.
    var windows: [RateWindow] = []
    /// Of the measured answers so far.
    var total = LatencySummary()

    init() {}

    mutating func add(_ worker: WorkerSnapshot) {
        time = max(time, worker.time)
        counts.add(worker.counts)
        inFlight += worker.inFlight
        backlog += worker.backlog
        windows.append(worker.window)
    }
}

extension RunSnapshot {
    /// The run at this moment in Prometheus' text format (version 0.0.4); names as in the result.
    func metricsText(planned: UInt64?) -> String {
        let summary = total
        var text = ""
        func metric(_ name: String, _ type: String, _ help: String, _ samples: [(String, String)]) {
            text += "# HELP pushload_\(name) \(help)\n# TYPE pushload_\(name) \(type)\n"
            for (labels, value) in samples { text += "pushload_\(name)\(labels) \(value)\n" }
        }
        func seconds(_ nanoseconds: UInt64) -> String { String(Double(nanoseconds) / 1e9) }
        if let planned { metric("planned", "gauge", "Pushes planned.", [("", String(planned))]) }
        metric(
            "pushes_total", "counter", "Pushes ended, by outcome.",
            [
                ("{outcome=\"accepted\"}", String(counts.accepted)),
                ("{outcome=\"rejected\"}", String(counts.rejected)),
                ("{outcome=\"failed\"}", String(counts.failed)),
                ("{outcome=\"not_sent\"}", String(counts.notSent)),
            ])
        metric(
            "sent_total", "counter", "Pushes handed to the kernel, attempts counted.", [("", String(counts.sent))])
        metric("retried_total", "counter", "Attempts after the first.", [("", String(counts.retried))])
        metric("in_flight", "gauge", "Open streams.", [("", String(inFlight))])
        metric("backlog", "gauge", "Open loop: pushes due and not on a stream.", [("", String(backlog))])
        metric(
            "total_seconds", "summary",
            "Intended send time to answer of measured pushes that were answered, since the start.",
            [
                ("{quantile=\"0.5\"}", seconds(summary.p50)), ("{quantile=\"0.9\"}", seconds(summary.p90)),
                ("{quantile=\"0.99\"}", seconds(summary.p99)), ("{quantile=\"0.999\"}", seconds(summary.p999)),
                ("_sum", String(summary.mean * Double(summary.count) / 1e9)), ("_count", String(summary.count)),
            ])
        return text
    }
}
