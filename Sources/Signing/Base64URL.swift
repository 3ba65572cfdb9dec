/// Base64 with the URL alphabet and no padding: RFC 4648 section 5, as JWS asks (RFC 7515 section 2).
enum Base64URL {
    static let alphabet: [UInt8] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Digits that `count` bytes take.
    static func encodedLength(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// Writes the digits of `count` bytes; returns how many there are. Allocates nothing.
    static func encode(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        alphabet.withUnsafeBufferPointer { digits in
            var read = 0
            var write = 0
            while read < count {
                let first = bytes[read]
                let second = read + 1 < count ? bytes[read + 1] : 0
                let third = read + 2 < count ? bytes[read + 2] : 0
                output[write] = digits[Int(first >> 2)]
                output[write + 1] = digits[Int((first & 3) << 4 | second >> 4)]
                write += 2
                if read + 1 < count {
                    output[write] = digits[Int((second & 15) << 2 | third >> 6)]
                    write += 1
                }
                if read + 2 < count {
                    output[write] = digits[Int(third & 63)]
                    write += 1
                }
                read += 3
            }
            return write
        }
    }

    /// The bytes behind the digits; nil on a foreign character, an impossible length, or set bits past the end.
    static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(text.count * 3 / 4)
        var accumulator: UInt32 = 0
        var bits = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case 65...90: value = byte - 65
            case 97...122: value = byte - 71
            case 48...57: value = byte + 4
            case 45: value = 62
            case 95: value = 63
            default: return nil
            }
            accumulator = accumulator << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
                accumulator &= (1 << UInt32(bits)) - 1
            }
        }
        return accumulator == 0 ? output : nil
    }
}
