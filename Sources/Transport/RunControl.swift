import Synchronization

/// How a run is ended before its pushes are, from any thread.
public final class RunControl: Sendable {
    public enum Request: Int, Sendable {
        /// Nothing was asked.
        case none = 0
        /// Begin no more pushes; wait for the answers of those begun.
        case drain = 1
        /// Fail everything that is unanswered, at once.
        case abort = 2
    }

    /// The request, and `timeUp` when the run's time asked first.
    private let state = Atomic<Int>(0)
    private static let timeUp = 4
    private let wasInterrupted = Atomic<Bool>(false)
    private let gone = Atomic<Bool>(false)
    private let wakeUps = Mutex<[@Sendable () -> Void]>([])

    public init() {}

    public var request: Request { Request(rawValue: state.load(ordering: .relaxed) & 3) ?? .abort }

    /// What pushes end with that are not answered, or not sent, because the run was ended.
    public var cause: FailureCause {
        state.load(ordering: .relaxed) & Self.timeUp != 0 ? .runEnded : .interrupted
    }

    /// Somebody asked, not only the run's time.
    public var isInterrupted: Bool { wasInterrupted.load(ordering: .relaxed) }

    /// Asks for `request`; a weaker request than the present one changes nothing.
    ///
    /// - Parameter isTimeUp: the run's time is over; counts when nothing was asked before.
    public func ask(_ request: Request, isTimeUp: Bool = false) {
        var current = state.load(ordering: .relaxed)
        if !isTimeUp { wasInterrupted.store(true, ordering: .relaxed) }
        while current & 3 < request.rawValue {
            let first = current & 3 == 0 ? (isTimeUp ? Self.timeUp : 0) : current & Self.timeUp
            let (done, seen) = state.compareExchange(
                expected: current, desired: request.rawValue | first, ordering: .relaxed)
            if done { break }
            current = seen
        }
        wakeUps.withLock { for wakeUp in $0 { wakeUp() } }
    }

    /// The target is known to have ended: workers without a connection stop trying at once.
    public func targetEnded() { gone.store(true, ordering: .relaxed) }
    package var isTargetGone: Bool { gone.load(ordering: .relaxed) }

    /// For engines: `wakeUp` is called from any thread when something was asked.
    package func register(_ wakeUp: @escaping @Sendable () -> Void) { wakeUps.withLock { $0.append(wakeUp) } }
}
