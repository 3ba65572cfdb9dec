/// What kind of character a byte is, and bytes in messages.
enum ByteText {
    static let hexadecimal: UInt8 = 1
    /// Letters, digits and _ @ # . : -
    static let tag: UInt8 = 2
    /// Letters, digits and . - _
    static let name: UInt8 = 4

    /// For every byte the bits above.
    static let classes: [UInt8] = (0...255).map { (byte: UInt8) in
        let isDigit = (48...57).contains(byte)
        let isLetter = (65...90).contains(byte) || (97...122).contains(byte)
        let isHex = isDigit || (65...70).contains(byte) || (97...102).contains(byte)
        let isName = isDigit || isLetter || [0x2E, 0x2D, 0x5F].contains(byte)
        let isTag = isName || [0x40, 0x23, 0x3A].contains(byte)
        return (isHex ? hexadecimal : 0) | (isTag ? tag : 0) | (isName ? name : 0)
    }

    /// `'x'`, or `0x1f` where it cannot be shown.
    static func shown(_ byte: UInt8) -> String {
        (33...126).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "0x\(String(byte, radix: 16))"
    }

    /// At most 80 bytes, on one line.
    static func shown(_ base: UnsafePointer<UInt8>, _ count: Int) -> String {
        let text = String(decoding: UnsafeBufferPointer(start: base, count: min(count, 80)), as: UTF8.self)
        return String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }) + (count > 80 ? "…" : "")
    }
}

extension ByteText {
    /// The same of a text.
    static func shown(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBufferPointer { $0.baseAddress.map { shown($0, bytes.count) } ?? "" }
    }
}
