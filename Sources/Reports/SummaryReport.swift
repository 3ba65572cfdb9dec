import Measurement
import Results
import Settings

/// A result for a person at a terminal.
package enum SummaryReport {
    /// - Parameters:
    ///   - path: where the result was written, nil when it was not.
    ///   - problems: what is wrong with the run, one sentence each.
    ///   - thresholds: what the run had to hold, and whether it did.
    ///   - picture: what it is written on; no line is wider, but for words (paths) that are.
    package static func text(
        _ result: ResultDocument, path: String?, problems: [String], thresholds: [(text: String, isHeld: Bool)] = [],
        on picture: TextPicture = .plain
    ) -> String {
        var lines: [String] = [""]
        let pushes = result.pushes
        // Where there was no connection, there is nothing to tell of pushes and latencies.
        let hasSent = pushes.sent > 0 || result.connections.opened > 0
        // Two lengths of time on one page say what they are.
        let isOneSpan = !hasSent || window(result) == Units.fixed(result.run.durationSeconds, places: 2)
        lines.append(
            "\(Units.counted(pushes.planned, "push")) planned, \(Units.grouped(pushes.accepted)) accepted, "
                + "\(Units.grouped(pushes.rejected)) rejected, \(Units.grouped(pushes.failed)) failed, "
                + "\(Units.grouped(pushes.notSent)) not sent in \(length(result.run.durationSeconds))"
                + (isOneSpan ? "" : " (first due to last end)")
        )
        if hasSent {
            lines.append(
                result.throughput.hasRates
                    ? rateLine(result.throughput)
                        + (result.isMerged
                            ? ", the sum of the parts' rates"
                            : " over \(window(result)) s\(isOneSpan ? "" : " (the measured window)")")
                    : "no rates: less than 1 ms was measured, too short for a rate")
        }
        if result.cooldown.seconds >= 0.1 {
            lines.append(
                "cool-down: \(Units.counted(result.cooldown.pushes, "push")) open when the last one had been taken, "
                    + "the last of them ended \(Units.fixed(result.cooldown.seconds, places: 2)) s later")
        }
        if result.warmup.answered > 0 {
            lines.append(
                "warm-up left out of rate and latencies: \(Units.counted(result.warmup.answered, "push")), "
                    + "\(Units.fixed(result.warmup.seconds, places: 2)) s")
        }
        if hasSent {
            lines.append(ledgerLine(result))
            lines.append("")
            lines += latencyTable(result.latency, picture.width) + TrustSection.lines(result)
            lines += clocks(result.clocks ?? [], picture.width)
            lines += sends(result.sends ?? [], picture.width)
            lines += breakdowns(result, picture.width)
            lines += devices(result)
            lines += workers(result.workers ?? [], picture.width)
            lines.append("")
        } else if let workers = result.workers {
            lines += Self.workers(workers, picture.width) + [""]
        }
        lines += counts("statuses", result.statuses)
        lines += counts("reasons", result.shownReasons)
        lines += causes("failures", result.failures) + causes("not sent", result.notSent, areUnsent: true)
        if pushes.retried > 0 {
            lines.append(
                "put back to be sent again: \(Units.counted(pushes.retried, "attempt")) that the server had not processed "
                    + "(GOAWAY, REFUSED_STREAM, an expired token, a lost connection); \(Units.grouped(pushes.sent)) sent in all"
            )
        }
        if result.retries.attempts > 0 || result.retries.overBudget > 0 {
            let retries = result.retries
            lines.append(
                "retries: \(Units.counted(retries.attempts, "attempt")), \(Units.counted(retries.recovered, "push")) recovered, "
                    + "\(Units.grouped(retries.exhausted)) given up, \(Units.grouped(retries.overBudget)) beyond the budget"
            )
        }
        lines += targets(result.targets ?? [], picture.width)
        lines.append(connectionsLine(result))
        if !isUnreached(result.connections) { lines += causes("connections ended", result.connections.ends) }
        if let words = result.connections.noConnection?.words { lines.append("\(words), while pushes were due") }
        if hasSent { lines += costLines(result) }
        for reason in result.generator.reasons { lines.append("the generator was a limit: \(reason)") }
        for note in result.notes { lines.append("note: \(note)") }
        if let path { lines.append("result: \(path)") }
        lines.append("")
        for threshold in thresholds {
            lines.append("\(threshold.isHeld ? picture.good("held") : picture.bad("CROSSED")): \(threshold.text)")
        }
        let until = result.trust?.until
        if let until { lines.append(until.verdict(picture)) }
        if problems.isEmpty, thresholds.allSatisfy(\.isHeld), until?.reached != false {
            lines.append("\(picture.good("OK")): \(result.allRight)")
        } else {
            for problem in problems { lines.append("\(picture.bad("FAILED")): \(problem)") }
        }
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    /// `0.93 s`; `3.20 ms` where hundredths of a second would say nothing.
    private static func length(_ seconds: Double) -> String {
        seconds > 0 && seconds < 0.01
            ? Units.duration(nanoseconds: seconds * 1e9) : "\(Units.fixed(seconds, places: 2)) s"
    }

    /// `200/s offered, 200/s sent, 199.5/s answered, 199.5/s accepted`.
    private static func rateLine(_ throughput: ResultDocument.Throughput) -> String {
        let rates =
            (throughput.offered.map { [("offered", $0)] } ?? [])
            + [("sent", throughput.sent), ("answered", throughput.answered), ("accepted", throughput.accepted)]
        return rates.map { "\(Units.perSecond($0.1)) \($0.0)" }.joined(separator: ", ")
    }

    private static func window(_ result: ResultDocument) -> String {
        Units.fixed(result.throughput.windowSeconds, places: 2)
    }

    /// Whom each send was for, and when they had it.
    private static func sends(_ sends: [ResultDocument.Send], _ width: Int) -> [String] {
        guard !sends.isEmpty else { return [] }
        var table = TextTable()
        table.add(["send", "devices"] + SendSection.countNames + ["first", "50 %", "99 %", "100 %"])
        for send in sends {
            table.add(
                [send.name] + ([send.devices] + SendSection.counts(send)).map(Units.grouped)
                    + SendSection.times(send).prefix(4).map(SendSection.time))
        }
        return [""] + table.lines(width: width) + ["  (fan-out: from the send's start to its accepted answers)"]
    }

    /// Those that want a look most, and how many others there are.
    private static func workers(_ workers: [ResultDocument.Worker], _ width: Int) -> [String] {
        guard !workers.isEmpty else { return [] }
        let most = 8
        let shown = workers.worstFirst.prefix(most)
        var table = TextTable(names: 2)
        table.add(WorkerSection.shortHeader)
        for worker in shown { table.add(WorkerSection.shortCells(worker)) }
        let others = workers.worstFirst.dropFirst(most).map(\.state)
        return [""] + table.lines(width: width)
            + (others.isEmpty
                ? [] : ["  (and \(Units.grouped(UInt64(others.count))) more: \(WorkerSection.counted(others)))"])
    }

    /// How the clocks of workers and mocks agree.
    private static func clocks(_ clocks: [ResultDocument.Clock], _ width: Int) -> [String] {
        guard !clocks.isEmpty else { return [] }
        var table = TextTable(names: 2)
        table.add(ClockSection.header)
        for row in ClockSection.rows(clocks) { table.add(row) }
        return [""] + table.lines(width: width) + (ClockSection.leftOut(clocks).map { ["  \($0)"] } ?? [])
    }

    /// What became of pushes at their devices, and what these asked of their backend.
    private static func devices(_ result: ResultDocument) -> [String] {
        var lines: [String] = []
        func listed(_ counts: [(String, UInt64)]) -> String {
            counts.map { "\($0.0) \(Units.grouped($0.1))" }.joined(separator: ", ")
        }
        if let devices = result.devices {
            let outcomes = DeviceSection.sorted(devices.outcomes).map { (DeviceSection.words($0.0), $0.1) }
            lines += ["", "at the devices: \(outcomes.isEmpty ? "nothing" : listed(outcomes))"]
            if !devices.contentWithin.isEmpty { lines.append("content: \(DeviceSection.contentWithin(devices))") }
        }
        if let echo = result.echo {
            let counts = zip(DeviceSection.countNames, DeviceSection.counts(echo)).map { ($0, $1) }
            lines.append("asked of \(echo.backend): \(echo.requests == 0 ? "nothing" : listed(counts))")
            if echo.requests > 0 { lines.append("  " + DeviceSection.peak(echo)) }
            lines += Self.counts("  failures of requests", echo.failures)
            if echo.latency.count > 0 {
                let figures = zip(["p50", "p99", "max"], Written.latenciesAlike(echo.latency, [.p50, .p99, .max]))
                lines.append(
                    "  device's moment to answer: " + figures.map { "\($0) \($1)" }.joined(separator: ", "))
            }
        }
        return lines
    }

    /// A table for each dimension: outcomes and total latency by label.
    private static func breakdowns(_ result: ResultDocument, _ width: Int) -> [String] {
        result.breakdown.keys.sorted().flatMap { dimension -> [String] in
            var table = TextTable()
            table.add(["by \(dimension)", "accepted", "rejected", "failed", "not sent", "total p50", "p99", "max"])
            for (label, part) in Written.parts(dimension, result) {
                let counts = [part.accepted, part.rejected, part.failed, part.notSent]
                table.add([label] + counts.map(Units.grouped) + Written.latenciesAlike(part.total, [.p50, .p99, .max]))
            }
            return [""] + table.lines(width: width)
        }
    }

    private static func ledgerLine(_ result: ResultDocument) -> String {
        guard let lost = result.pushes.lost, let duplicated = result.pushes.duplicated else {
            if result.isUntraced { return "ledger: not known (no push has room for the trace tag)" }
            if result.areLostUnknown { return "ledger: lost ones are not known (the notes say why)" }
            if result.workers != nil { return "ledger: none (pushload merge completes it by what the mocks wrote)" }
            return result.run.target == ResultDocument.Run.bundledMock
                ? "ledger: none (the notes say why)" : "ledger: none (the target is not the bundled mock)"
        }
        return "ledger: \(Units.grouped(lost)) lost, \(Units.grouped(duplicated)) doubled"
    }

    /// In the order a push goes through; what is contained in a stage stands under it.
    private static func latencyTable(_ latency: ResultDocument.Latencies, _ width: Int) -> [String] {
        var stages: [(name: String, span: String, latency: ResultDocument.Latency)] = []
        if latency[.late].count > 0 {
            stages += [("late", "due to begun", latency[.late]), ("write", "begun to written", latency[.write])]
        } else {
            stages.append(("queue", "due to written", latency[.queue]))
        }
        stages += [("  encode", "", latency[.encode]), ("  sign", "", latency[.sign])]
        stages.append(("round trip", "written to answered", latency[.roundTrip]))
        for (name, stage) in [("to the mock", Stage.toMock), ("in the mock", .inMock), ("back", .fromMock)]
        where latency[stage].count > 0 {
            stages.append(("  " + name, "", latency[stage]))
        }
        if latency[.service].count > 0 { stages.append(("service", "begun to answered", latency[.service])) }
        stages.append(("total", "due to answered", latency[.total]))
        if latency.isWorthTakingApart {
            stages.append(("  accepted", "", latency[.totalAccepted]))
            if latency[.totalRejected].count > 0 { stages.append(("  rejected", "", latency[.totalRejected])) }
        }
        for (name, span, stage) in [
            ("to the screen", "due to presented", Stage.timeToScreen),
            ("to the content", "due to fetched or decrypted", .timeToContent),
        ] where latency[stage].count > 0 {
            stages.append((name, span, latency[stage]))
        }
        var table = TextTable(names: 2)
        table.add(["latency", "", "min", "mean", "p50", "p90", "p99", "p99.9", "max"])
        for stage in stages { table.add([stage.name] + Written.inOneUnit(stage.latency, LatencyFigure.allCases)) }
        let spans = stages.filter { !$0.span.isEmpty }.map { "\($0.name): \($0.span)" }.joined(separator: ", ")
        let unanswered = Written.unanswered(latency[.total].unanswered, of: latency[.total].count)
        return table.lines(width: width) + ["  (\(spans))"] + (unanswered.map { ["  \($0)"] } ?? [])
    }

    /// `failures: push_timeout 3 (no answer within --timeout)`.
    private static func causes(_ title: String, _ counts: [String: UInt64], areUnsent: Bool = false) -> [String] {
        guard !counts.isEmpty else { return [] }
        let list = most(counts).map { cause, count in
            CauseWords.counted(cause, count, isUnsent: areUnsent)
        }
        return ["\(title): \(list.joined(separator: ", "))"]
    }

    private static func counts(_ title: String, _ counts: [String: UInt64]) -> [String] {
        guard !counts.isEmpty else { return [] }
        let list = most(counts).map { "\($0.key) \(Units.grouped($0.value))" }
        return ["\(title): \(list.joined(separator: ", "))"]
    }

    /// What became of pushes and connections at each of several targets; of many those first that were not there.
    private static func targets(_ targets: [ResultDocument.Target], _ width: Int) -> [String] {
        guard !targets.isEmpty else { return [] }
        let shown = TargetTable.sorted(targets).prefix(TargetTable.mostShown)
        var table = TextTable()
        table.add(TargetTable.names)
        for target in shown { table.add(TargetTable.cells(target, Units.grouped)) }
        let left = targets.count - shown.count
        return [""] + table.lines(width: width)
            + (left > 0 ? ["  and \(Units.counted(UInt64(left), "target")) more (targets in the result)"] : []) + [""]
    }

    /// No attempt led to a connection.
    private static func isUnreached(_ connections: ResultDocument.Connections) -> Bool {
        connections.opened == 0 && !connections.ends.isEmpty
    }

    private static func most(_ counts: [String: UInt64]) -> [(key: String, value: UInt64)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    }

    private static func connectionsLine(_ result: ResultDocument) -> String {
        let connections = result.connections
        var text = "connections: \(connections.opened) opened"
        if connections.lost > 0 { text += ", \(connections.lost) lost" }
        if connections.connectFailures > 0 {
            text += ", \(Units.counted(connections.connectFailures, "attempt")) failed"
        }
        if connections.goAways > 0 { text += ", \(connections.goAways) told to go away" }
        if connections.reconnects > 0 { text += ", \(Units.counted(connections.reconnects, "reconnect"))" }
        guard isUnreached(connections) else { return text + " (\(result.security))" }
        // No TLS was agreed on; why not is what counts.
        let why = most(connections.ends).map { cause, count in
            let words = CauseWords.of(cause)
            return (words.isEmpty ? cause : words) + (connections.ends.count > 1 ? " \(Units.grouped(count))" : "")
        }
        return "\(text): \(why.joined(separator: ", "))"
    }

    /// What was not measured is left out.
    private static func costLines(_ result: ResultDocument) -> [String] {
        let cost = result.cost
        let clientTime = cost.clientCPU > 0 ? "\(Units.duration(nanoseconds: cost.clientCPU)) CPU a push, " : ""
        var client = "client: \(clientTime)peak memory \(Units.bytes(cost.clientMemory))"
        if cost.clientCPU > 0, let allocations = cost.clientAllocations {
            client += ", \(Units.fixed(allocations, places: 2)) allocations a push"
        }
        var lines = [client]
        let parts = Written.cpuParts(result)
        if !parts.isEmpty {
            lines.append(
                "  of it " + parts.map { "\($0.name) \(Units.duration(nanoseconds: $0.value))" }.joined(separator: ", ")
            )
        }
        if let cpu = cost.mockCPU, let memory = cost.mockMemory {
            let time = cpu > 0 ? "\(Units.duration(nanoseconds: cpu)) CPU a push, " : ""
            lines.append("mock: \(time)peak memory \(Units.bytes(memory))")
        }
        if cost.measuring > 0 {
            lines.append(
                "measuring: \(Units.duration(nanoseconds: cost.measuring)) a push, in the client's CPU above")
        }
        return lines
    }
}
