import CVector

/// Hexadecimal text, eight or sixteen digits a step.
public enum HexDigits {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Top bit of each byte that is at least `bound`; all bytes and `bound` below 128.
    @inline(__always)
    private static func atLeast(_ bytes: UInt64, _ bound: UInt64) -> UInt64 { (bytes | tops) &- ones &* bound }

    /// Top bit of each byte that is a letter a…f or A…F; `isValid` says whether all others are 0…9.
    @inline(__always)
    private static func letters(_ bytes: UInt64) -> (letters: UInt64, isValid: Bool) {
        let lower = bytes | ones &* 0x20
        let letters = atLeast(lower & ~tops, 0x61) & ~atLeast(lower & ~tops, 0x67) & tops
        let digits = atLeast(bytes & ~tops, 0x30) & ~atLeast(bytes & ~tops, 0x3A) & tops
        return (letters, bytes & tops == 0 && letters | digits == tops)
    }

    @inline(__always)
    private static func load(_ text: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(bigEndian: UnsafeRawPointer(text).loadUnaligned(as: UInt64.self))
    }

    /// Whether all of `count` characters are hexadecimal digits; at least 8.
    @inline(__always)
    public static func areDigits(_ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard count >= 16 else { return letters(load(text)).isValid && letters(load(text + (count &- 8))).isValid }
        // The last sixteen may have been looked at before.
        var others = pushload_no_digits(text + (count &- 16))
        var place = 0
        while place &+ 16 < count {
            others |= pushload_no_digits(text + place)
            place &+= 16
        }
        return others == 0
    }

    /// The number behind sixteen digits; nil on a foreign character.
    @inline(__always)
    static func read(_ text: UnsafePointer<UInt8>) -> UInt64? {
        let (high, low) = (load(text), load(text + 8))
        let (highLetters, isHighValid) = letters(high)
        let (lowLetters, isLowValid) = letters(low)
        guard isHighValid, isLowValid else { return nil }
        return pack(high, highLetters) << 32 | pack(low, lowLetters)
    }

    /// Eight digits as a number.
    @inline(__always)
    private static func pack(_ bytes: UInt64, _ letters: UInt64) -> UInt64 {
        var value = (bytes & (ones &* 0x0F)) &+ (letters >> 7) &* 9
        value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
        value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
        return (value | value >> 16) & 0xFFFF_FFFF
    }
}
