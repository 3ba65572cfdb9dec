/// The lanes whose connection can take a push, in the order of their turns: a ring with room for each once. A round of the
/// loop costs what there is to send, however many connections wait for answers.
struct LaneQueue {
    private let lanes: UnsafeMutablePointer<Int32>
    private let isQueued: UnsafeMutablePointer<Bool>
    private let count: Int
    private var head = 0
    private var length = 0

    /// For lanes 0..<count; the owner calls `release`.
    init(count: Int) {
        self.count = count
        lanes = .allocate(capacity: count)
        isQueued = .allocate(capacity: count)
        isQueued.initialize(repeating: false, count: count)
    }

    func release() {
        lanes.deallocate()
        isQueued.deallocate()
    }

    /// Puts a lane at the end, unless it is in the queue.
    @inline(__always)
    mutating func append(_ lane: Int) {
        guard !isQueued[lane] else { return }
        isQueued[lane] = true
        let place = head &+ length
        lanes[place < count ? place : place &- count] = Int32(truncatingIfNeeded: lane)
        length &+= 1
    }

    @inline(__always)
    mutating func popFirst() -> Int? {
        guard length > 0 else { return nil }
        let lane = Int(lanes[head])
        head = head &+ 1 == count ? 0 : head &+ 1
        length &-= 1
        isQueued[lane] = false
        return lane
    }
}
