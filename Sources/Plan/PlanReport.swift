import Reports
import Results
import Settings

/// A plan for a person: at a terminal, or as Markdown.
enum PlanReport {
    static func text(_ plan: PlanDocument, on picture: TextPicture = .plain) -> String {
        var lines = ["", headline(plan), ""]
        for section in sections(plan) {
            var table = TextTable()
            for row in section.rows { table.add(row) }
            lines += table.lines(width: picture.width) + [""]
        }
        lines += remarks(plan)
        for assumption in plan.assumptions { lines.append("assumed: \(assumption)") }
        for warning in plan.warnings { lines.append("warning: \(warning)") }
        return TextLines.fitted(lines, width: picture.width).joined(separator: "\n") + "\n"
    }

    static func markdown(_ plan: PlanDocument) -> String {
        var lines = ["# \(headline(plan))", ""]
        for section in sections(plan) {
            for (index, row) in section.rows.enumerated() {
                lines.append("| \(row.joined(separator: " | ")) |")
                if index == 0 { lines.append("|" + String(repeating: " --- |", count: row.count)) }
            }
            lines.append("")
        }
        lines += remarks(plan) + [""]
        lines += plan.assumptions.map { "- assumed: \($0)" } + plan.warnings.map { "- warning: \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Section {
        var rows: [[String]]
    }

    private static func headline(_ plan: PlanDocument) -> String {
        let question = plan.question
        let link = "a round trip of \(Units.duration(nanoseconds: question.roundTrip))"
        guard let pushes = question.pushes, let within = question.within else {
            return "what \(counted(plan.configuration.connections, "connection")) can do at \(link)"
        }
        let devices = question.devices ?? pushes
        let who = (devices == pushes ? "" : "\(Units.counted(pushes, "push")) to ") + Units.counted(devices, "device")
        return "\(who) within \(Units.duration(nanoseconds: within)) at \(link)"
    }

    private static func sections(_ plan: PlanDocument) -> [Section] {
        var sections: [Section] = []
        if let needed = plan.needed { sections.append(self.needed(plan, needed)) }
        sections.append(bounds(plan))
        if let latency = plan.simulation.latency {
            let unit = TimeUnit(middle: Double(latency.p50), largest: Double(latency.max))
            func written(_ value: Double) -> String { "\(unit.written(value)) \(unit.rawValue)" }
            sections.append(
                Section(
                    rows: [
                        ["simulated at that rate", "mean", "p50", "p99", "p99.9", "max"],
                        [
                            "due to answered", written(latency.mean), written(Double(latency.p50)),
                            written(Double(latency.p99)), written(Double(latency.p999)), written(Double(latency.max)),
                        ],
                    ]
                        + (plan.simulation.latencyReplications > 1
                            ? [
                                [
                                    "95 % interval", "-", plan.simulation.median.map { interval($0, written) } ?? "-",
                                    plan.simulation.p99.map { interval($0, written) } ?? "-", "-", "-",
                                ]
                            ] : [])))
        }
        if let echo = plan.echo { sections += EchoSections.of(echo).map(Section.init) }
        if !plan.sensitivities.isEmpty {
            var rows = [["1 % more of", "connections", "cores", "memory", "bandwidth"]]
            for input in plan.sensitivities {
                rows.append([
                    input.input, change(input.connections), change(input.cores), change(input.memory),
                    change(input.bandwidth),
                ])
            }
            sections.append(Section(rows: rows))
        }
        return sections
    }

    private static func needed(_ plan: PlanDocument, _ needed: PlanDocument.Needed) -> Section {
        func row(_ name: String, _ figure: PlanDocument.Figure, _ used: String, _ written: (Double) -> String)
            -> [String]
        {
            [name, written(figure.value), interval(figure, written), used]
        }
        let configuration = plan.configuration
        let single = needed.coresIfSingle.map { row("  answered one by one", $0, "", tenth) }
        return Section(
            rows: [
                ["needed", "", "95 % interval", "planned"],
                ["pushes a second", rate(needed.perSecond), "", ""],
                row(
                    "open streams", needed.inFlight,
                    count(Double(configuration.connections) * Double(configuration.streams)),
                    count
                ),
                row("connections", needed.connections, count(Double(configuration.connections))) { needed in
                    // What is a little more than a whole number takes one more.
                    let isMore = needed > (needed * 10).rounded() / 10 && Units.fixed(needed, places: 1).hasSuffix(".0")
                    return isMore ? Units.fixed(needed, places: 2) : tenth(needed)
                },
                row("client cores", needed.cores, count(Double(configuration.machines * configuration.workers)), tenth),
                single,
                row(
                    "machines", needed.machines,
                    "\(configuration.machines) with \(counted(configuration.workers, "worker"))", tenth),
                row("memory, all machines", needed.memory, "", size),
                row("bandwidth, all machines", needed.bandwidth, "", bits),
                row("time at full use", needed.shortest, "", Units.duration(nanoseconds:)),
            ].compactMap { $0 })
    }

    private static func bounds(_ plan: PlanDocument) -> Section {
        var rows = [["bound", "pushes a second", "95 % interval", ""]]
        for (index, bound) in plan.bounds.enumerated() {
            rows.append([
                name(bound.name, plan.question), count(bound.perSecond.value), interval(bound.perSecond, count),
                index == 0 ? "binds" : index == 1 ? "next" : "",
            ])
        }
        return Section(rows: rows)
    }

    private static func remarks(_ plan: PlanDocument) -> [String] {
        let simulation = plan.simulation
        let part =
            plan.measured.serverCPU == nil
            ? "\(counted(simulation.workers, "worker")) with \(counted(simulation.connections, "connection"))"
                + (simulation.isPart ? ", and their part of its time" : "")
            : "all of it"
        let formula = "the formula says \(count(simulation.formula))/s"
        var lines: [String] = []
        if let simulated = simulation.simulated, let difference = simulation.difference {
            lines.append(
                "simulated (\(part), \(count(Double(simulation.pushes))) pushes, "
                    + (simulation.replications > 1 ? "\(simulation.replications) seeds from " : "seed ")
                    + "\(simulation.seed)): \(count(simulated))/s at full use, \(formula) "
                    + "(\(difference < 0 ? "−" : "+")\(Units.fixed(abs(difference) * 100, places: 1)) %)")
        } else {
            lines.append("at full use (\(part)) \(formula); not simulated")
        }
        if let meanValue = simulation.meanValue { lines[0] += ", mean value analysis \(count(meanValue))/s" }
        if let needed = plan.needed {
            lines.append(
                "of the time \(Units.duration(nanoseconds: needed.edges)) go to connecting, becoming fast and the last answers"
                    + (simulation.finish.map {
                        "; simulated, all are answered after \(time($0)) at full use"
                    } ?? ""))
        }
        if let needed = plan.needed, !needed.inTime, let within = plan.question.within {
            lines.append(
                "within \(Units.duration(nanoseconds: within)): missed, the devices take "
                    + "\(Units.duration(nanoseconds: max(needed.shortest.value, simulation.finish?.value ?? 0))); what is due waits ever longer, so that there are no "
                    + "latencies to tell")
        }
        lines += plan.echo.map(EchoSections.remarks) ?? []
        for goal in plan.goals { lines.append("goal \(goal.text): \(goal.held ? "reached" : "missed")") }
        let measured = plan.measured
        let client = measured.clientCPU
        lines.append(
            "measured: \(measured.origin) (\(counted(measured.runs, "run")), \(counted(measured.settings, "setting"))); "
                + "client CPU \(plan.question.sentAgain > 0 ? "an attempt" : "a push") \(time(client)) when busy"
                + (measured.pacedCPU.map { ", \(time($0)) at that rate" } ?? "")
                + ", \(Units.fixed(plan.question.wire, places: 0)) bytes on the wire, "
                + "\(Units.duration(nanoseconds: measured.overhead.value)) besides link and server")
        return lines
    }

    // MARK: Writing

    /// Without its sign.
    static func percent(_ share: Double) -> String { "\(Units.fixed(abs(share) * 100, places: 1)) %" }

    private static func time(_ figure: PlanDocument.Figure) -> String {
        let interval = interval(figure, Units.duration(nanoseconds:))
        return Units.duration(nanoseconds: figure.value) + (interval.isEmpty ? "" : " (\(interval))")
    }

    /// Bounds of what is a connection's own say that connections are ended, and made anew, all the time, which is in them.
    private static func name(_ bound: PlanDocument.BoundName, _ question: PlanDocument.Question) -> String {
        let ofStreams = name(.streams) + (question.fewerStreams == nil ? "" : ", fewer at times")
        guard question.endsConnections else { return bound == .streams ? ofStreams : name(bound) }
        return switch bound {
        // Where a stream is free again at once, nothing but that is in it.
        case .streams where question.roundTrip + question.jitter + question.serverTime == 0:
            "connections made anew (GOAWAY)"
        case .streams: ofStreams + " and GOAWAY"
        case .window: "window over round trip and GOAWAY"
        case .connectionRate: "connection's bandwidth and GOAWAY"
        case .loss: "TCP with loss, and GOAWAY"
        case .bandwidth, .clientCPU, .serverCPU, .sharedCores: name(bound)
        }
    }

    private static func name(_ bound: PlanDocument.BoundName) -> String {
        switch bound {
        case .streams: "streams over round trip"
        case .window: "flow-control window over round trip"
        case .connectionRate: "bandwidth of each connection"
        case .loss: "TCP over a link that loses"
        case .bandwidth: "bandwidth of the machines"
        case .clientCPU: "CPU of the client"
        case .serverCPU: "CPU of the mock"
        case .sharedCores: "cores that client and mock share"
        }
    }

    static func interval(_ figure: PlanDocument.Figure, _ written: (Double) -> String) -> String {
        guard let low = figure.low, let high = figure.high else { return "" }
        let (from, to) = (written(low), written(high))
        return from == to ? "" : "\(from) - \(to)"
    }

    private static func change(_ elasticity: Double) -> String {
        abs(elasticity) < 0.005 ? "-" : "\(elasticity < 0 ? "−" : "+")\(Units.fixed(abs(elasticity), places: 2)) %"
    }

    private static func counted(_ number: Int, _ what: String) -> String {
        "\(Units.grouped(UInt64(number))) \(what)\(number == 1 ? "" : "s")"
    }

    static func count(_ value: Double) -> String {
        value.isFinite ? Units.grouped(UInt64(min(max(value, 0), 1e18).rounded())) : "-"
    }

    /// A count or a rate that may be small: three digits below 10, such as `0.0888`; whole from there on.
    static func rate(_ value: Double) -> String { rate(value, .toNearestOrAwayFromZero) }

    static func rate(_ value: Double, _ rule: FloatingPointRoundingRule) -> String {
        guard value > 0, value < 10 else { return count(value.rounded(rule)) }
        var (places, factor) = (2, 100.0)
        while value * factor < 100, places < 9 { (places, factor) = (places + 1, factor * 10) }
        let scaled = (value * factor).rounded(rule)
        // A number that is whole is one, whatever its sum lost.
        if abs(value - value.rounded()) < 1e-9 * value { return count(value) }
        return Units.fixed(scaled / factor, places: places)
    }

    private static func tenth(_ value: Double) -> String { value < 1000 ? Units.fixed(value, places: 1) : count(value) }

    /// Bytes.
    static func size(_ value: Double) -> String {
        value.isFinite ? Units.bytes(UInt64(min(max(value, 0), 1e18))) : "-"
    }

    /// Bytes a second as bits.
    static func bits(_ value: Double) -> String {
        let bits = value * 8
        if bits >= 1e12 { return "\(count(bits / 1e9)) Gbit/s" }
        if bits >= 1e9 { return "\(Units.fixed(bits / 1e9, places: 2)) Gbit/s" }
        return bits >= 1e5
            ? "\(Units.fixed(bits / 1e6, places: 1)) Mbit/s" : "\(Units.fixed(bits / 1e3, places: 1)) kbit/s"
    }
}
