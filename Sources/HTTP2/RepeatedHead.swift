import Glibc

/// What the last header block said that went through HPACK's inflater, for as long as the same bytes come again: servers answer most
/// pushes with the same fields. Where such a block puts entries into the dynamic table, as nginx does with each answer, the inflater is
/// told so only when another block comes, and of no more of them than the table has room for.
///
/// Known are blocks of at most `capacity` bytes whose fields do not depend on what the table holds when they come: those that refer
/// to the static table only, and those that refer to entries but add none, until the table changes (RFC 7541 sections 2.3.3 and 6).
struct RepeatedHead {
    private static let capacity = 512
    private static let staticEntries = 61
    /// Owned here, taken with the first block that is kept.
    private var bytes: UnsafeMutablePointer<UInt8>?
    /// 0: none is known.
    private var count = 0
    private var head = StatusDecoder.Head(status: 0)
    private var adds = false
    /// Times the block came without the inflater being told, of a block that adds entries.
    private(set) var owed = 0

    func free() { bytes?.deallocate() }

    /// - Returns: what the block says; nil: it is another one.
    @inline(__always)
    mutating func find(_ block: UnsafePointer<UInt8>, _ length: Int) -> StatusDecoder.Head? {
        guard length == count, length > 0, let bytes, memcmp(block, bytes, length) == 0 else { return nil }
        if adds { owed &+= 1 }
        return head
    }

    /// Calls `body` with the block, as often as the inflater has yet to be told to have the table that it would have.
    ///
    /// - Parameter entries: the most that the table can hold.
    /// - Returns: false as soon as `body` does.
    mutating func settle(entries: Int, _ body: (UnsafePointer<UInt8>, Int) -> Bool) -> Bool {
        defer { owed = 0 }
        guard let bytes else { return true }
        for _ in 0..<min(owed, entries) where !body(bytes, count) { return false }
        return true
    }

    /// The table may have changed.
    mutating func forget() { count = 0 }

    mutating func keep(_ block: UnsafePointer<UInt8>, _ length: Int, _ head: StatusDecoder.Head) {
        guard length <= Self.capacity, let adds = Self.addsEntries(block, length) else { return }
        let memory = bytes ?? .allocate(capacity: Self.capacity)
        memory.update(from: block, count: length)
        (bytes, count, self.head, self.adds) = (memory, length, head, adds)
    }

    /// - Returns: nil: the block is none that can be kept.
    private static func addsEntries(_ block: UnsafePointer<UInt8>, _ length: Int) -> Bool? {
        var (adds, refers) = (false, false)
        var place = 0
        /// RFC 7541 section 5.1; nil at the block's end, or beyond any length that fits here.
        func integer(_ bits: Int) -> Int? {
            guard place < length else { return nil }
            let most = 1 << bits - 1
            var value = Int(block[place]) & most
            place += 1
            guard value == most else { return value }
            var shift = 0
            while place < length, shift < 28 {
                let byte = Int(block[place])
                place += 1
                value += (byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
        func skipText() -> Bool {
            guard let count = integer(7), count <= length - place else { return false }
            place += count
            return true
        }
        while place < length {
            let first = block[place]
            if first & 0x80 != 0 {
                guard let index = integer(7) else { return nil }
                if index > staticEntries { refers = true }
                continue
            }
            // The table's size changes.
            if first & 0xE0 == 0x20 { return nil }
            if first & 0x40 != 0 { adds = true }
            guard let index = integer(first & 0x40 != 0 ? 6 : 4) else { return nil }
            if index > staticEntries { refers = true }
            if index == 0, !skipText() { return nil }
            if !skipText() { return nil }
        }
        return adds && refers ? nil : adds
    }
}
