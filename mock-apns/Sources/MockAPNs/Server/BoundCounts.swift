import Synchronization

/// What clients went beyond: counted by one worker, readable by any thread.
final class BoundCounts: Sendable {
    /// Connections closed because what was written for their client was not taken within the write time-out.
    let unread = Atomic<UInt64>(0)
    /// Streams reset because their answers waited for the client's flow-control windows that long.
    let heldBack = Atomic<UInt64>(0)
    /// Connections closed because too much waited for clients, and most of it for theirs.
    let crowded = Atomic<UInt64>(0)
    /// Requests answered 431 for their header bytes.
    let oversized = Atomic<UInt64>(0)
    /// How often a connection's streams were made fewer for its client's 4xx answers.
    let slowed = Atomic<UInt64>(0)
    /// Connections told to go away for them.
    let cutOff = Atomic<UInt64>(0)

    /// By the owner.
    func restart() {
        unread.store(0, ordering: .relaxed)
        heldBack.store(0, ordering: .relaxed)
        crowded.store(0, ordering: .relaxed)
        oversized.store(0, ordering: .relaxed)
        slowed.store(0, ordering: .relaxed)
        cutOff.store(0, ordering: .relaxed)
    }
}

/// All workers' `BoundCounts` at one moment.
public struct BoundFigures: Sendable, Equatable, Encodable {
    /// Connections closed because their client did not take its answers within the write time-out.
    public var unread: UInt64 = 0
    /// Streams reset because their answers waited for the client's flow-control windows that long.
    public var heldBack: UInt64 = 0
    /// Connections closed because too much waited for clients, and most of it for theirs.
    public var crowded: UInt64 = 0
    /// Requests answered 431 for their header bytes, which `requests` does not count.
    public var oversized: UInt64 = 0
    /// How often a penalty made a connection's streams fewer.
    public var slowed: UInt64 = 0
    /// Connections told to go away by a penalty.
    public var cutOff: UInt64 = 0

    enum CodingKeys: String, CodingKey {
        case unread, crowded, oversized, slowed
        case heldBack = "held_back"
        case cutOff = "cut_off"
    }

    mutating func add(_ counts: BoundCounts) {
        unread += counts.unread.load(ordering: .relaxed)
        heldBack += counts.heldBack.load(ordering: .relaxed)
        crowded += counts.crowded.load(ordering: .relaxed)
        oversized += counts.oversized.load(ordering: .relaxed)
        slowed += counts.slowed.load(ordering: .relaxed)
        cutOff += counts.cutOff.load(ordering: .relaxed)
    }
}
