import Measurement
import Results
import Settings

/// Results of several generators that ran side by side, as one: counts and histograms are added, percentiles taken from the
/// added histograms, never averaged. Rates are added too, which is true only of runs that went on together: `RunOverlap`.
package enum ResultMerge {
    /// Why results cannot be merged, one line.
    package struct Failure: Error, CustomStringConvertible, Sendable, Equatable {
        package let description: String
    }

    /// Settings that must be the same for the sum to mean anything.
    static let decisive = ["engine", "profile", "template", "push_type", "authentication", "sign_policy", "plaintext"]

    /// - Parameter results: at least two, with the names of their files.
    package static func merge(_ results: [(name: String, result: ResultDocument)]) throws(Failure) -> ResultDocument {
        guard results.count >= 2, let first = results.first else {
            throw Failure(description: "merging needs at least two results")
        }
        let overlap = try check(results)
        let results = SendMerge.kept(results)
        let parts = results.map(\.result)
        var merged = first.result
        merged.scenario = scenario(parts)
        merged.run.id = parts.map(\.run.id).joined(separator: "+")
        merged.run.startedAt = parts.map(\.run.startedAt).min { $0.dropLast() < $1.dropLast() } ?? ""
        merged.run.durationSeconds = parts.map(\.run.durationSeconds).max() ?? 0
        merged.run.complete = parts.allSatisfy(\.run.complete)
        merged.run.interrupted = parts.contains(where: \.run.interrupted)
        addFigures(of: results, to: &merged)
        merged.throughput.windowSeconds = parts.map(\.throughput.windowSeconds).max() ?? 0
        merged.throughput.offered = sum(parts, \.throughput.offered)
        merged.throughput.sent = sum(parts, \.throughput.sent)
        merged.throughput.sentAgain = sum(parts, \.throughput.sentAgain)
        merged.throughput.answered = sum(parts, \.throughput.answered)
        merged.throughput.accepted = sum(parts, \.throughput.accepted)
        merged.histograms = try histograms(results)
        merged.latency = try latencies(merged)
        merged.breakdown = try breakdown(parts, merged)
        var partNotes = leaveOut(results, &merged)
        if parts.contains(where: { $0.sends != nil }) {
            let whole = merged
            let sends = try SendMerge(results, apart: overlap.startsApart) { name throws(Failure) in
                try histogram(ResultDocument.fanOutKey(name), whole).answered
            }
            merged.sends = sends.sends
            partNotes += sends.notes
        }
        let (targets, targetNote) = TargetMerge.merge(results)
        merged.targets = targets
        if let targetNote { partNotes.append(targetNote) }
        merged.devices = try devices(parts, merged)
        merged.echo = try echo(parts, merged)
        merged.clocks = nil
        // Blocks are of one run.
        merged.trust = nil
        merged.warmup.seconds = parts.map(\.warmup.seconds).max() ?? 0
        merged.generator.loopLag = try latency("loop_lag", merged)
        // Workers are of one run, and have their numbers there.
        merged.workers = nil
        // A second's percentiles cannot be added, and the parts still have theirs.
        merged.series = []
        merged.notes =
            ["merged from \(results.map(\.name).joined(separator: ", "))"]
            + differences(parts).map { "the parts differ in \($0)" } + partNotes
            + (results.contains(where: \.result.hasSchedule)
                ? ["stages and trace are those of one part; the parts' rates add up"] : [])
            + results.flatMap { part in part.result.notes.map { "\(part.name): \($0)" } }
        return merged
    }

    typealias Part = (name: String, result: ResultDocument)

    /// Everything of parts that is a count, a share or a cost.
    ///
    /// - Parameter ended: those that know what only a run's end tells; nil: all.
    static func addFigures(of results: [Part], ended: [Part]? = nil, to merged: inout ResultDocument) {
        let all = results.map(\.result)
        merged.pushes = pushes(all)
        merged.failures = added(all.map(\.failures))
        merged.notSent = added(all.map(\.notSent))
        merged.warmup.answered = sum(all, \.warmup.answered)
        merged.warmup.steady =
            all.contains { $0.warmup.steady == nil } ? nil : all.allSatisfy { $0.warmup.steady == true }
        let ended = ended ?? results
        let parts = ended.map(\.result)
        guard !parts.isEmpty else { return }
        merged.statuses = added(parts.map(\.statuses))
        merged.reasons = added(parts.map(\.reasons))
        let rejections = parts.compactMap(\.rejections)
        merged.rejections = rejections.count < parts.count ? nil : added(rejections)
        merged.connections.opened = sum(parts, \.connections.opened)
        merged.connections.lost = sum(parts, \.connections.lost)
        merged.connections.connectFailures = sum(parts, \.connections.connectFailures)
        merged.connections.goAways = sum(parts, \.connections.goAways)
        merged.connections.reconnects = sum(parts, \.connections.reconnects)
        merged.connections.noConnection = parts.count < all.count ? nil : noConnection(parts)
        merged.connections.windowLimited = parts.compactMap(\.connections.windowLimited).max()
        merged.connections.writeBlocked = parts.compactMap(\.connections.writeBlocked).max()
        merged.connections.ends = added(parts.map(\.connections.ends))
        let late = parts.compactMap(\.connections.afterWindow)
        merged.connections.afterWindow =
            late.count < parts.count
            ? nil
            : .init(
                opened: late.reduce(0) { $0 &+ $1.opened }, lost: late.reduce(0) { $0 &+ $1.lost },
                connectFailures: late.reduce(0) { $0 &+ $1.connectFailures }, ends: added(late.map(\.ends)))
        merged.generator.limited = parts.contains(where: \.generator.limited)
        merged.generator.reasons = ended.flatMap { part in
            part.result.generator.reasons.map { "\(part.name): \($0)" }
        }
        merged.generator.workerLoad = parts.flatMap(\.generator.workerLoad).sorted(by: >)
        merged.generator.runQueueDelay = parts.compactMap(\.generator.runQueueDelay).max()
        merged.generator.spin = sum(parts, \.generator.spin) / Double(parts.count)
        merged.generator.steal = parts.map(\.generator.steal).max() ?? 0
        merged.generator.cpuLimit = parts.compactMap(\.generator.cpuLimit).max { $0.throttled < $1.throttled }
        merged.generator.overflowed = sum(parts, \.generator.overflowed)
        merged.generator.cpu = generatorCPU(parts)
        merged.cooldown.seconds = parts.map(\.cooldown.seconds).max() ?? 0
        merged.cooldown.pushes = sum(parts, \.cooldown.pushes)
        merged.retries = parts.reduce(into: .init()) { $0.add($1.retries) }
        merged.cost = cost(parts)
    }

    /// Of the part for which it was longest; nil if one does not tell.
    private static func noConnection(_ parts: [ResultDocument]) -> ResultDocument.NoConnection? {
        let known = parts.compactMap(\.connections.noConnection)
        return known.count < parts.count ? nil : known.max { $0.seconds < $1.seconds }
    }

    /// Settings that say how much: the whole's are the sum of the parts'.
    private static let added = ["rate", "pushes", "connections", "threads", "backlog", "mock_threads"]

    /// The first part's settings, but for those that are added, and streams and thresholds that are not of all parts.
    private static func scenario(_ parts: [ResultDocument]) -> [String: JSONValue] {
        var whole = parts[0].scenario
        for key in added where parts.contains(where: { $0.scenario[key] != nil }) {
            whole[key] = parts.dropFirst().reduce(whole[key] ?? .null) { sum($0, $1.scenario[key] ?? .null) }
        }
        // Of each connection: what all have together is no multiple of one part's.
        let streams = "streams"
        if parts.contains(where: { $0.scenario[streams] != whole[streams] }) { whole[streams] = .null }
        let thresholds = "thresholds"
        if parts.contains(where: { $0.scenario[thresholds] != whole[thresholds] }) { whole[thresholds] = .array([]) }
        return whole
    }

    /// Of something that is no number there is no sum.
    private static func sum(_ one: JSONValue, _ other: JSONValue) -> JSONValue {
        if case .integer(let a) = one, case .integer(let b) = other,
            case (let sum, false) = a.addingReportingOverflow(b)
        {
            return .integer(sum)
        }
        guard let a = number(one), let b = number(other) else { return .null }
        return (a + b).isFinite ? .number(a + b) : .null
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// - Returns: how long the runs went on together, which was long enough.
    private static func check(_ results: [(name: String, result: ResultDocument)]) throws(Failure) -> RunOverlap {
        let first = results[0]
        for (index, part) in results.enumerated().dropFirst() {
            for key in decisive where part.result.scenario[key] != first.result.scenario[key] {
                throw Failure(
                    description: "\(part.name): \(key) differs from \(first.name)'s: these are not parts of one load")
            }
            // A merged result has the ids of its parts.
            let ids = Set(part.result.run.id.split(separator: "+"))
            if let twin = results[..<index].first(where: {
                !ids.isDisjoint(with: $0.result.run.id.split(separator: "+"))
            }) {
                throw Failure(description: "\(part.name): holds the same run as \(twin.name)")
            }
        }
        if let part = results.first(where: \.result.isPartial) {
            throw Failure(
                description:
                    "\(part.name): what a run that was killed had written by then; only results of runs that ended "
                    + "can be merged")
        }
        let overlap = try RunOverlap(results)
        guard overlap.isEnough else {
            func seconds(_ value: Double) -> String { Units.fixed(value, places: 1) }
            throw Failure(
                description: "\(overlap.apart) did not run side by side: all runs together for at most "
                    + "\(seconds(overlap.common)) s of \(seconds(overlap.longest)) s, at least half is needed to add their "
                    + "rates (compare them instead)")
        }
        return overlap
    }

    private static func sum(_ parts: [ResultDocument], _ path: KeyPath<ResultDocument, UInt64>) -> UInt64 {
        parts.reduce(0) { $0 &+ $1[keyPath: path] }
    }

    private static func sum(_ parts: [ResultDocument], _ path: KeyPath<ResultDocument, Double>) -> Double {
        parts.reduce(0) { $0 + $1[keyPath: path] }
    }

    /// nil where that of a part is not known.
    private static func sum(_ parts: [ResultDocument], _ path: KeyPath<ResultDocument, UInt64?>) -> UInt64? {
        parts.contains { $0[keyPath: path] == nil } ? nil : parts.reduce(0) { $0 &+ ($1[keyPath: path] ?? 0) }
    }

    private static func sum(_ parts: [ResultDocument], _ path: KeyPath<ResultDocument, Double?>) -> Double? {
        parts.contains { $0[keyPath: path] == nil } ? nil : parts.reduce(0) { $0 + ($1[keyPath: path] ?? 0) }
    }

    private static func added(_ counts: [[String: UInt64]]) -> [String: UInt64] {
        counts.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: &+) }
    }

    static func pushes(_ parts: [ResultDocument]) -> ResultDocument.Pushes {
        var whole = ResultDocument.Pushes()
        whole.planned = sum(parts, \.pushes.planned)
        whole.sent = sum(parts, \.pushes.sent)
        whole.sentAgain = sum(parts, \.pushes.sentAgain)
        whole.accepted = sum(parts, \.pushes.accepted)
        whole.rejected = sum(parts, \.pushes.rejected)
        whole.failed = sum(parts, \.pushes.failed)
        whole.notSent = sum(parts, \.pushes.notSent)
        whole.retried = sum(parts, \.pushes.retried)
        whole.lost = sum(parts, \.pushes.lost)
        whole.duplicated = sum(parts, \.pushes.duplicated)
        return whole
    }

    private static func histograms(
        _ results: [(name: String, result: ResultDocument)]
    ) throws(Failure) -> [String: String] {
        var sum = HistogramSum()
        for part in results { sum.add(try HistogramSum.counters(part.result, name: part.name)) }
        return sum.texts
    }

    static func latency(_ key: String, _ merged: ResultDocument) throws(Failure) -> ResultDocument.Latency {
        .init(try histogram(key, merged))
    }

    static func histogram(_ key: String, _ merged: ResultDocument) throws(Failure) -> CensoredHistogram {
        do throws(HistogramCodec.Failure) { return try merged.censoredHistogram(key) } catch {
            throw Failure(description: "histograms.\(key): \(error)")
        }
    }

    static func latencies(_ merged: ResultDocument) throws(Failure) -> ResultDocument.Latencies {
        try .init { stage throws(Failure) in try latency(stage.key, merged) }
    }

    private static func breakdown(
        _ parts: [ResultDocument], _ whole: ResultDocument
    ) throws(Failure) -> [String: [String: ResultDocument.Part]] {
        var merged: [String: [String: ResultDocument.Part]] = [:]
        for part in parts {
            for (dimension, labels) in part.breakdown {
                for (label, own) in labels {
                    let before = merged[dimension]?[label]
                    let total = try latency(ResultDocument.histogramKey(dimension, label), whole)
                    merged[dimension, default: [:]][label] = .init(
                        accepted: own.accepted &+ (before?.accepted ?? 0),
                        rejected: own.rejected &+ (before?.rejected ?? 0),
                        failed: own.failed &+ (before?.failed ?? 0),
                        notSent: own.notSent &+ (before?.notSent ?? 0),
                        total: total)
                }
            }
        }
        return merged
    }

    /// Takes out of `merged` what some parts keep apart and others do not: of the others' pushes nobody knows under which label
    /// they belong. A send is none of a run without registrations.
    ///
    /// - Returns: a sentence for each dimension that was taken out.
    private static func leaveOut(
        _ results: [(name: String, result: ResultDocument)], _ merged: inout ResultDocument
    ) -> [String] {
        var notes: [String] = []
        for dimension in merged.breakdown.keys.sorted() {
            let lacking = results.filter { part in
                part.result.breakdown[dimension] == nil && (dimension != "send" || part.result.sends != nil)
            }
            guard !lacking.isEmpty else { continue }
            for label in merged.breakdown[dimension, default: [:]].keys {
                let key = ResultDocument.histogramKey(dimension, label)
                merged.histograms[key] = nil
                if let unanswered = ResultDocument.unansweredKey(key) { merged.histograms[unanswered] = nil }
            }
            merged.breakdown[dimension] = nil
            notes.append(
                "no figures by \(dimension): \(lacking.map(\.name).joined(separator: ", ")) did not keep them apart")
        }
        return notes
    }

    /// Weighed by the answered pushes of each part.
    private static func mean(_ parts: [ResultDocument], _ path: KeyPath<ResultDocument, Double>) -> Double {
        let weights = parts.map { Double($0.pushes.accepted) + Double($0.pushes.rejected) }
        let all = weights.reduce(0, +)
        return all > 0 ? zip(parts, weights).reduce(0) { $0 + $1.0[keyPath: path] * $1.1 } / all : 0
    }

    private static func generatorCPU(_ parts: [ResultDocument]) -> ResultDocument.Generator.CPU {
        .init(
            encode: mean(parts, \.generator.cpu.encode), sign: mean(parts, \.generator.cpu.sign),
            tls: mean(parts, \.generator.cpu.tls), socket: mean(parts, \.generator.cpu.socket),
            spin: mean(parts, \.generator.cpu.spin), other: mean(parts, \.generator.cpu.other))
    }

    private static func cost(_ parts: [ResultDocument]) -> ResultDocument.Cost {
        let weights = parts.map { Double($0.pushes.accepted) + Double($0.pushes.rejected) }
        let all = weights.reduce(0, +)
        func mean(_ path: KeyPath<ResultDocument, Double>) -> Double { Self.mean(parts, path) }
        func optional(_ path: KeyPath<ResultDocument, Double?>) -> Double? {
            parts.contains { $0[keyPath: path] == nil }
                ? nil : all > 0 ? zip(parts, weights).reduce(0) { $0 + ($1.0[keyPath: path] ?? 0) * $1.1 } / all : 0
        }
        var whole = ResultDocument.Cost()
        whole.clientCPU = mean(\.cost.clientCPU)
        whole.mockCPU = optional(\.cost.mockCPU)
        whole.clientMemory = sum(parts, \.cost.clientMemory)
        whole.mockMemory = sum(parts, \.cost.mockMemory)
        whole.clientAllocations = optional(\.cost.clientAllocations)
        whole.mockAllocations = optional(\.cost.mockAllocations)
        whole.clientHandshakes = sum(parts, \.cost.clientHandshakes)
        whole.mockHandshakes = sum(parts, \.cost.mockHandshakes)
        whole.tokensSigned = sum(parts, \.cost.tokensSigned)
        whole.clockReading = mean(\.cost.clockReading)
        whole.histogramRecord = mean(\.cost.histogramRecord)
        whole.measuring = mean(\.cost.measuring)
        return whole
    }

    /// Settings in which the parts differ, besides those that must not.
    private static func differences(_ parts: [ResultDocument]) -> [String] {
        let keys = Set(parts.flatMap(\.scenario.keys))
        return keys.filter { key in parts.contains { $0.scenario[key] != parts[0].scenario[key] } }.sorted()
    }
}
