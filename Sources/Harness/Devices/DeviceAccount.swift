import Measurement
import Networking
import Results

/// What mock and backend said at a run's end of devices and their requests.
struct DeviceAccount: Sendable {
    /// `devices` in the mock's report.
    struct Figures: Decodable, Sendable {
        let received: UInt64
        let touched: UInt64
        let outcomes: [String: UInt64]
        let events: [String: UInt64]
        /// Pushes whose screen or content is still to come, by itself and soon.
        let settling: UInt64
    }

    var figures: Figures?
    var echo: EchoReport?
    /// Whom devices asked.
    var backend = ""
    /// What the bundled one counted.
    var backendCounts: [String: UInt64]?
    /// By accepted push.
    var outcomes: DeviceOutcomes
    /// How long devices were waited for after the last push, ns.
    var waited: UInt64 = 0
    /// The run's start, ns of the monotonic clock; 0: it had none.
    var start: UInt64 = 0
    var problem: String?

    /// - Parameters:
    ///   - counts: what the mock said at its end; nil: nothing.
    ///   - accepted: pushes that the client knows to be.
    init(_ counts: BundledMock.Counts?, accepted: UInt64, backend: String, waited: UInt64) {
        figures = counts?.devices
        echo = counts?.echo
        self.backend = backend
        self.waited = waited
        self.accepted = accepted
        outcomes = DeviceOutcomes(unknown: accepted)
    }

    private let accepted: UInt64

    /// Reads the mock's device log.
    mutating func read(_ path: String, _ inputs: RunInputs, due: IntendedTimes) {
        let writers = PushWriters(inputs)
        let shows = inputs.mix.entries.map(\.profile.shows)
        let reason = outcomes.read(
            path, run: inputs.run.rawValue, accepted: accepted, due: due, end: MonotonicClock.now(),
            shows: { shows[writers.entry($0)] })
        problem = reason.map { "what became of all pushes at their devices is not known: \($0)" }
    }

    var section: ResultDocument.Devices {
        ResultDocument.Devices(
            outcomes: outcomes.counts, events: (figures?.events ?? [:]).filter { $0.value > 0 },
            touched: figures?.touched ?? 0, beyondAccepted: outcomes.beyondAccepted, content: outcomes.content)
    }

    /// What must be said where the two ends do not agree on what was answered; nil where they do, and where only one spoke.
    var disagreement: String? {
        guard let echo, let counts = backendCounts else { return nil }
        let apart = Self.counted.compactMap { kind, names -> String? in
            let theirs = names.reduce(0) { $0 &+ (counts[$1] ?? 0) }
            let ours = echo.byKind[kind]?.answered ?? 0
            return ours == theirs ? nil : "\(kind) \(ours) answered, \(theirs) counted by the backend"
        }
        return apart.isEmpty ? nil : "devices and backend do not agree: " + apart.joined(separator: "; ")
    }

    /// What the bundled backend calls the requests of a kind that it answered with 2xx.
    private static let counted: [(kind: String, names: [String])] = [
        ("fetch", ["content"]), ("rich", ["fetched", "fetched_again"]), ("attachment", ["attachments"]),
        ("action", ["actions"]),
    ]
}
