/// Random text for `{{text(…)}}`: mostly letters and spaces, with characters now and then that JSON must escape and
/// characters of two to four UTF-8 bytes.
enum RandomText {
    /// Most bytes one character takes, escaped.
    static let longestUnit = 4

    /// 256 characters, already escaped: bytes in the low 32 bits, their number in the bits above.
    nonisolated(unsafe) private static let units: UnsafeMutablePointer<UInt64> = {
        let table = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
        let rare = ["\\\"", "\\\\", "\\n", "\\t", "é", "ß", "ñ", "漢", "☃", "😀", "/", "'", "!", "?", ".", ","]
        let common = Array("eeeeettttaaaoooiiinnnssshhhrrrdddlllcccuuummmwwwfffgggyyypppbbbvvkkjxqz")
        for index in 0..<256 {
            let text: String
            if index < rare.count {
                text = rare[index]
            } else if index % 6 == 0 {
                text = " "
            } else {
                text = String(common[index * 7 % common.count])
            }
            var packed: UInt64 = 0
            for (place, byte) in text.utf8.enumerated() { packed |= UInt64(byte) << UInt64(place * 8) }
            table[index] = packed | UInt64(text.utf8.count) << 32
        }
        return table
    }()

    /// Writes `count` characters; returns the bytes. May touch up to 3 bytes beyond them.
    @inline(__always)
    static func write(count: Int, random: UInt64, into output: UnsafeMutablePointer<UInt8>) -> Int {
        let units = units
        var length = 0
        var state = random
        var rest = count
        while rest > 0 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var bits = Mix.finalise(state)
            for _ in 0..<min(rest, 8) {
                let unit = units[Int(truncatingIfNeeded: bits & 0xFF)]
                bits &>>= 8
                UnsafeMutableRawPointer(output + length).storeBytes(
                    of: UInt32(truncatingIfNeeded: unit).littleEndian, as: UInt32.self)
                length &+= Int(truncatingIfNeeded: unit &>> 32)
            }
            rest &-= 8
        }
        return length
    }

    /// Bytes beyond its letters that `writeLetters` may touch.
    static let letterOverrun = 15

    /// Writes `count` plain letters, for what is sealed and never seen as JSON; touches up to 15 bytes beyond them.
    static func writeLetters(count: Int, random: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        let raw = UnsafeMutableRawPointer(output)
        var state = random
        var place = 0
        while place < count {
            let first = Mix.finalise(state &+ 0x9E37_79B9_7F4A_7C15)
            state &+= 0x3C6E_F372_FE94_F82A
            let bytes = SIMD2(first, Mix.finalise(state))
            let even = remainders(unsafeBitCast(bytes & 0x00FF_00FF_00FF_00FF, to: SIMD8<UInt16>.self))
            let odd = remainders(unsafeBitCast((bytes &>> 8) & 0x00FF_00FF_00FF_00FF, to: SIMD8<UInt16>.self))
            let letters =
                unsafeBitCast(even, to: SIMD2<UInt64>.self) | unsafeBitCast(odd, to: SIMD2<UInt64>.self) &<< 8
            raw.storeBytes(
                of: unsafeBitCast(letters, to: SIMD16<UInt8>.self) &+ 97, toByteOffset: place, as: SIMD16<UInt8>.self)
            place &+= 16
        }
    }

    /// Each byte value modulo 26: 79 / 2^11 divides them by 26.
    @inline(__always)
    private static func remainders(_ values: SIMD8<UInt16>) -> SIMD8<UInt16> {
        values &- ((values &* 79) &>> 11) &* 26
    }
}
