import CRoaring
import Glibc

/// Names met while a file is read, each with the rows that have it: open addressing over hashes, names copied one behind the
/// other. Memory: about 100 bytes a name, and its rows compressed.
final class TagTable {
    /// How many names it takes.
    private let limit: Int
    private var slots: [UInt32]
    private let hashes = GrowingColumn<UInt64>()
    /// Where each name ends in `letters`; it begins where the one before ends.
    private let ends = GrowingColumn<Int>()
    private let letters = GrowingColumn<UInt8>()
    private var bitmaps: [UnsafeMutablePointer<roaring_bitmap_t>] = []
    private static let free = UInt32.max

    init(limit: Int) {
        self.limit = limit
        slots = [UInt32](repeating: Self.free, count: 256)
    }

    deinit { for bitmap in bitmaps { roaring_bitmap_free(bitmap) } }

    var count: Int { bitmaps.count }

    func name(_ number: Int) -> UnsafeBufferPointer<UInt8> {
        let start = number == 0 ? 0 : ends.base[number - 1]
        return UnsafeBufferPointer(start: letters.base + start, count: ends.base[number] - start)
    }

    /// The number of a name, new ones included; nil when it is new and there are as many as it takes.
    @inline(__always)
    func number(_ base: UnsafePointer<UInt8>, _ count: Int, hash: UInt64) -> Int? {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let here = slots.withUnsafeBufferPointer { $0[slot] }
            if here == Self.free { return add(base, count, hash) }
            if hashes.base[Int(here)] == hash {
                let name = name(Int(here))
                if name.count == count, memcmp(name.baseAddress!, base, count) == 0 { return Int(here) }
            }
            slot = (slot + 1) & mask
        }
    }

    @inline(__always)
    func add(row: UInt32, to number: Int) { roaring_bitmap_add(bitmaps[number], row) }

    @inline(never)
    private func add(_ base: UnsafePointer<UInt8>, _ count: Int, _ hash: UInt64) -> Int? {
        let number = bitmaps.count
        guard number < limit, let bitmap = roaring_bitmap_create_with_capacity(1) else { return nil }
        bitmaps.append(bitmap)
        hashes.append(hash)
        memcpy(letters.extend(count), base, count)
        ends.append(letters.count)
        if bitmaps.count * 2 > slots.count {
            slots = [UInt32](repeating: Self.free, count: slots.count * 4)
            for number in 0..<bitmaps.count { place(number) }
        } else {
            place(number)
        }
        return number
    }

    private func place(_ number: Int) {
        let mask = slots.count - 1
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

    /// Appends the rows of a name in the frozen form to `output`, whose length is a multiple of 32 before and after, and frees them.
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
