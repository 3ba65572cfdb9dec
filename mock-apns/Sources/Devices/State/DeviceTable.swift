import CPrefetch

/// The devices that something has happened to, by key.
///
/// Costs a push a line of the index and one of the device; a second device is looked at once in thousands of pushes.
struct DeviceTable: ~Copyable {
    private var pool = Pool<DeviceState>()
    /// Open addressing: the upper half is the lower one of the key, of which the lower bits say where to look first; the lower half
    /// the place in the pool, 0: none.
    private var index: UnsafeMutablePointer<UInt64>
    private var mask: Int

    init() {
        mask = 1023
        index = Self.emptyIndex(mask + 1)
    }

    deinit { HugeMemory.free(UnsafeMutableRawPointer(index)) }

    private static func emptyIndex(_ count: Int) -> UnsafeMutablePointer<UInt64> {
        let index = HugeMemory.allocate(count * 8, small: 0).bindMemory(to: UInt64.self, capacity: count)
        index.initialize(repeating: 0, count: count)
        return index
    }

    var count: Int { pool.count }
    /// Bytes that it has written to.
    var memory: Int { pool.memory + (mask + 1) * 8 }

    subscript(place: UInt32) -> DeviceState {
        @inline(__always) _read { yield pool[place] }
        @inline(__always) nonmutating _modify { yield &pool[place] }
    }

    private static func tag(_ key: UInt64) -> UInt64 { key << 32 }
    private func slot(_ tag: UInt64) -> Int { Int(tag >> 32) & mask }

    /// Where it is or would be, and its place in the pool; 0: nothing has happened to it.
    @inline(__always)
    private func look(_ key: UInt64) -> (slot: Int, place: UInt32) {
        let tag = Self.tag(key)
        var slot = slot(tag)
        while true {
            let entry = index[slot]
            let place = UInt32(truncatingIfNeeded: entry)
            if place == 0 { return (slot, 0) }
            if (entry ^ tag) >> 32 == 0, pool[place].key == key { return (slot, place) }
            slot = (slot &+ 1) & mask
        }
    }

    /// Asks for the line of the index in which a device is looked for.
    func prefetchIndex(_ key: DeviceKey) { pushload_prefetch(index + slot(Self.tag(key.word))) }

    /// Asks for the line of a device, where there is one; that of the index is at hand.
    func prefetchDevice(_ key: DeviceKey) {
        let tag = Self.tag(key.word)
        var slot = slot(tag)
        while true {
            let entry = index[slot]
            let place = UInt32(truncatingIfNeeded: entry)
            if place == 0 { return }
            if (entry ^ tag) >> 32 == 0 { return pool.prefetch(place) }
            slot = (slot &+ 1) & mask
        }
    }

    /// 0: nothing has happened to it.
    func find(_ key: DeviceKey) -> UInt32 { look(key.word).place }

    mutating func touch(_ key: DeviceKey, number: UInt64) -> UInt32 {
        var found = look(key.word)
        if found.place != 0 { return found.place }
        if pool.count * 4 >= (mask + 1) * 3 {
            grow()
            found = look(key.word)
        }
        let place = pool.take()
        pool[place].key = key.word
        pool[place].number = number
        index[found.slot] = Self.tag(key.word) | UInt64(place)
        return place
    }

    private mutating func grow() {
        let (old, count) = (index, mask + 1)
        mask = count * 2 - 1
        index = Self.emptyIndex(count * 2)
        for entry in UnsafeBufferPointer(start: old, count: count) where entry != 0 {
            var slot = slot(entry)
            while index[slot] != 0 { slot = (slot &+ 1) & mask }
            index[slot] = entry
        }
        HugeMemory.free(UnsafeMutableRawPointer(old))
    }
}
