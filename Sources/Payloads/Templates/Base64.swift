/// Base64 with padding (RFC 4648 section 4), without allocation: two digits a look-up.
struct Base64: ~Copyable {
    /// The two digits of every 12-bit number, the first in the lower byte; 8 KB.
    private let pairs: UnsafeMutablePointer<UInt16>

    init() {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        pairs = .allocate(capacity: 4096)
        for number in 0..<4096 {
            pairs[number] = (UInt16(digits[number >> 6]) | UInt16(digits[number & 63]) << 8).littleEndian
        }
    }

    deinit { pairs.deallocate() }

    /// Writes the digits of `count` bytes; returns how many there are.
    func encode(_ bytes: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let pairs = pairs
        let source = UnsafeRawPointer(bytes)
        let target = UnsafeMutableRawPointer(output)
        var read = 0
        var write = 0
        // Six of the eight bytes loaded become eight digits.
        while read &+ 8 <= count {
            let bits = UInt64(bigEndian: source.loadUnaligned(fromByteOffset: read, as: UInt64.self))
            let first = UInt64(pairs[Int(truncatingIfNeeded: bits &>> 52)])
            let second = UInt64(pairs[Int(truncatingIfNeeded: bits &>> 40 & 4095)])
            let third = UInt64(pairs[Int(truncatingIfNeeded: bits &>> 28 & 4095)])
            let fourth = UInt64(pairs[Int(truncatingIfNeeded: bits &>> 16 & 4095)])
            target.storeBytes(
                of: first | second &<< 16 | third &<< 32 | fourth &<< 48, toByteOffset: write, as: UInt64.self)
            read &+= 6
            write &+= 8
        }
        while read < count {
            let rest = count &- read
            let second = rest > 1 ? Int(bytes[read &+ 1]) : 0
            let word = Int(bytes[read]) &<< 16 | second &<< 8 | (rest > 2 ? Int(bytes[read &+ 2]) : 0)
            target.storeBytes(of: pairs[word &>> 12], toByteOffset: write, as: UInt16.self)
            target.storeBytes(of: pairs[word & 4095], toByteOffset: write &+ 2, as: UInt16.self)
            if rest < 3 { output[write &+ 3] = 0x3D }
            if rest < 2 { output[write &+ 2] = 0x3D }
            read &+= 3
            write &+= 4
        }
        return write
    }

    /// Reads digits with padding; nil where they are none. The bytes are three for four digits, at most.
    static func decode(_ digits: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>) -> Int? {
        guard digits.count % 4 == 0 else { return nil }
        var padding = 0
        while padding < 2, padding < digits.count, digits[digits.count - 1 - padding] == 0x3D { padding += 1 }
        var write = 0
        for start in stride(from: 0, to: digits.count, by: 4) {
            var word = 0
            for place in start..<(start + 4) {
                let isPadding = place >= digits.count - padding
                guard let value = isPadding ? 0 : value(digits[place]) else { return nil }
                word = word << 6 | value
            }
            let count = start + 4 == digits.count ? 3 - padding : 3
            for number in 0..<count { output[write + number] = UInt8(word >> (16 - 8 * number) & 255) }
            write += count
        }
        return write
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case 65...90: Int(digit) - 65
        case 97...122: Int(digit) - 71
        case 48...57: Int(digit) + 4
        case 43: 62
        case 47: 63
        default: nil
        }
    }
}
