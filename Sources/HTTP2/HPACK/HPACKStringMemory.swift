import Glibc

/// The last few long Huffman-coded values with what they decode to: clients that index nothing send the same 200-byte
/// `authorization` with every request, and comparing it (about 10 ns) costs a fraction of decoding it.
///
/// Equal bytes always decode to equal bytes, so a remembered value never changes a result; the mark only says which one to
/// compare with and to replace.
struct HPACKStringMemory: ~Copyable {
    private struct Slot {
        var mark: UInt8 = 0
        /// 0 when nothing is remembered.
        var encodedLength = 0
        var decodedLength = 0
    }

    /// Shorter ones are decoded as fast.
    static let leastBytes = 32
    /// Of the encoded and of the decoded value.
    static let mostBytes = 1024
    private static let count = 4

    private let slots: UnsafeMutablePointer<Slot>
    /// For each slot the encoded bytes, then the decoded ones; nil until the first value comes, which it seldom does.
    private var bytes: UnsafeMutablePointer<UInt8>?
    private var oldest = 0

    init() {
        slots = .allocate(capacity: Self.count)
        slots.initialize(repeating: Slot(), count: Self.count)
    }

    deinit {
        slots.deallocate()
        bytes?.deallocate()
    }

    /// What the encoded value decodes to, valid until `remember`.
    @inline(__always)
    func find(
        _ mark: UInt8, _ encoded: UnsafePointer<UInt8>, _ count: Int
    ) -> (value: UnsafePointer<UInt8>, length: Int)? {
        guard let bytes else { return nil }
        for place in 0..<Self.count where slots[place].mark == mark && slots[place].encodedLength == count {
            let known = bytes + place &* 2 &* Self.mostBytes
            if memcmp(known, encoded, count) == 0 {
                return (UnsafePointer(known + Self.mostBytes), slots[place].decodedLength)
            }
        }
        return nil
    }

    /// Remembers a value in place of the last one with its mark, or of the oldest.
    mutating func remember(
        _ mark: UInt8, _ encoded: UnsafePointer<UInt8>, _ count: Int, _ decoded: UnsafePointer<UInt8>,
        _ decodedLength: Int
    ) {
        guard count >= Self.leastBytes, count <= Self.mostBytes, decodedLength <= Self.mostBytes else { return }
        if bytes == nil { bytes = .allocate(capacity: Self.count * 2 * Self.mostBytes) }
        guard let bytes else { return }
        var place = oldest
        if let known = (0..<Self.count).first(where: { slots[$0].encodedLength > 0 && slots[$0].mark == mark }) {
            place = known
        } else {
            oldest = (oldest + 1) % Self.count
        }
        slots[place] = Slot(mark: mark, encodedLength: count, decodedLength: decodedLength)
        let start = bytes + place * 2 * Self.mostBytes
        start.update(from: encoded, count: count)
        (start + Self.mostBytes).update(from: decoded, count: decodedLength)
    }
}
