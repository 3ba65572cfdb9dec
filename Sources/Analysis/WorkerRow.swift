import Measurement
import Results
import Settings

/// What is kept of a shard until all are there: some kilobytes.
struct WorkerRow {
    let index: Int
    let attempt: Int
    let name: String
    let host: String
    let state: ResultDocument.Worker.State
    let begun: Double
    /// Its result is final.
    let hasEnded: Bool
    /// In which its rates were measured, seconds after the common start; nil where there are none.
    let window: ClosedRange<Double>?
    let p99: UInt64?
    /// Of its breakdown.
    let dimensions: Set<String>
    let lateSeconds: Double?
    let clockOffset: Int64?
    let clockBound: UInt64?
    /// Without what is large: histograms, series, breakdown, latencies, settings, environment.
    let result: ResultDocument

    init(_ shard: WorkerShard) {
        index = shard.index
        attempt = shard.attempt
        name = shard.name
        host = shard.host
        state = shard.ownState
        hasEnded = state != .lost && !shard.result.isPartial
        begun = shard.begun.isFinite ? max(0, shard.begun) : 0
        lateSeconds = shard.lateSeconds
        clockOffset = shard.clockOffset
        clockBound = shard.clockBound
        var result = shard.result
        let from = begun + max(0, result.warmup.seconds)
        let length = result.throughput.windowSeconds
        window = length > 0 && (from + length).isFinite ? from...(from + length) : nil
        let total = result.latency[.total]
        p99 = total.count > total.unanswered ? total.p99 : nil
        dimensions = Set(result.breakdown.keys)
        // How far the devices' times are known is asked of each part.
        let content = result.latency[.timeToContent]
        result.latency = Self.noLatencies
        if content.count > 0 { result.latency[.timeToContent] = content }
        result.histograms = [:]
        result.series = []
        result.breakdown = [:]
        result.scenario = [:]
        result.environment = .init()
        result.echo?.series = []
        self.result = result
    }

    var part: ResultMerge.Part { (name, result) }

    /// One memory for all.
    private static let noLatencies = ResultDocument.Latencies()

    /// What all did in their windows, over the time from the first one's begin to the last one's end.
    static func throughput(_ rows: [WorkerRow]) -> ResultDocument.Throughput {
        var whole = ResultDocument.Throughput()
        if rows.contains(where: { $0.result.throughput.offered != nil }) { whole.offered = 0 }
        let measured = rows.filter { $0.window != nil }
        guard let from = measured.compactMap(\.window?.lowerBound).min(),
            let to = measured.compactMap(\.window?.upperBound).max(), to > from
        else { return whole }
        whole.windowSeconds = to - from
        func perSecond(_ rate: (ResultDocument.Throughput) -> Double) -> Double {
            measured.reduce(0) { $0 + rate($1.result.throughput) * $1.result.throughput.windowSeconds } / (to - from)
        }
        if whole.offered != nil { whole.offered = perSecond { $0.offered ?? 0 } }
        whole.sent = perSecond(\.sent)
        whole.sentAgain =
            measured.contains { $0.result.throughput.sentAgain == nil } ? nil : perSecond { $0.sentAgain ?? 0 }
        whole.answered = perSecond(\.answered)
        whole.accepted = perSecond(\.accepted)
        return whole
    }

    /// The last attempt of each worker.
    ///
    /// - Parameter rows: sorted by index and attempt, here and below.
    static func last(_ rows: [WorkerRow]) -> [WorkerRow] {
        rows.indices.filter { $0 + 1 == rows.count || rows[$0 + 1].index != rows[$0].index }.map { rows[$0] }
    }

    /// A row for each worker, whose state is that of its last attempt.
    static func workers(_ rows: [WorkerRow]) -> [ResultDocument.Worker] {
        let attempts = Dictionary(grouping: rows, by: \.index)
        return last(rows).map { last in
            let own = attempts[last.index] ?? []
            let pushes = ResultMerge.pushes(own.map(\.result))
            return ResultDocument.Worker(
                index: last.index, host: last.host, state: last.state, attempts: last.attempt, pushes: pushes,
                answeredPerSecond: throughput(own).answered, p99: own.compactMap(\.p99).max(),
                lateSeconds: last.lateSeconds, clockOffset: last.clockOffset, clockBound: last.clockBound)
        }
    }

    /// Workers' notes, each once with those that have it.
    static func notes(_ rows: [WorkerRow], of workers: Int) -> [String] {
        var texts: [String] = []
        var owners: [String: [WorkerRow]] = [:]
        for row in rows {
            for text in row.result.notes {
                if owners[text] == nil { texts.append(text) }
                owners[text, default: []].append(row)
            }
        }
        return texts.map { text in
            let rows = owners[text] ?? []
            let indexes = Set(rows.map(\.index)).sorted()
            if indexes.count == 1 { return "\(rows[0].name): \(text)" }
            return "\(indexes.count == workers ? "all workers" : named(indexes)): \(text)"
        }
    }

    private static let mostNamed = 5

    /// `worker 3`; `workers 3, 5 and 7`; `workers 3, 4, 5, 6, 7 and 12 more`.
    static func named(_ indexes: [Int]) -> String {
        let indexes = Array(Set(indexes)).sorted()
        guard indexes.count > 1 else { return "worker \(indexes.first.map(String.init) ?? "-")" }
        let isAll = indexes.count <= mostNamed + 1
        let shown = indexes.prefix(isAll ? indexes.count - 1 : mostNamed).map(String.init).joined(separator: ", ")
        let rest = isAll ? "\(indexes[indexes.count - 1])" : "\(Units.grouped(UInt64(indexes.count - mostNamed))) more"
        return "workers \(shown) and \(rest)"
    }
}
