import Synchronization

/// One worker's counters: written by the worker alone, readable by any thread.
final class MockStatistics: Sendable {
    let requests = Atomic<UInt64>(0)
    let accepted = Atomic<UInt64>(0)
    let connectionsAccepted = Atomic<UInt64>(0)
    let connectionsOpen = Atomic<UInt64>(0)
    let handshakesFailed = Atomic<UInt64>(0)
    nonisolated(unsafe) private let reasons: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        reasons = .allocate(capacity: Reason.allCases.count)
        for index in 0..<Reason.allCases.count { (reasons + index).initialize(to: Atomic(0)) }
    }

    deinit { reasons.deallocate() }

    func count(_ reason: Reason) { Self.increment(reasons[reason.rawValue]) }
    func value(_ reason: Reason) -> UInt64 { reasons[reason.rawValue].load(ordering: .relaxed) }

    /// Only the owner writes, so a plain load and store is enough.
    @inline(__always)
    static func increment(_ counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}

/// All workers' counts at one moment.
public struct MockCounts: Sendable, Equatable {
    public var requests: UInt64 = 0
    public var accepted: UInt64 = 0
    public var rejected: UInt64 = 0
    /// By Apple's name; only those that happened.
    public var reasons: [String: UInt64] = [:]
    public var connectionsAccepted: UInt64 = 0
    public var connectionsOpen: UInt64 = 0
    public var handshakesFailed: UInt64 = 0
    /// Accepted pushes without a trace tag, or of a run too many.
    public var untracked: UInt64 = 0

    mutating func add(_ statistics: MockStatistics) {
        requests += statistics.requests.load(ordering: .relaxed)
        accepted += statistics.accepted.load(ordering: .relaxed)
        connectionsAccepted += statistics.connectionsAccepted.load(ordering: .relaxed)
        connectionsOpen += statistics.connectionsOpen.load(ordering: .relaxed)
        handshakesFailed += statistics.handshakesFailed.load(ordering: .relaxed)
        for reason in Reason.allCases {
            let count = statistics.value(reason)
            if count > 0 {
                reasons[reason.name, default: 0] += count
                rejected += count
            }
        }
    }
}
