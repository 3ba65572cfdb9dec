/// HPACK's Huffman code (RFC 7541 section 5.2, appendix B), decoded by a state machine that takes four bits a step.
///
/// A state is a place inside the code tree; as no code is shorter than five bits, a step finishes at most one symbol. The
/// machine is 257 states × 16 steps × 4 bytes = 16 KB, of which usual text touches a cache line for each of a few dozen
/// states. Cost: about 7 cycles a step (a dependent load), so some 4 ns a byte of usual text.
enum HPACKHuffman {
    /// Bits in the code of each byte, and of the end of string (EOS) at 256. The code is canonical: codes of one length are
    /// consecutive in the order of their symbols and follow the shorter ones, so the lengths are all there is to know.
    static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ]

    static let endOfString = 256

    /// The codes themselves, in the low bits.
    static let codes: [UInt32] = {
        var codes = [UInt32](repeating: 0, count: lengths.count)
        var code: UInt32 = 0
        for length in UInt8(1)...30 {
            for symbol in 0..<lengths.count where lengths[symbol] == length {
                codes[symbol] = code
                code += 1
            }
            code <<= 1
        }
        return codes
    }()

    /// The state machine, made once and never freed: entry `state × 16 + four bits` holds the byte finished in bits 0...7,
    /// whether one was finished in bit 8, whether the string may end here in bit 9, and the next state × 16 from bit 16.
    nonisolated(unsafe) static let machine: UnsafePointer<UInt32> = {
        // A tree of 256 inner nodes; a child below 0 is the symbol -1 - child.
        var children = [[Int]](repeating: [0, 0], count: 1)
        for symbol in 0..<lengths.count {
            var node = 0
            for bit in (0..<Int(lengths[symbol])).reversed() {
                let side = Int(codes[symbol] >> UInt32(bit) & 1)
                if bit == 0 {
                    children[node][side] = -1 - symbol
                } else {
                    if children[node][side] == 0 {
                        children.append([0, 0])
                        children[node][side] = children.count - 1
                    }
                    node = children[node][side]
                }
            }
        }
        // Padding is at most seven bits of the end-of-string code, which is all ones.
        var mayEnd = Set([0])
        var node = 0
        for _ in 0..<7 {
            node = children[node][1]
            mayEnd.insert(node)
        }
        let failed = children.count
        let machine = UnsafeMutablePointer<UInt32>.allocate(capacity: (failed + 1) * 16)
        for state in 0...failed {
            for bits in 0..<16 {
                var node = state
                var finished: UInt32 = 0
                for bit in (0..<4).reversed() where node != failed {
                    node = children[node][bits >> bit & 1]
                    guard node < 0 else { continue }
                    let symbol = -1 - node
                    node = symbol == endOfString ? failed : 0
                    if symbol != endOfString { finished = 0x100 | UInt32(symbol) }
                }
                let end: UInt32 = mayEnd.contains(node) ? 0x200 : 0
                machine[state * 16 + bits] = UInt32(node * 16) << 16 | end | finished
            }
        }
        return UnsafePointer(machine)
    }()

    /// Decodes a string of `count` bytes into `scratch`; returns its length, or nil when the code is broken or the result
    /// has more than `HPACKScratch.mostBytes`.
    static func decode(
        _ input: UnsafePointer<UInt8>, _ count: Int, _ machine: UnsafePointer<UInt32>, into scratch: inout HPACKScratch
    ) -> Int? {
        // No code is shorter than five bits: at most 8/5 of the input, and two symbols a byte.
        scratch.reserve(count &* 2)
        let output = scratch.bytes
        let capacity = scratch.capacity
        var length = 0
        var entry: UInt32 = 0x200
        var position = 0
        while position < count {
            // As many as there is certainly room for; none when the string is larger than the scratch may get.
            let end = min(count, position &+ (capacity &- length) / 2)
            guard position < end else { return nil }
            while position < end {
                let byte = Int(input[position])
                entry = machine[Int(entry >> 16) | byte >> 4]
                output[length] = UInt8(truncatingIfNeeded: entry)
                length &+= Int(entry >> 8 & 1)
                entry = machine[Int(entry >> 16) | byte & 15]
                output[length] = UInt8(truncatingIfNeeded: entry)
                length &+= Int(entry >> 8 & 1)
                position &+= 1
            }
        }
        guard entry & 0x200 != 0, length <= HPACKScratch.mostBytes else { return nil }
        return length
    }
}
