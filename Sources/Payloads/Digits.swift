/// Writing numbers as text, without allocation and, up to eight decimal digits, without a branch.
enum Digits {
    /// Most bytes `writeDecimal` touches, however few digits it writes.
    static let decimalRoom = 20

    /// Sixteen lower-case hexadecimal digits.
    @inline(__always)
    static func writeHex(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        let bytes = value.bigEndian
        let high = unsafeBitCast((bytes &>> 4) & 0x0F0F_0F0F_0F0F_0F0F, to: SIMD8<UInt8>.self)
        let low = unsafeBitCast(bytes & 0x0F0F_0F0F_0F0F_0F0F, to: SIMD8<UInt8>.self)
        // Spelled out, as setting `evenHalf` and `oddHalf` or comparing lanes goes through memory lane by lane.
        let digits = SIMD16<UInt8>(
            high[0], low[0], high[1], low[1], high[2], low[2], high[3], low[3],
            high[4], low[4], high[5], low[5], high[6], low[6], high[7], low[7])
        // 1 in each lane that holds 10…15: from "0" on to "a" there are 39 more.
        let carried = unsafeBitCast(digits &+ 6, to: SIMD2<UInt64>.self) &>> 4
        let isLetter = unsafeBitCast(carried & 0x0101_0101_0101_0101, to: SIMD16<UInt8>.self)
        let text = digits &+ 48 &+ ((SIMD16<UInt8>() &- isLetter) & 39)
        UnsafeMutableRawPointer(output).storeBytes(of: text, as: SIMD16<UInt8>.self)
    }

    /// Decimal digits, 1…20; returns how many. Bytes after them may change, up to `decimalRoom` in all.
    @inline(__always)
    static func writeDecimal(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        value < 100_000_000
            ? writeShort(UInt32(truncatingIfNeeded: value), into: output) : writeLong(value, into: output)
    }

    /// Decimal digits of a number below 10^8, 1…8; returns how many. Touches eight bytes.
    @inline(__always)
    static func writeShort(_ value: UInt32, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let digits = eight(value)
        // The bit set in the last digit stops the count there: zero keeps one digit.
        let zeroBits = (digits | 1 &<< 63).trailingZeroBitCount & 56
        let text = (digits | asciiZeros) &>> UInt64(truncatingIfNeeded: zeroBits)
        UnsafeMutableRawPointer(output).storeBytes(of: text.littleEndian, as: UInt64.self)
        return 8 &- zeroBits &>> 3
    }

    /// Decimal digits looked up three at a time: a third of the instructions of reckoning them. Owned by who makes it.
    struct Thousands {
        /// Of 0 to 999 three digits as text, with leading zeros, the first in the lowest byte; behind them the same without leading
        /// zeros, and how many there are in the highest byte.
        private let texts = UnsafeMutablePointer<UInt32>.allocate(capacity: 2000)

        init() {
            for value in 0..<1000 {
                let padded = UInt32(value / 100 | (value / 10 % 10) << 8 | (value % 10) << 16) | 0x30_3030
                let count: UInt32 = value < 10 ? 1 : value < 100 ? 2 : 3
                texts[value] = padded
                texts[1000 + value] = padded >> (8 * (3 - count)) | count << 24
            }
        }

        func deallocate() { texts.deallocate() }

        /// Decimal digits of any number, 1…20; returns how many. Touches `decimalRoom` bytes.
        ///
        /// Branches on how long the number is, which numbers that count up, and nearly all of those that are drawn from a wide range,
        /// do not surprise. Out of line: several of it in one loop make the compiler reckon all of them ahead.
        @inline(never)
        func write(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
            if value < 1_000_000 { return writeSix(UInt32(truncatingIfNeeded: value), into: output) }
            guard value < 1_000_000_000 else { return Digits.writeLong(value, into: output) }
            let all = UInt32(truncatingIfNeeded: value)
            let upper = all / 1000
            let count = writeSix(upper, into: output)
            store(texts[Int(all &- upper &* 1000)], at: output + count)
            return count &+ 3
        }

        /// Of a number below 10^6; returns how many.
        @inline(__always)
        func writeSix(_ value: UInt32, into output: UnsafeMutablePointer<UInt8>) -> Int {
            let upper = value / 1000
            if upper == 0 { return writeThree(value, into: output) }
            let count = writeThree(upper, into: output)
            store(texts[Int(value &- upper &* 1000)], at: output + count)
            return count &+ 3
        }

        /// Of a number below 1000; returns how many.
        @inline(__always)
        func writeThree(_ value: UInt32, into output: UnsafeMutablePointer<UInt8>) -> Int {
            let text = texts[1000 &+ Int(value)]
            store(text, at: output)
            return Int(text &>> 24)
        }

        @inline(__always)
        private func store(_ text: UInt32, at output: UnsafeMutablePointer<UInt8>) {
            UnsafeMutableRawPointer(output).storeBytes(of: text.littleEndian, as: UInt32.self)
        }
    }

    /// The same for numbers that are seldom below 10^8, out of line.
    @inline(never)
    static func writeLong(_ value: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        if value < 100_000_000 { return writeShort(UInt32(truncatingIfNeeded: value), into: output) }
        let (upper, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        let (top, middle) = upper.quotientAndRemainder(dividingBy: 100_000_000)
        var length = writeShort(UInt32(truncatingIfNeeded: top == 0 ? middle : top), into: output)
        if top != 0 {
            writePadded(UInt32(truncatingIfNeeded: middle), into: output + length)
            length &+= 8
        }
        writePadded(UInt32(truncatingIfNeeded: low), into: output + length)
        return length &+ 8
    }

    /// Eight digits, with leading zeros.
    @inline(__always)
    private static func writePadded(_ value: UInt32, into output: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(output).storeBytes(of: (eight(value) | asciiZeros).littleEndian, as: UInt64.self)
    }

    private static let asciiZeros: UInt64 = 0x3030_3030_3030_3030

    /// The eight digits of a number below 10^8, a byte each, the first in the lowest: halved into fours, twos and ones,
    /// all lanes of a step at once. Multiplying by 10486 / 2^20 divides numbers below 10^4 by 100, by 103 / 2^10 numbers
    /// below 100 by 10.
    @inline(__always)
    private static func eight(_ value: UInt32) -> UInt64 {
        let upper = value / 10_000
        let fours = UInt64(upper) | UInt64(value &- upper &* 10_000) &<< 32
        let hundreds = ((fours &* 10_486) &>> 20) & 0x7F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = ((twos &* 103) &>> 10) & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) &<< 8
    }

    /// The number of one to eight decimal digits; nil where other characters are among them.
    ///
    /// - Parameter end: behind the last digit; the eight bytes before it are read, however few digits there are.
    @inline(__always)
    static func readShort(before end: UnsafePointer<UInt8>, count: Int) -> UInt64? {
        let bytes = UInt64(littleEndian: UnsafeRawPointer(end - 8).loadUnaligned(as: UInt64.self))
        // What comes before the digits counts as zeros.
        let others = UInt64(truncatingIfNeeded: 8 &- count) &* 8
        let digits = count == 8 ? bytes ^ asciiZeros : ((bytes ^ asciiZeros) &>> others) &<< others
        // A digit is below 10: six more do not reach the upper half of its byte, nor has it anything there.
        guard (digits | (digits &+ 0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0 == 0 else { return nil }
        // Neighbours joined: ones to twos, twos to fours, fours to the whole.
        let twos = (digits &* 10 &+ digits &>> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (twos &* 100 &+ twos &>> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours &>> 32) & 0xFFFF_FFFF
    }

    /// Most digits of numbers up to `value`.
    static func decimalLength(_ value: UInt64) -> Int { String(value).utf8.count }
}
