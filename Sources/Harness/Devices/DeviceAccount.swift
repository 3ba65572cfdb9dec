import Measurement
import Networking
import Results
import Settings

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
    /// What the bundled one counted in this run; nil: another was asked, or it did not say.
    var backendCounts: [String: UInt64]?
    /// It was to say what it counted, and did not.
    var isBackendSilent = false
    /// The devices' time ended the wait, not somebody who stopped the run.
    var isWaitOver = true
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
        let contents = inputs.mix.entries.map(\.profile.hasContent)
        let reason = outcomes.read(
            path, run: inputs.run.rawValue, accepted: accepted, due: due, end: MonotonicClock.now(),
            shows: { shows[writers.entry($0)] }, hasContent: { contents[writers.entry($0)] })
        let unknown = outcomes.counts[DeviceOutcomes.unknown] ?? 0
        problem = reason.map {
            "what became of \(Units.counted(unknown, "accepted push")) at their devices is not known: \($0)"
        }
    }

    var section: ResultDocument.Devices {
        ResultDocument.Devices(
            outcomes: outcomes.counts, events: (figures?.events ?? [:]).filter { $0.value > 0 },
            touched: figures?.touched ?? 0, beyondAccepted: outcomes.beyondAccepted, content: outcomes.content,
            known: outcomes.contentKnown)
    }

    /// What must be said where the two ends do not agree on what was answered; nil where they do, and where only one spoke.
    var disagreement: String? {
        guard let echo, let counts = backendCounts else { return nil }
        let apart = Self.counted.compactMap { kind, names -> String? in
            let theirs = names.reduce(0) { $0 &+ (counts[$1] ?? 0) }
            let ours = echo.byKind[kind] ?? ResultDocument.Echo.Kind.none
            // What was cancelled, or whose answer was lost and that was asked again, the backend may have counted.
            let most = ours.answered &+ ours.givenUp &+ ours.underWay &+ ours.failed &+ echo.retries
            return (ours.answered...max(ours.answered, most)).contains(theirs)
                ? nil : "\(kind) \(ours.answered) answered, \(theirs) counted by the backend"
        }
        return apart.isEmpty ? nil : "devices and backend do not agree: " + apart.joined(separator: "; ")
    }

    /// What the bundled backend calls the requests of a kind that it answered with 2xx.
    private static let counted: [(kind: String, names: [String])] = [
        ("fetch", ["content", "no_content"]), ("rich", ["fetched", "fetched_again"]), ("attachment", ["attachments"]),
        ("action", ["actions"]),
    ]
}
