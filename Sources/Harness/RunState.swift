import Measurement
import Synchronization

/// What a run's connections ran into: each text once, and not many, for people to read while the run goes on.
struct ConnectionProblems: Sendable {
    private var told: Set<String> = []
    private var untold: [String] = []
    static let most = 8

    mutating func note(_ text: String) {
        guard told.count < Self.most, told.insert(text).inserted else { return }
        untold.append(text)
    }

    /// Those since the last call.
    mutating func take() -> [String] {
        defer { untold = [] }
        return untold
    }
}

/// What all workers of a run share: touched when the first push is taken and for each accepted one's ledger bit.
final class RunState: Sendable {
    /// Start of the schedule, ns of the monotonic clock; 0 until the first connection is ready.
    let start = Atomic<UInt64>(0)
    /// How long before its start the run of all workers began, ns; 0 but for one that was late or taken up again.
    let begun = Atomic<UInt64>(0)
    /// With `--warmup auto`: pushes due from this time on are measured; `.max` before it is known.
    let measuredFrom = Atomic<UInt64>(.max)
    /// With `--until`: nothing that is due from this time on is sent; `.max` before it is known.
    let endsAt = Atomic<UInt64>(.max)
    /// Which pushes were accepted, one bit each.
    let accepted: DeliveryLedger

    /// What connections ran into so far.
    let problems = Mutex(ConnectionProblems())

    /// When some of them left and were answered, to be joined with what the mock saw; nil without the bundled mock.
    let times: PushTimes?

    /// When accepted pushes were due, for what devices do with them; nil without a device model.
    let intended: IntendedTimes?

    /// Of a worker among several: what each of its threads may take.
    let reservations: [PushReservation]?

    /// Workers that may still send.
    private let sending: Atomic<Int>
    /// All had given their targets up, and one has ended of itself: who is asked to end after that has nothing left to stop.
    let hasRunOut = Atomic(false)

    init(
        accepted: DeliveryLedger, times: PushTimes?, intended: IntendedTimes? = nil,
        reservations: [PushReservation]? = nil, workers: Int = 1
    ) {
        self.reservations = reservations
        self.accepted = accepted
        self.intended = intended
        self.times = times
        sending = Atomic(workers)
    }

    /// A worker will send nothing more. What it was asked before that, such as to stop, is known to whoever sees nobody sending.
    func leave() { sending.subtract(1, ordering: .acquiringAndReleasing) }
    var isAnySending: Bool { sending.load(ordering: .acquiring) > 0 }

    /// The start was said beforehand.
    func begin(_ start: Run.Start) {
        begun.store(start.begun, ordering: .relaxed)
        self.start.store(start.at, ordering: .relaxed)
    }

    /// The start, set by whoever asks first.
    func begin(_ now: UInt64) -> UInt64 {
        let (_, original) = start.compareExchange(expected: 0, desired: now, ordering: .relaxed)
        return original == 0 ? now : original
    }
}
