/// Hexadecimal text, eight digits a step.
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
        var place = 0
        while place &+ 8 <= count {
            if !letters(load(text + place)).isValid { return false }
            place &+= 8
        }
        return place == count || letters(load(text + (count &- 8))).isValid
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

    /// Eight lower-case digits of a number, as they lie in memory.
    @inline(__always)
    public static func text(_ value: UInt32) -> UInt64 {
        var digits = UInt64(value)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = ((digits &+ ones &* 6) >> 4) & ones
        return (digits &+ ones &* 0x30 &+ letters &* 39).bigEndian
    }
}
