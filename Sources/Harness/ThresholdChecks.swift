import Measurement
import Payloads
import Scenarios
import Settings

/// Which thresholds a run can be held to.
extension RunInputs {
    /// - Throws: one line when the run can never have the figure: why, and what would do.
    func check(_ threshold: Threshold) throws(HarnessError) {
        if let reason = missing(threshold.metric) {
            throw HarnessError("threshold \"\(threshold.text)\": \(reason)")
        }
        if case .latency(_, _, let part?) = threshold.metric { try check(part, of: threshold.text) }
    }

    private func missing(_ metric: Threshold.Metric) -> String? {
        let isClosedLoop = schedule == nil
        let hasMock = scenario.target == nil
        switch metric {
        case .latency where !scenario.measure:
            return "measure: false times nothing; leave one of them out"
        case .rate(let rate, ofTarget: true) where isClosedLoop:
            return "a closed loop has no target rate; give --rate, --stages or --trace, or a number of its own, as in "
                + "\(rate.rawValue) >= 20k"
        case .rate(.offered, _) where isClosedLoop:
            return "a closed loop offers no rate; give --rate, --stages or --trace, or judge rate"
        case .latency(let stage, _, _) where ["late", "write", "service"].contains(stage) && isClosedLoop:
            return
                "a closed loop does not time \(stage); give --rate, --stages or --trace, or judge round_trip or total"
        case .latency("sign", _, _) where scenario.authentication != "token":
            return "without provider tokens nothing is signed; leave the threshold out"
        case .latency(let stage, _, _) where ["to_mock", "in_mock", "from_mock"].contains(stage) && !hasMock:
            return "only the bundled mock says its times; judge round_trip, or leave --target out"
        case .latency(let stage, _, _)
        where (stage == Threshold.echo || Stage.ofDevices.contains { $0.key == stage }) && scenario.deviceModel == nil:
            return "only a device model says it; give --device-model on, or leave the threshold out"
        case .latency(Stage.timeToScreen.key, _, _) where !mix.entries.contains(where: \.profile.shows):
            return "no push of this run shows anything; send some of profile alert, rich or rich-push, or leave it out"
        case .latency(Stage.timeToContent.key, _, _) where !mix.entries.contains(where: \.profile.hasContent):
            return
                "no push of this run has content to fetch or decrypt; send some of profile silent, rich or rich-push, or "
                + "leave it out"
        case .echo where scenario.deviceModel == nil:
            return "without a device model nothing is asked of a backend; give --device-model on"
        case .count(let name, _) where ["lost", "duplicated"].contains(name) && !hasMock:
            return "only the bundled mock has a ledger to compare with; judge accepted or failed, or leave --target out"
        case .memory("mock_rss") where !hasMock:
            return "only the bundled mock says its memory; leave the threshold or --target out"
        default: return nil
        }
    }

    private func check(_ part: Threshold.Part, of text: String) throws(HarnessError) {
        let labels: [String]
        switch part.dimension {
        case "stage": labels = schedule?.stageNames ?? []
        case "send": labels = sends?.all.map(\.name) ?? []
        case "profile": labels = Set(mix.entries.map(\.profile.name)).sorted()
        default:
            guard let dimension = breakdown.first(where: { $0.name == part.dimension }) else {
                let known = ["stage", "send", "profile", "status", "connection", "tag"]
                guard known.contains(part.dimension) else {
                    throw HarnessError(
                        "threshold \"\(text)\": \"\(part.dimension)\" is nothing that pushes are kept apart by; known: "
                            + known.joined(separator: ", ") + NearestName.hint(part.dimension, among: known))
                }
                let by = part.dimension == "tag" ? "tag:PREFIX, and the same in braces" : part.dimension
                throw HarnessError(
                    "threshold \"\(text)\": nothing is kept apart by \(part.dimension); give --by \(by)")
            }
            if let problem = problem(of: part.label, in: dimension) {
                throw HarnessError("threshold \"\(text)\": \(problem)")
            }
            return
        }
        // A run's only send is the run.
        guard labels.count > 1 || part.dimension == "send" && !labels.isEmpty else {
            throw HarnessError("threshold \"\(text)\": the run has one \(part.dimension), nothing is kept apart by it")
        }
        guard labels.contains(part.label) else {
            throw HarnessError(
                "threshold \"\(text)\": no \(part.dimension) \"\(part.label)\""
                    + NearestName.hint(part.label, among: labels))
        }
    }

    /// Why there is no such label; nil when there may be.
    private func problem(of label: String, in dimension: BreakdownDimension) -> String? {
        switch dimension {
        case .status:
            return (100...599).contains(Int(label) ?? 0)
                ? nil : "no status \"\(label)\"; expected one such as 200 or 503"
        case .connection:
            return (0..<scenario.connections).contains(Int(label) ?? -1)
                ? nil : "no connection \"\(label)\"; expected 0 to \(scenario.connections - 1)"
        case .tag(let prefix):
            if label == "(none)" { return nil }
            let found = (sends?.all.map { .listed($0.devices) } ?? [population]).map {
                $0.look(for: label, prefix: prefix)
            }
            if found.contains(where: \.isThere) { return nil }
            let others = Set(found.flatMap(\.others)).sorted()
            return "no device has the tag \"\(label)\"" + NearestName.hint(label, among: others)
        }
    }
}
