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
        var bits: UInt64 = 0
        for index in 0..<count {
            if index & 7 == 0 {
                state &+= 0x9E37_79B9_7F4A_7C15
                bits = Mix.finalise(state)
            }
            let unit = units[Int(bits & 0xFF)]
            bits >>= 8
            UnsafeMutableRawPointer(output + length).storeBytes(
                of: UInt32(truncatingIfNeeded: unit).littleEndian, as: UInt32.self)
            length &+= Int(unit >> 32)
        }
        return length
    }

    /// Writes `count` plain letters, for what is sealed and never seen as JSON.
    static func writeLetters(count: Int, random: UInt64, into output: UnsafeMutablePointer<UInt8>) {
        var state = random
        var bits: UInt64 = 0
        for index in 0..<count {
            if index & 7 == 0 {
                state &+= 0x9E37_79B9_7F4A_7C15
                bits = Mix.finalise(state)
            }
            output[index] = 97 &+ UInt8(truncatingIfNeeded: (bits & 0xFF) % 26)
            bits >>= 8
        }
    }
}
