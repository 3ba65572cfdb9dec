import Measurement
import Results
import Settings

/// Whether the generator itself, rather than its target, set the limit of a run.
struct GeneratorVerdict {
    private let outcome: LoadOutcome
    private let isOpenLoop: Bool

    /// A worker thread this busy has no room left.
    static let busyLoad = 0.95
    /// An event loop this late is noticed in the latencies, ns (99th percentile).
    static let noticedLag: UInt64 = 1_000_000
    /// So much of the machine gone to others makes times doubtful.
    static let noticedSteal = 0.05

    init(_ outcome: LoadOutcome, inputs: RunInputs) {
        self.outcome = outcome
        isOpenLoop = inputs.schedule != nil
    }

    private var reasons: [String] {
        var reasons: [String] = []
        if let busiest = outcome.workerLoad.first, busiest >= Self.busyLoad {
            reasons.append(
                "a worker thread was busy \(Units.fixed(busiest * 100, places: 0)) % of the time: give more threads (-t) "
                    + "with connections of their own")
        }
        let lag = outcome.loopLag.summary
        if lag.count >= 100, lag.p99 >= Self.noticedLag {
            reasons.append(
                "the event loop came back late for pushes it could have sent on time: "
                    + "p99 \(Units.duration(nanoseconds: Double(lag.p99)))")
        }
        if outcome.steal >= Self.noticedSteal {
            reasons.append(
                "\(Units.fixed(outcome.steal * 100, places: 1)) % of the machine's CPU time went to other virtual machines"
            )
        }
        return reasons
    }

    var section: ResultDocument.Generator {
        let reasons = reasons
        return .init(
            limited: !reasons.isEmpty, reasons: reasons, loopLag: Run.latency(outcome.loopLag.summary),
            workerLoad: outcome.workerLoad.map { ($0 * 1000).rounded() / 1000 },
            steal: (outcome.steal * 10_000).rounded() / 10_000)
    }
}
