/// Writes strings in HPACK's Huffman code (RFC 7541 section 5.2), the table being `HPACKHuffman`'s.
///
/// Two bytes are looked up at once, and four a step where all are usual text: digits, letters, most punctuation. Of the pairs'
/// table (256 KB, made when first asked for) the digits of device tokens touch 2 KB. Cost: 51 instructions for four bytes, 930
/// for a path of 74 (`make bench-instructions`, header-block-huffman beside header-block), measured as 40 ns a push.
struct HPACKHuffmanEncoder {
    /// By two bytes, the first the low one: the codes of both, one after the other, from bit 8, and how many bits in bits
    /// 0...7; 0 where it is more than 16 bits.
    private let pairs = Self.allPairs
    /// By a byte: its code from bit 8, and its bits.
    private let singles = Self.allSingles

    private nonisolated(unsafe) static let allSingles: UnsafePointer<UInt64> = {
        let table = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
        for byte in 0..<256 {
            table[byte] = UInt64(HPACKHuffman.codes[byte]) << 8 | UInt64(HPACKHuffman.lengths[byte])
        }
        return UnsafePointer(table)
    }()

    private nonisolated(unsafe) static let allPairs: UnsafePointer<UInt32> = {
        let table = UnsafeMutablePointer<UInt32>.allocate(capacity: 65_536)
        for second in 0..<256 {
            for first in 0..<256 {
                let (one, two) = (allSingles[first], allSingles[second])
                let bits = one & 0xFF + two & 0xFF
                let code = (one >> 8) << (two & 0xFF) | two >> 8
                table[second << 8 | first] = bits <= 16 ? UInt32(code << 8 | bits) : 0
            }
        }
        return UnsafePointer(table)
    }()

    /// Writes `count` bytes coded, when that is shorter.
    ///
    /// - Parameter output: room for `count` + 8 bytes.
    /// - Returns: how many bytes the code has, fewer than `count`; nil when it would not be shorter.
    @inline(__always)
    func encode(
        _ input: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> Int? {
        // Bits not written yet, from the top; between steps at most seven, and no step adds more than 32.
        var bits: UInt64 = 0
        var filled: UInt64 = 0
        var length = 0
        var position = 0
        while position < count {
            let code: UInt64
            let added: UInt64
            let first = position
            if let four = usualText(input, position, count) {
                (code, added) = four
                position = first &+ 4
            } else {
                let single = singles[Int(input[first])]
                (code, added) = (single >> 8, single & 0xFF)
                position = first &+ 1
            }
            filled &+= added
            bits |= code &<< (64 &- filled)
            UnsafeMutableRawPointer(output + length).storeBytes(of: bits.bigEndian, as: UInt64.self)
            length &+= Int(filled &>> 3)
            bits = bits &<< (filled & 0x38)
            filled &= 7
            if length >= count { return nil }
        }
        guard filled > 0 else { return count > 0 ? length : nil }
        // Filled up with the end-of-string code's first bits, which are ones.
        guard length &+ 1 < count else { return nil }
        output[length] = UInt8(truncatingIfNeeded: bits &>> 56) | UInt8(truncatingIfNeeded: 0xFF &>> filled)
        return length &+ 1
    }

    /// The codes of four bytes, one after the other, and how many bits they are; nil where not both pairs are in the table.
    @inline(__always)
    private func usualText(
        _ input: UnsafePointer<UInt8>, _ position: Int, _ count: Int
    ) -> (code: UInt64, bits: UInt64)? {
        guard position &+ 4 <= count else { return nil }
        let four = UInt32(littleEndian: UnsafeRawPointer(input + position).loadUnaligned(as: UInt32.self))
        let (one, two) = (pairs[Int(four & 0xFFFF)], pairs[Int(four &>> 16)])
        guard one != 0, two != 0 else { return nil }
        let bits = UInt64(two & 0xFF)
        return (UInt64(one &>> 8) &<< bits | UInt64(two &>> 8), UInt64(one & 0xFF) &+ bits)
    }
}
