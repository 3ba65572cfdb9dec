/// Writing numbers as text, without allocation.
enum Digits {
    /// Two hexadecimal digits for every byte value, lower case.
    nonisolated(unsafe) private static let hexPairs: UnsafeMutablePointer<UInt16> = {
        let table = UnsafeMutablePointer<UInt16>.allocate(capacity: 256)
        let digits = Array("0123456789abcdef".utf8)
        for value in 0..<256 {
            table[value] = UInt16(digits[value >> 4]) | UInt16(digits[value & 15]) << 8
        }
        return table
    }()

    /// Sixteen lower-case hexadecimal digits.
    @inline(__always)
    static func writeHex(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        let pairs = hexPairs
        let target = UnsafeMutableRawPointer(output)
        for byte in 0..<8 {
            let shift = UInt64(56 &- byte &* 8)
            target.storeBytes(
                of: pairs[Int((value >> shift) & 0xFF)].littleEndian, toByteOffset: byte &* 2, as: UInt16.self)
        }
    }

    /// Decimal digits, 1…20; returns how many.
    @inline(__always)
    static func writeDecimal(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while count < 20, value >= bound {
            count &+= 1
            bound = count < 20 ? bound &* 10 : .max
        }
        var rest = value
        var position = count
        while position > 0 {
            position &-= 1
            output[position] = UInt8(truncatingIfNeeded: rest % 10) &+ 48
            rest /= 10
        }
        return count
    }

    /// Most digits of numbers up to `value`.
    static func decimalLength(_ value: UInt64) -> Int { String(value).utf8.count }
}
