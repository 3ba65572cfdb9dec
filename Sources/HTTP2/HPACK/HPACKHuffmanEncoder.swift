/// Writes strings in HPACK's Huffman code (RFC 7541 section 5.2), the table being `HPACKHuffman`'s.
///
/// Two bytes are looked up at once, and four a step where all are usual text: digits, letters, most punctuation. Of the pairs'
/// table (256 KB, made when first asked for) the digits of device tokens touch 2 KB. Cost: some 4 instructions a byte, 300
/// for a path of 74 bytes (`make bench-instructions`, header-block-huffman beside header-block).
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
    /// - Parameter output: room for `count` + 4 bytes.
    /// - Returns: how many bytes the code has, fewer than `count`; nil when it would not be shorter.
    @inline(__always)
    func encode(
        _ input: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> Int? {
        // The low `filled` bits of `bits` are not written yet; at most 31 between steps, and no step adds more than 32.
        var bits: UInt64 = 0
        var filled: UInt64 = 0
        var length = 0
        var position = 0
        while position < count {
            var isTaken = false
            if position &+ 4 <= count {
                let four = UInt32(littleEndian: UnsafeRawPointer(input + position).loadUnaligned(as: UInt32.self))
                let (one, two) = (pairs[Int(four & 0xFFFF)], pairs[Int(four >> 16)])
                if one != 0, two != 0 {
                    let (oneBits, twoBits) = (UInt64(one & 0xFF), UInt64(two & 0xFF))
                    bits = (bits &<< oneBits | UInt64(one >> 8)) &<< twoBits | UInt64(two >> 8)
                    filled &+= oneBits &+ twoBits
                    position &+= 4
                    isTaken = true
                }
            }
            if !isTaken {
                let single = singles[Int(input[position])]
                bits = bits &<< (single & 0xFF) | single >> 8
                filled &+= single & 0xFF
                position &+= 1
            }
            if filled >= 32 {
                if length &+ 4 >= count { return nil }
                filled &-= 32
                UnsafeMutableRawPointer(output + length).storeBytes(
                    of: UInt32(truncatingIfNeeded: bits &>> filled).bigEndian, as: UInt32.self)
                length &+= 4
            }
        }
        // Filled up with the end-of-string code's first bits, which are ones.
        let padding = (8 &- (filled & 7)) & 7
        bits = bits &<< padding | ((1 &<< padding) &- 1)
        filled &+= padding
        guard length &+ Int(filled >> 3) < count else { return nil }
        while filled > 0 {
            filled &-= 8
            output[length] = UInt8(truncatingIfNeeded: bits &>> filled)
            length &+= 1
        }
        return length
    }
}
