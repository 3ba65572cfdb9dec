/// Memory for one decoded string, kept from block to block.
struct HPACKScratch: ~Copyable {
    /// The longest string it is for.
    static let mostBytes = 65_536
    /// Room for the two stores of a decoder's step beyond the longest string.
    private static let mostCapacity = mostBytes + 2

    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(capacity: capacity)
    }

    deinit { bytes.deallocate() }

    /// Makes room for `count` bytes, or for `mostCapacity` when that is less; what it held is lost.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if count > capacity { grow(count) }
    }

    /// Gives back what is beyond `most` bytes; what it held is lost.
    @inline(__always)
    mutating func shrink(to most: Int) {
        guard capacity > most else { return }
        bytes.deallocate()
        bytes = .allocate(capacity: most)
        capacity = most
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        let wanted = min(max(count, capacity &* 2), Self.mostCapacity)
        guard wanted > capacity else { return }
        bytes.deallocate()
        bytes = .allocate(capacity: wanted)
        capacity = wanted
    }
}
