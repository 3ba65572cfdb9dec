import Measurement
import Results
import Settings

/// The shards of one run of several workers as one result, one shard at a time and in any order: in memory are the sums and a small row
/// of each shard.
///
/// All have the scenario of the whole run, so that nothing asked for is added up, and one clock from the common start: the window of
/// the whole reaches from the first begin of a shard's window to the last end of one, and its rates are what all did in their windows
/// over its length, as of one process with all their threads (`Throughput` in Harness).
package struct WorkerMerge {
    private let id: String
    private let workers: Int
    private let scenario: [String: JSONValue]
    private let startedAt: String
    private struct Attempt: Hashable {
        let index: Int
        let number: Int
    }

    private var rows: [WorkerRow] = []
    /// Those of `rows`.
    private var added: Set<Attempt> = []
    private var histograms = HistogramSum()
    private var breakdowns = BreakdownSum()
    private var series = SeriesSum()
    private var environment = EnvironmentSum()

    /// - Parameters:
    ///   - id: of the run, 16 hexadecimal digits.
    ///   - workers: how many there are in all.
    ///   - scenario: the whole run's settings, as in a result.
    ///   - startedAt: the common start, ISO 8601, UTC.
    package init(id: String, workers: Int, scenario: [String: JSONValue], startedAt: String) {
        self.id = id
        self.workers = workers
        self.scenario = scenario
        self.startedAt = startedAt
    }

    /// Adds a shard, or nothing of it.
    ///
    /// - Throws: where it is of another run, of no worker of this one, was added before, or has a damaged histogram.
    package mutating func add(_ shard: WorkerShard) throws(ResultMerge.Failure) { try add([shard]) }

    /// Adds all of several, or nothing.
    package mutating func add(_ shards: [WorkerShard]) throws(ResultMerge.Failure) {
        var checked: [(shard: WorkerShard, counters: HistogramSum.Counters)] = []
        for shard in shards {
            try check(shard, beside: checked.map(\.shard))
            checked.append((shard, try HistogramSum.counters(shard.result, name: shard.name)))
        }
        for (shard, counters) in checked {
            breakdowns.add(shard.result.breakdown, counters, to: &histograms)
            series.add(shard.result.series, begun: shard.begun)
            environment.add(shard.result.environment)
            added.insert(Attempt(index: shard.index, number: shard.attempt))
            rows.append(WorkerRow(shard))
        }
    }

    private func check(_ shard: WorkerShard, beside others: [WorkerShard]) throws(ResultMerge.Failure) {
        let (name, own) = (shard.name, shard.result.run.id)
        guard (0..<workers).contains(shard.index) else {
            throw .init(description: "\(name): the run has \(workers) workers, 0 to \(workers - 1)")
        }
        guard own.isEmpty || own == id else {
            throw .init(description: "\(name): a result of run \(own); expected \(id)")
        }
        let attempt = Attempt(index: shard.index, number: shard.attempt)
        let isThere =
            added.contains(attempt) || others.contains { $0.index == shard.index && $0.attempt == shard.attempt }
        guard !isThere else { throw .init(description: "\(name): attempt \(shard.attempt) was added before") }
    }

    /// `worker 3`; `workers 3, 5 and 7`; `workers 3, 4, 5, 6, 7 and 12 more`.
    package static func named(_ workers: [Int]) -> String { WorkerRow.named(workers) }

    /// What all shards are so far.
    ///
    /// - Parameter notes: the first of the whole's notes: that it is partial, where it is (`ResultDocument.partialMark`).
    package func document(notes: [String]) throws(ResultMerge.Failure) -> ResultDocument {
        let rows = rows.sorted { ($0.index, $0.attempt) < ($1.index, $1.attempt) }
        let parts = rows.map(\.part)
        var histograms = histograms
        var whole = ResultDocument()
        ResultMerge.addFigures(of: parts, ended: rows.filter(\.hasEnded).map(\.part), to: &whole)
        whole.run = run(rows)
        whole.environment = environment.whole
        whole.scenario = scenario
        whole.throughput = WorkerRow.throughput(rows)
        whole.warmup.seconds = rows.compactMap(\.window?.lowerBound).min() ?? 0
        whole.breakdown = breakdowns.parts(&histograms)
        whole.histograms = histograms.texts
        whole.latency = try ResultMerge.latencies(whole)
        whole.generator.loopLag = try ResultMerge.latency("loop_lag", whole)
        whole.generator.reasons = Self.first(whole.generator.reasons)
        let (targets, targetNote) = WorkerTargets.merge(rows)
        whole.targets = targets
        var sendNotes: [String] = []
        if parts.contains(where: { $0.result.sends != nil }) {
            let sends = try SendMerge(parts, apart: 0) { name throws(ResultMerge.Failure) in
                histograms.censored(ResultDocument.fanOutKey(name)).answered
            }
            (whole.sends, sendNotes) = (sends.sends, sends.notes)
            let without = rows.filter { $0.result.sends == nil && $0.result.pushes.planned > 0 }
            if !without.isEmpty {
                sendNotes.append("figures of sends are without what \(WorkerRow.named(without.map(\.index))) lost")
            }
        }
        whole.devices = try ResultMerge.devices(parts.map(\.result), whole)
        whole.echo = try ResultMerge.echo(parts.map(\.result), whole)
        whole.series = series.points
        whole.workers = WorkerRow.workers(rows)
        whole.notes = notes
        if !whole.isPartial { whole.notes += missing(rows) }
        whole.notes +=
            lacking(rows, whole) + (targetNote.map { [$0] } ?? []) + sendNotes + WorkerRow.notes(rows, of: workers)
        return whole
    }

    private func run(_ rows: [WorkerRow]) -> ResultDocument.Run {
        let ended = rows.filter(\.hasEnded)
        var run = rows.first { !$0.result.run.engine.isEmpty }?.result.run ?? .init()
        run.id = id
        run.startedAt = startedAt
        run.durationSeconds = rows.map { $0.begun + $0.result.run.durationSeconds }.max() ?? 0
        run.complete =
            Set(ended.map(\.index)).count == workers && WorkerRow.last(rows).allSatisfy(\.result.run.complete)
        run.interrupted = rows.contains { $0.state != .lost && $0.result.run.interrupted }
        run.tls = rows.lazy.compactMap(\.result.run.tls).first
        return run
    }

    /// Reasons beyond these say nothing new.
    private static let mostReasons = 20

    private static func first(_ reasons: [String]) -> [String] {
        guard reasons.count > mostReasons else { return reasons }
        return reasons.prefix(mostReasons) + ["and \(Units.counted(reasons.count - mostReasons, "reason")) more"]
    }

    private func missing(_ rows: [WorkerRow]) -> [String] {
        let there = Set(rows.map(\.index))
        let missing = (0..<workers).filter { !there.contains($0) }
        guard !missing.isEmpty else { return [] }
        return ["without \(WorkerRow.named(missing)): there is no result of theirs"]
    }

    /// Which workers have no part in a breakdown.
    private func lacking(_ rows: [WorkerRow], _ whole: ResultDocument) -> [String] {
        whole.breakdown.keys.sorted().compactMap { dimension in
            let lacking = rows.filter { !$0.dimensions.contains(dimension) && $0.result.pushes.planned > 0 }
            guard !lacking.isEmpty else { return nil }
            return "figures by \(dimension) are without \(WorkerRow.named(lacking.map(\.index)))"
        }
    }
}
