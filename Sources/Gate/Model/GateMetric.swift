import Results

/// A figure of a run that gates look at.
struct GateMetric: Sendable {
    /// As flags and documents have it.
    let name: String
    let unit: FigureUnit
    /// CPU time: divided by the reference kernel's.
    let isNormalised: Bool
    /// More of it is better.
    let isGain: Bool
    /// As much more is tolerated, however large the ratio; and a cost of less counts as this in ratios, so that they
    /// have no zero in them.
    let leastDifference: Double
    /// nil when the run has no such figure.
    let value: @Sendable (ResultDocument) -> Double?

    static let all: [GateMetric] = [
        GateMetric("client_cpu", .nanoseconds, isNormalised: true) { $0.cost.clientCPU },
        GateMetric("mock_cpu", .nanoseconds, isNormalised: true) { $0.cost.mockCPU },
        // A hot path that allocates does so for every push; what there is else comes and goes with buffers.
        GateMetric("allocations", .count, leastDifference: 0.05) { $0.cost.clientAllocations },
        GateMetric("rate", .perSecond, isGain: true) { $0.throughput.hasRates ? $0.throughput.answered : nil },
        GateMetric("total_p50", .nanoseconds) { $0.latency[.total].known(.p50) },
        GateMetric("total_p99", .nanoseconds) { $0.latency[.total].known(.p99) },
    ]

    /// What is judged when nobody says otherwise: the costs. Time on the clock depends on who else is there.
    static let judgedByDefault = ["client_cpu", "mock_cpu", "allocations"]

    static func named(_ name: String) -> GateMetric? { all.first { $0.name == name } }

    private init(
        _ name: String, _ unit: FigureUnit, isNormalised: Bool = false, isGain: Bool = false,
        leastDifference: Double = 0, _ value: @escaping @Sendable (ResultDocument) -> Double?
    ) {
        self.name = name
        self.unit = unit
        self.isNormalised = isNormalised
        self.isGain = isGain
        self.leastDifference = leastDifference
        self.value = value
    }

    /// The figures of one run, by their names.
    static func values(_ result: ResultDocument) -> [String: Double] {
        var values: [String: Double] = [:]
        for metric in all { values[metric.name] = metric.value(result) }
        return values
    }

    /// What a baseline keeps of rounds: only figures that every round has.
    static func baseline(_ rounds: [GateDocument.Round]) -> [BaselineDocument.Metric] {
        all.compactMap { metric in
            let raw = rounds.compactMap { $0.values[metric.name] }
            guard raw.count == rounds.count, !raw.isEmpty else { return nil }
            return BaselineDocument.Metric(
                name: metric.name, unit: metric.unit, raw: raw,
                normalised: metric.isNormalised ? metric.values(rounds) : nil)
        }
    }

    /// What is compared: a gain upside down, so that more of it is worse.
    func cost(_ value: Double) -> Double { isGain ? 1 / value : max(value, leastDifference) }

    /// One value a round that has the figure, divided by the reference kernel's time where that is its way.
    func values(_ rounds: [GateDocument.Round]) -> [Double] {
        rounds.compactMap { round in round.values[name].map { isNormalised ? $0 / round.kernel : $0 } }
    }
}
