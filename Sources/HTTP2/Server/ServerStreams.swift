/// A request and its answer on their way.
struct ServerStream {
    /// 0: the slot is free.
    var id: Int32 = 0
    /// The client has ended its side.
    var isEnded = false
    /// Our answer's headers are written; `isAnswered` once its END_STREAM is.
    var hasHeaders = false
    var isAnswered = false
    /// A body waits for the client's windows.
    var isHeldBack = false
    /// Since when it does, seconds of the session's clock.
    var heldSince = 0.0
    /// DATA the client may still send, and we may; bytes, may be negative after a change of SETTINGS.
    var receiveWindow = 0
    var sendWindow = 0
    /// From content-length, -1: none; and what came so far.
    var contentLength: Int64 = -1
    var received: Int64 = 0
    /// Of the session's owner.
    var context: UInt = 0
}

/// The open streams of a connection, found by id; and which were closed last, and how.
///
/// Open addressing over a table twice as large as the most streams there have been at once. Ids that follow each other have
/// places side by side, so that nearly always each has its own: a search is then one step, and so is removing one while none
/// is displaced. Memory only grows, to what the stream limit allows.
struct ServerStreams: ~Copyable {
    enum Ending: UInt8 {
        /// By both sides' END_STREAM.
        case finished
        case resetByClient
        /// The client may not know yet: what it still sends is passed over.
        case resetByServer
    }

    private(set) var slots: UnsafeMutablePointer<ServerStream>
    private var capacity: Int
    /// Numbers of free slots, the next last.
    private var free: UnsafeMutablePointer<Int32>
    private var freeCount = 0
    /// Slot number + 1 by hash of the id; 0: nothing.
    private var table: UnsafeMutablePointer<Int32>
    private var mask: Int
    /// Ids that are not at their own place.
    private var displaced = 0
    private(set) var count = 0
    /// The last streams that were closed, in a ring; its memory comes with the first. Half the id of each, which is odd, and in the
    /// last two bits how it ended.
    private var closed: UnsafeMutablePointer<UInt32>?
    private var closedCount = 0
    static let closedKept = 1024
    private static let least = 4

    init() {
        capacity = Self.least
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: ServerStream(), count: capacity)
        mask = 7
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        free = .allocate(capacity: capacity)
        addFree(from: 0)
    }

    /// The slots from there on are free; there is memory for the numbers of all.
    private mutating func addFree(from first: Int) {
        for slot in (first..<capacity).reversed() {
            free[freeCount] = Int32(slot)
            freeCount += 1
        }
    }

    deinit {
        free.deallocate()
        slots.deallocate()
        table.deallocate()
        closed?.deallocate()
    }

    @inline(__always)
    private func place(_ id: Int32) -> Int { Int(id >> 1) & mask }

    /// The slot of an open stream, -1 when it is not open.
    @inline(__always)
    func find(_ id: Int32) -> Int {
        var place = place(id)
        while true {
            let entry = table[place]
            if entry == 0 { return -1 }
            if slots[Int(entry &- 1)].id == id { return Int(entry &- 1) }
            place = (place &+ 1) & mask
        }
    }

    /// Opens a stream; returns its slot.
    @inline(__always)
    mutating func open(_ id: Int32, receiveWindow: Int, sendWindow: Int) -> Int {
        if freeCount == 0 { grow() }
        freeCount &-= 1
        let slot = Int(free[freeCount])
        slots[slot] = ServerStream()
        slots[slot].id = id
        slots[slot].receiveWindow = receiveWindow
        slots[slot].sendWindow = sendWindow
        insert(id, slot)
        count &+= 1
        return slot
    }

    @inline(__always)
    private mutating func insert(_ id: Int32, _ slot: Int) {
        var place = place(id)
        if table[place] != 0 {
            displaced &+= 1
            repeat { place = (place &+ 1) & mask } while table[place] != 0
        }
        table[place] = Int32(truncatingIfNeeded: slot &+ 1)
    }

    @inline(__always)
    mutating func close(_ slot: Int, _ ending: Ending) {
        let id = slots[slot].id
        remove(id)
        slots[slot].id = 0
        free[freeCount] = Int32(truncatingIfNeeded: slot)
        freeCount &+= 1
        count &-= 1
        remember(id, ending)
    }

    /// Notes a stream that was refused, and so never open.
    mutating func refuse(_ id: Int32) { remember(id, .resetByServer) }

    @inline(__always)
    private mutating func remember(_ id: Int32, _ ending: Ending) {
        let ring = closed ?? makeRing()
        ring[closedCount & (Self.closedKept - 1)] = UInt32(bitPattern: id >> 1) << 2 | UInt32(ending.rawValue)
        closedCount &+= 1
    }

    private mutating func makeRing() -> UnsafeMutablePointer<UInt32> {
        let ring = UnsafeMutablePointer<UInt32>.allocate(capacity: Self.closedKept)
        ring.initialize(repeating: 0, count: Self.closedKept)
        closed = ring
        return ring
    }

    /// Removes an id, moving up what was put behind it.
    @inline(__always)
    private mutating func remove(_ id: Int32) {
        var hole = place(id)
        if displaced == 0 {
            table[hole] = 0
            return
        }
        if slots[Int(table[hole] &- 1)].id != id {
            displaced &-= 1
            repeat { hole = (hole &+ 1) & mask } while slots[Int(table[hole] &- 1)].id != id
        }
        var next = (hole &+ 1) & mask
        while table[next] != 0 {
            let home = place(slots[Int(table[next] &- 1)].id)
            // It may move to the hole when its home is not between the two.
            if (next &- home) & mask >= (next &- hole) & mask {
                table[hole] = table[next]
                if hole == home { displaced &-= 1 }
                hole = next
            }
            next = (next &+ 1) & mask
        }
        table[hole] = 0
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<ServerStream>.allocate(capacity: capacity * 2)
        larger.update(from: slots, count: capacity)
        (larger + capacity).initialize(repeating: ServerStream(), count: capacity)
        slots.deallocate()
        slots = larger
        let first = capacity
        capacity *= 2
        // None is free.
        free.deallocate()
        free = .allocate(capacity: capacity)
        addFree(from: first)
        table.deallocate()
        mask = capacity * 2 - 1
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        displaced = 0
        for slot in 0..<capacity where slots[slot].id != 0 { insert(slots[slot].id, slot) }
    }

    /// Gives back what many streams needed, while none is open.
    mutating func shrink() {
        guard count == 0, capacity > Self.least else { return }
        slots.deallocate()
        capacity = Self.least
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: ServerStream(), count: capacity)
        free.deallocate()
        free = .allocate(capacity: capacity)
        freeCount = 0
        addFree(from: 0)
        table.deallocate()
        mask = capacity * 2 - 1
        table = .allocate(capacity: mask + 1)
        table.initialize(repeating: 0, count: mask + 1)
        displaced = 0
    }

    /// How a stream that is not open any more ended; nil when that is too long ago to be known, or it never was open.
    func ending(_ id: Int32) -> Ending? {
        guard let closed else { return nil }
        for index in 0..<min(closedCount, Self.closedKept) where closed[index] >> 2 == UInt32(bitPattern: id >> 1) {
            return Ending(rawValue: UInt8(closed[index] & 3))
        }
        return nil
    }

    /// Every open stream's slot.
    var open: [Int] { (0..<capacity).filter { slots[$0].id != 0 } }
}
