import Measurement
import Results
import Settings

/// A figure of a run that comparisons look at.
package struct ComparedMetric: Sendable {
    package let name: String
    package let unit: FigureUnit
    /// What a higher value means.
    package let higher: FigureVerdict
    package let lower: FigureVerdict
    /// nil when the run has no such figure.
    package let value: @Sendable (ResultDocument) -> Double?
    /// Why the figure is not known, and what it is larger than where that is; nil where it is known, or nobody measured it.
    package var bound: @Sendable (ResultDocument) -> String? = { _ in nil }
    /// Unless it is asked for: in which runs it says anything that others do not.
    package var isOfUse: @Sendable (ResultDocument) -> Bool = { _ in true }

    package static let all: [ComparedMetric] = [
        ComparedMetric(name: "rate", unit: .perSecond, higher: .faster, lower: .slower) {
            $0.throughput.hasRates ? $0.throughput.answered : nil
        },
        // Where nothing is rejected it is the rate.
        ComparedMetric(
            name: "goodput", unit: .perSecond, higher: .faster, lower: .slower,
            value: { $0.throughput.hasRates ? $0.throughput.accepted : nil }, isOfUse: { $0.pushes.rejected > 0 }),
        ofPush("client CPU a push", .nanoseconds) { $0.clientCPU },
        ofPush("mock CPU a push", .nanoseconds) { $0.mockCPU },
        ofPush("allocations a push", .count) { $0.clientAllocations },
        ComparedMetric(name: "client peak memory", unit: .bytes, higher: .more, lower: .less) {
            Double($0.cost.clientMemory)
        },
        latency("total p50", .total, .p50), latency("total p90", .total, .p90),
        latency("total p99", .total, .p99), latency("total p99.9", .total, .p999),
        latency("round trip p50", .roundTrip, .p50), latency("round trip p99", .roundTrip, .p99),
    ]

    /// The names of all figures, in the order they are shown.
    package static var names: [String] { all.map(\.name) }

    package static func named(_ name: String) -> ComparedMetric? { all.first { $0.name == name } }

    /// What an answered push costs, of which there has to be one.
    private static func ofPush(
        _ name: String, _ unit: FigureUnit, _ value: @escaping @Sendable (ResultDocument.Cost) -> Double?
    ) -> ComparedMetric {
        ComparedMetric(
            name: name, unit: unit, higher: .more, lower: .less, value: { $0.hasAnswers ? value($0.cost) : nil },
            bound: { $0.hasAnswers || value($0.cost) == nil ? nil : "no push was answered" })
    }

    private static func latency(
        _ name: String, _ stage: Stage,
        _ figure: LatencyFigure
    ) -> ComparedMetric {
        ComparedMetric(
            name: name, unit: .nanoseconds, higher: .slower, lower: .faster,
            value: { $0.latency[stage].known(figure) },
            bound: {
                let latency = $0.latency[stage]
                guard latency.isCensored(figure) else { return nil }
                return "more than \(Units.duration(nanoseconds: latency.value(figure))): "
                    + "\(Units.grouped(latency.unanswered)) of \(Units.grouped(latency.count)) pushes got no answer"
            })
    }
}
