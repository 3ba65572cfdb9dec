import CRoaring
import Glibc
import Payloads

/// Rows of a registrations file, compressed (Roaring: 65,536 rows at a time as a list, a bitset or runs, whichever is smallest).
///
/// It owns its CRoaring bitmap, or borrows one that lies frozen in memory which `owner` keeps. Never changed once it was
/// handed out, so that threads may share it.
package final class RowSet: @unchecked Sendable {
    let bitmap: UnsafePointer<roaring_bitmap_t>
    /// Keeps the memory that a frozen view points into.
    private let owner: AnyObject?

    /// No rows.
    package init() {
        bitmap = UnsafePointer(roaring_bitmap_create())
        owner = nil
    }

    /// - Parameter rows: in any order; ascending is cheapest.
    package init(rows: some Sequence<UInt32>) {
        let made = roaring_bitmap_create()!
        owner = nil
        bitmap = UnsafePointer(made)
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 4096) { buffer in
            guard let base = buffer.baseAddress else { return }
            var filled = 0
            for row in rows {
                base[filled] = row
                filled += 1
                if filled == 4096 {
                    roaring_bitmap_add_many(made, filled, base)
                    filled = 0
                }
            }
            roaring_bitmap_add_many(made, filled, base)
        }
        roaring_bitmap_run_optimize(made)
    }

    package init(range: Range<UInt32>) {
        owner = nil
        let made = roaring_bitmap_create()!
        // The upper bound of this call is exclusive.
        if !range.isEmpty {
            roaring_bitmap_add_range_closed(made, range.lowerBound, range.upperBound - 1)
            roaring_bitmap_run_optimize(made)
        }
        bitmap = UnsafePointer(made)
    }

    /// Takes over what CRoaring made.
    private init(owning made: UnsafeMutablePointer<roaring_bitmap_t>?) {
        bitmap = UnsafePointer(made ?? roaring_bitmap_create())
        owner = nil
    }

    /// A view of a bitmap that was frozen before; nothing is copied.
    ///
    /// - Parameter bytes: aligned to 32 bytes, and exactly what was written. `FrozenCheck` has found them sound: CRoaring looks at the
    ///   lengths only.
    /// - Parameter owner: keeps `bytes`.
    init?(frozen bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        guard let base = bytes.baseAddress, UInt(bitPattern: base) % 32 == 0,
            let view = roaring_bitmap_frozen_view(base.assumingMemoryBound(to: CChar.self), bytes.count)
        else { return nil }
        bitmap = view
        self.owner = owner
    }

    deinit { roaring_bitmap_free(bitmap) }

    /// How many rows.
    package var count: UInt64 { roaring_bitmap_get_cardinality(bitmap) }

    package var isEmpty: Bool { roaring_bitmap_is_empty(bitmap) }

    package func contains(_ row: UInt32) -> Bool { roaring_bitmap_contains(bitmap, row) }

    package func union(_ other: RowSet) -> RowSet { RowSet(owning: roaring_bitmap_or(bitmap, other.bitmap)) }

    package func intersection(_ other: RowSet) -> RowSet { RowSet(owning: roaring_bitmap_and(bitmap, other.bitmap)) }

    package func subtracting(_ other: RowSet) -> RowSet { RowSet(owning: roaring_bitmap_andnot(bitmap, other.bitmap)) }

    /// How many rows both have, without making the set of them.
    package func intersectionCount(_ other: RowSet) -> UInt64 { roaring_bitmap_and_cardinality(bitmap, other.bitmap) }

    /// The rows that any of the sets has.
    package static func union(_ sets: [RowSet]) -> RowSet {
        var pointers: [UnsafePointer<roaring_bitmap_t>?] = sets.map(\.bitmap)
        let made = withExtendedLifetime(sets) { roaring_bitmap_or_many(pointers.count, &pointers) }
        return RowSet(owning: made)
    }

    /// Ascending.
    package func forEach(_ body: (UInt32) -> Void) {
        let iterator = roaring_create_iterator(bitmap)!
        defer { roaring_free_uint32_iterator(iterator) }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1024) { buffer in
            guard let base = buffer.baseAddress else { return }
            while true {
                let read = roaring_read_uint32_iterator(iterator, base, 1024)
                for index in 0..<Int(read) { body(base[index]) }
                if read < 1024 { return }
            }
        }
    }
}

extension RowSet {
    /// The same rows as what pushes are sent by.
    ///
    /// - Parameter total: how many rows the file has.
    package func selection(of total: UInt32) -> DeviceSelection { DeviceSelection(of: total, chosen: forEach) }
}
