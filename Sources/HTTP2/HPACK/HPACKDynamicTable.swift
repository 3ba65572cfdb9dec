/// A decoder's dynamic table (RFC 7541 sections 2.3.2 and 4): a ring of entries, whose names and values lie in one arena.
///
/// The arena is twice the table's storage, and entries are written one after the other, each in one piece, from the
/// beginning again when the rest is too short. That never touches a live entry: live ones and the new one together fit
/// half the arena, and a rest that was too short lies behind more than half an arena of newer entries. Nothing is allocated
/// for an entry; storage begins with at most 512 bytes and doubles when entries need it, up to the limit that was announced.
struct HPACKDynamicTable: ~Copyable {
    /// The size in effect: at most the limit that was announced, less when the peer chose so.
    private(set) var capacity: Int
    /// Bytes of the entries in the sense of section 4.1.
    private(set) var used = 0
    private(set) var count = 0
    /// Changes so far.
    private(set) var version = 0

    /// Bytes of entries there is memory for.
    private var storage: Int
    private var entries: UnsafeMutablePointer<HPACKField>
    /// Places in the ring less one; the places are a power of two.
    private var mask: Int
    /// Insertions so far: the newest entry is at `(insertions - 1) & mask`.
    private var insertions = 0
    private var arena: UnsafeMutablePointer<UInt8>
    private var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        storage = min(capacity, 512)
        (entries, mask, arena) = Self.allocate(storage)
    }

    deinit {
        entries.deallocate()
        arena.deallocate()
    }

    /// An entry takes 32 bytes at least, so `storage / 32` places are enough.
    private static func allocate(
        _ storage: Int
    ) -> (UnsafeMutablePointer<HPACKField>, mask: Int, UnsafeMutablePointer<UInt8>) {
        var places = 1
        while places < storage / 32 { places *= 2 }
        return (.allocate(capacity: places), places - 1, .allocate(capacity: max(1, storage * 2)))
    }

    /// - Parameter age: 0 is the newest; below `count`.
    @inline(__always)
    subscript(age: Int) -> HPACKField { entries[(insertions &- 1 &- age) & mask] }

    func holds(_ text: UnsafePointer<UInt8>) -> Bool { text >= arena && text < arena + storage * 2 }

    mutating func setCapacity(_ size: Int) {
        version &+= 1
        capacity = size
        evict(downTo: size)
    }

    private mutating func evict(downTo size: Int) {
        while used > size {
            count &-= 1
            used &-= self[count].tableSize
        }
    }

    /// Inserts a field whose name may belong to an entry that goes for it (section 4.4), and points the field at the copy.
    /// A field larger than the table empties it, and keeps its pointers, which stay valid until the next insertion.
    mutating func insert(_ field: inout HPACKField) {
        version &+= 1
        let size = field.tableSize
        guard size <= capacity else {
            evict(downTo: 0)
            return
        }
        evict(downTo: capacity &- size)
        // The name may lie in the arena that is outgrown.
        let outgrown = used &+ size > storage ? grow(used &+ size) : nil
        let length = field.nameLength &+ field.valueLength
        if end &+ length > storage &* 2 { end = 0 }
        let start = arena + end
        // The name first: the new copy may overlap the old one. The value is never in the arena.
        start.update(from: field.name, count: field.nameLength)
        (start + field.nameLength).update(from: field.value, count: field.valueLength)
        field.name = UnsafePointer(start)
        field.value = UnsafePointer(start + field.nameLength)
        entries[insertions & mask] = field
        end &+= length
        insertions &+= 1
        count &+= 1
        used &+= size
        outgrown?.deallocate()
    }

    /// Makes room for `size` bytes of entries; returns the arena up to now, which the caller deallocates.
    private mutating func grow(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        let former = (entries: entries, arena: arena)
        let kept = (0..<count).reversed().map { self[$0] }
        storage = min(max(storage * 2, size), capacity)
        (entries, mask, arena) = Self.allocate(storage)
        insertions = 0
        end = 0
        for var entry in kept {
            let start = arena + end
            start.update(from: entry.name, count: entry.nameLength)
            (start + entry.nameLength).update(from: entry.value, count: entry.valueLength)
            entry.name = UnsafePointer(start)
            entry.value = UnsafePointer(start + entry.nameLength)
            entries[insertions] = entry
            end += entry.nameLength + entry.valueLength
            insertions += 1
        }
        former.entries.deallocate()
        return former.arena
    }
}
