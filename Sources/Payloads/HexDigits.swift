import CVector

/// Hexadecimal text, eight or sixteen digits a step.
public enum HexDigits {
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    private static func load(_ text: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(bigEndian: UnsafeRawPointer(text).loadUnaligned(as: UInt64.self))
    }

    /// Whether all of `count` characters are hexadecimal digits.
    @inline(__always)
    public static func areDigits(_ text: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard count >= 16 else {
            return (0..<count).allSatisfy { place in
                let letter = text[place] | 0x20
                return text[place] &- 0x30 < 10 || letter &- 0x61 < 6
            }
        }
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
        pushload_no_digits(text) == 0 ? pack(load(text)) << 32 | pack(load(text + 8)) : nil
    }

    /// Eight digits as a number.
    @inline(__always)
    private static func pack(_ bytes: UInt64) -> UInt64 {
        // Of letters bit 6 is set, and their last four are 1 to 6.
        var value = (bytes & (ones &* 0x0F)) &+ (bytes &>> 6 & ones) &* 9
        value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
        value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
        return (value | value >> 16) & 0xFFFF_FFFF
    }
}
