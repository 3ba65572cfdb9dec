import CVector

/// Base64 with padding (RFC 4648 section 4), without allocation: sixteen digits at once, and two a look-up.
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
        let read = pushload_base64(bytes, count, output)
        return read / 3 * 4 &+ encodePlainly(bytes + read, count &- read, into: output + read / 3 * 4)
    }

    /// The same on every processor.
    func encodePlainly(_ bytes: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>) -> Int {
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

    /// Of each byte the six bits that it stands for as a digit; 255: it is none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.enumerated() {
            values[Int(digit)] = UInt8(value)
        }
        return values
    }()

    /// Reads digits with padding; nil where they are none. The bytes are three for four digits, at most.
    static func decode(_ digits: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>) -> Int? {
        guard digits.count % 4 == 0 else { return nil }
        var padding = 0
        while padding < 2, padding < digits.count, digits[digits.count - 1 - padding] == 0x3D { padding += 1 }
        let end = digits.count - padding
        return values.withUnsafeBufferPointer { values in
            var (word, bits, write) = (UInt32(0), 0, 0)
            for place in 0..<end {
                let value = values[Int(digits[place])]
                if value == 255 { return nil }
                word = word &<< 6 | UInt32(value)
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    output[write] = UInt8(truncatingIfNeeded: word &>> UInt32(bits))
                    write += 1
                }
            }
            return write
        }
    }
}
