import CRoaring
import Glibc

/// Names met while a file is read, each with the rows that have it: open addressing over hashes, names copied one behind the
/// other. Memory: about 100 bytes a name, and its rows compressed.
final class TagTable {
    /// How many names it takes.
    private let limit: Int
    @exclusivity(unchecked) private var slots: UnsafeMutablePointer<UInt32>
    @exclusivity(unchecked) private var mask: Int
    private let hashes = GrowingColumn<UInt64>()
    /// Where each name ends in `letters`; it begins where the one before ends.
    private let ends = GrowingColumn<Int>()
    private let letters = GrowingColumn<UInt8>()
    @exclusivity(unchecked) private var bitmaps: [UnsafeMutablePointer<roaring_bitmap_t>] = []
    private static let free = UInt32.max

    /// Rows that are in no bitmap yet: pairs of a name's number and a row. CRoaring takes many rows of one name at once for a
    /// fraction of what it takes for each.
    private let waiting: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) private var waitingCount = 0
    /// 2 MiB: what a core keeps near.
    private static let mostWaiting = 1 << 18

    init(limit: Int) {
        self.limit = limit
        mask = 255
        slots = .allocate(capacity: 256)
        slots.initialize(repeating: Self.free, count: 256)
        waiting = .allocate(capacity: Self.mostWaiting)
    }

    deinit {
        for bitmap in bitmaps { roaring_bitmap_free(bitmap) }
        slots.deallocate()
        waiting.deallocate()
    }

    var count: Int { bitmaps.count }

    func name(_ number: Int) -> UnsafeBufferPointer<UInt8> {
        let start = number == 0 ? 0 : ends.base[number - 1]
        return UnsafeBufferPointer(start: letters.base + start, count: ends.base[number] - start)
    }

    /// The number of a name, new ones included; nil when it is new and there are as many as it takes.
    @inline(__always)
    func number(_ base: UnsafePointer<UInt8>, _ count: Int, hash: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let here = slots[slot]
            if here == Self.free { return add(base, count, hash) }
            if hashes.base[Int(here)] == hash {
                let name = name(Int(here))
                if name.count == count, memcmp(name.baseAddress!, base, count) == 0 { return Int(here) }
            }
            slot = (slot + 1) & mask
        }
    }

    @inline(__always)
    func add(row: UInt32, to number: Int) {
        if waitingCount == Self.mostWaiting { gather() }
        waiting[waitingCount] = UInt64(number) << 32 | UInt64(row)
        waitingCount &+= 1
    }

    /// Puts what waits into the bitmaps: the rows of each name one behind the other, as they came.
    @inline(never)
    func gather() {
        let names = bitmaps.count
        let total = waitingCount
        guard total > 0 else { return }
        waitingCount = 0
        let ends = UnsafeMutablePointer<Int>.allocate(capacity: names + 1)
        let rows = UnsafeMutablePointer<UInt32>.allocate(capacity: total)
        defer {
            ends.deallocate()
            rows.deallocate()
        }
        ends.initialize(repeating: 0, count: names + 1)
        for at in 0..<total { ends[Int(waiting[at] >> 32) &+ 1] &+= 1 }
        for name in 0..<names { ends[name &+ 1] &+= ends[name] }
        // Where each begins; afterwards where it ends.
        for at in 0..<total {
            let name = Int(waiting[at] >> 32)
            rows[ends[name]] = UInt32(truncatingIfNeeded: waiting[at])
            ends[name] &+= 1
        }
        var start = 0
        for name in 0..<names {
            let end = ends[name]
            if end > start { roaring_bitmap_add_many(bitmaps[name], end - start, rows + start) }
            start = end
        }
    }

    @inline(never)
    private func add(_ base: UnsafePointer<UInt8>, _ count: Int, _ hash: UInt64) -> Int? {
        let number = bitmaps.count
        guard number < limit, let bitmap = roaring_bitmap_create_with_capacity(1) else { return nil }
        bitmaps.append(bitmap)
        hashes.append(hash)
        memcpy(letters.extend(count), base, count)
        ends.append(letters.count)
        if bitmaps.count * 2 > mask + 1 {
            slots.deallocate()
            mask = (mask + 1) * 4 - 1
            slots = .allocate(capacity: mask + 1)
            slots.initialize(repeating: Self.free, count: mask + 1)
            for number in 0..<bitmaps.count { place(number) }
        } else {
            place(number)
        }
        return number
    }

    private func place(_ number: Int) {
        var slot = Int(truncatingIfNeeded: hashes.base[number]) & mask
        while slots[slot] != Self.free { slot = (slot + 1) & mask }
        slots[slot] = UInt32(number)
    }

    /// Numbers in the order of their names.
    func sorted() -> [Int] {
        (0..<count).sorted {
            let (left, right) = (name($0), name($1))
            let order = memcmp(left.baseAddress!, right.baseAddress!, min(left.count, right.count))
            return order != 0 ? order < 0 : left.count < right.count
        }
    }

    /// Appends the rows of a name (all of them, once `gather` was called) in the frozen form to `output`, whose length is a multiple of 32 before and after, and frees them.
    ///
    /// - Returns: how many rows, and how many bytes the frozen form has.
    func freeze(_ number: Int, into output: GrowingColumn<UInt8>) -> (rows: UInt64, length: Int) {
        let bitmap = bitmaps[number]
        roaring_bitmap_run_optimize(bitmap)
        let rows = roaring_bitmap_get_cardinality(bitmap)
        let length = roaring_bitmap_frozen_size_in_bytes(bitmap)
        let padded = (length + 31) & ~31
        let place = output.extend(padded)
        memset(place, 0, padded)
        // Written to memory of any alignment: it is copied byte by byte.
        roaring_bitmap_frozen_serialize(bitmap, UnsafeMutableRawPointer(place).assumingMemoryBound(to: CChar.self))
        roaring_bitmap_clear(bitmap)
        return (rows, length)
    }
}
