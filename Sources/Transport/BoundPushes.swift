/// Pushes that wait for the connection they belong to, by lane: one that is busy or still being made. Bounded by `most` in all.
struct BoundPushes {
    /// A push waits for its connection for so long after its due time, ns; then it goes over any.
    static let patience: UInt64 = 1_000_000_000
    /// Pushes that may wait; what comes beyond goes over any connection.
    static let most = 100_000

    private var lanes: [RetryQueue]
    private(set) var count = 0

    init(lanes count: Int) { lanes = .init(repeating: RetryQueue(), count: count) }

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= Self.most }

    mutating func append(_ ticket: PushTicket, lane: Int) {
        lanes[lane].append(ticket)
        count += 1
    }

    mutating func popFirst(lane: Int) -> PushTicket? {
        guard let ticket = lanes[lane].popFirst() else { return nil }
        count -= 1
        return ticket
    }

    func isWaiting(lane: Int) -> Bool { !lanes[lane].isEmpty }

    /// Takes what a lane's pushes have waited for in vain.
    ///
    /// - Parameter time: due times before it are over, ns.
    mutating func popOverdue(lane: Int, before time: UInt64) -> PushTicket? {
        guard let due = lanes[lane].first?.due, due < time else { return nil }
        return popFirst(lane: lane)
    }
}
