import Results
import Settings

/// The figures most readers come for.
enum HeadlineSection {
    static func make(_ run: ReportedRun) -> ReportSection {
        ReportSection(title: "Figures", blocks: [.figures(figures(run.result))])
    }

    /// One column a result.
    static func compare(_ runs: [ReportedRun]) -> ReportSection {
        var table = ReportTable(["figure"] + runs.map(\.label))
        let columns = runs.map { figures($0.result) }
        for (index, figure) in columns[0].enumerated() {
            table.add([figure.name] + columns.map { $0[index].value })
        }
        for (name, value) in facts { table.add([name] + runs.map { value($0.result) }) }
        return ReportSection(title: "Figures side by side", blocks: [.table(table)])
    }

    private static let facts: [(String, @Sendable (ResultDocument) -> String)] = [
        ("engine", { $0.run.engine }), ("target", { $0.run.target }), ("TLS", { $0.security }),
        ("started", { $0.run.startedAt }), ("CPU", { "\($0.environment.cpu), \($0.environment.cores) cores" }),
    ]

    /// The same names in the same order for every result.
    static func figures(_ result: ResultDocument) -> [(name: String, value: String, remark: String)] {
        let (pushes, total, cost) = (result.pushes, result.latency[.total], result.cost)
        let isPartial = result.isPartial
        let times = Written.latencies(total, [.p50, .p99, .p999, .max])
        let latency =
            total.unanswered > 0
            ? "due to answered, \(Written.count(total.unanswered)) without answer" : "due to answered"
        let (rates, window) = (result.throughput, Units.fixed(result.throughput.windowSeconds, places: 2))
        func rate(_ value: Double) -> String { rates.hasRates ? Written.rate(value) : "-" }
        func share(_ part: UInt64) -> String { part > 0 ? Written.share(part, of: pushes.planned) : "" }
        // By no answered push there is none.
        func perPush(_ value: Double?, _ text: (Double) -> String) -> String? {
            result.hasAnswers ? value.map(text) : nil
        }
        func cpu(_ value: Double?) -> String {
            perPush(value) { "\(Units.duration(nanoseconds: $0)) a push" } ?? "-"
        }
        let allocations = perPush(cost.clientAllocations) { "\(Units.fixed($0, places: 2)) allocations a push" } ?? ""
        let clientCPU = isPartial ? "-" : cpu(cost.clientCPU)
        let clientMemory = isPartial ? "-" : Units.bytes(cost.clientMemory)
        let measured = isPartial ? "known at the end" : "user and system"
        let mockMeasured = cost.mockCPU == nil && !isPartial ? "not the bundled mock" : measured
        return [
            ("planned", Units.counted(pushes.planned, "push"), ""),
            ("accepted", Units.counted(pushes.accepted, "push"), share(pushes.accepted)),
            ("rejected", Units.counted(pushes.rejected, "push"), share(pushes.rejected)),
            ("failed", Units.counted(pushes.failed, "push"), share(pushes.failed)),
            ("not sent", Units.counted(pushes.notSent, "push"), share(pushes.notSent)),
            (
                "rate offered", rates.offered.map(rate) ?? "none",
                rates.offered == nil ? "closed loop" : "due, open loop"
            ),
            ("rate sent", rate(rates.sent), "attempts counted"),
            (
                "rate answered", rate(rates.answered),
                !rates.hasRates
                    ? "less than 1 ms was measured"
                    : result.isMerged ? "the sum of the parts' rates" : "over \(window) s, warm-up left out"
            ),
            ("rate accepted", rate(rates.accepted), "goodput"),
            (
                "ledger",
                pushes.lost.flatMap { lost in
                    pushes.duplicated.map { "\(Written.count(lost)) lost, \(Written.count($0)) doubled" }
                } ?? (result.isUntraced ? "not known" : "none"), "compared push by push"
            ),
            ("duration", "\(Units.fixed(result.run.durationSeconds, places: 2)) s", "first due to last end"),
            ("latency p50", times[0], latency), ("latency p99", times[1], latency),
            ("latency p99.9", times[2], latency), ("latency max", times[3], latency),
            ("client CPU", clientCPU, measured),
            ("mock CPU", cpu(cost.mockCPU), mockMeasured),
            ("client memory", clientMemory, allocations.isEmpty ? "peak" : "peak; " + allocations),
            ("mock memory", cost.mockMemory.map(Units.bytes) ?? "-", "peak"),
        ]
    }
}
