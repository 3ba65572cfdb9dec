import Glibc

/// A place in bytes of JSON (RFC 8259), and steps over what may follow there. It says where values are, and reads none.
struct JSONScan {
    struct Problem: Error {
        let position: Int
        let text: String
    }

    /// A string without its quotes.
    struct Text {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    let base: UnsafePointer<UInt8>
    var position: Int
    let end: Int

    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// The next byte; 0 at the end.
    @inline(__always)
    var peek: UInt8 { position < end ? base[position] : 0 }

    @inline(__always)
    mutating func skipBlanks() {
        while position < end, Self.isBlank(base[position]) { position += 1 }
    }

    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < end, base[position] == byte else { return false }
        position += 1
        return true
    }

    mutating func expect(_ byte: UInt8, _ what: String) throws(Problem) {
        if take(byte) { return }
        throw Problem(position: position, text: "expected \(what)" + found)
    }

    private var found: String {
        position < end ? ", found \(ByteText.shown(base[position]))" : ", found the line's end"
    }

    mutating func takeNull() -> Bool {
        guard end - position >= 4, memcmp(base + position, "null", 4) == 0 else { return false }
        position += 4
        return true
    }

    /// Over a string; that its escapes are right is seen when it is read (`JSONText`).
    @inline(__always)
    mutating func string() throws(Problem) -> Text {
        try expect(0x22, "a string in quotes")
        let start = position
        var hasEscapes = false
        while position < end {
            let byte = base[position]
            if byte == 0x22 {
                position += 1
                return Text(start: start, end: position - 1, hasEscapes: hasEscapes)
            }
            if byte < 0x20 { throw Problem(position: position, text: "character \(ByteText.shown(byte)) in a string") }
            if byte == 0x5C {
                hasEscapes = true
                position += 1
            }
            position += 1
        }
        throw Problem(position: start - 1, text: "a quote that is not closed")
    }

    /// Over an array of strings; what stands between its brackets.
    mutating func flatArray() throws(Problem) -> RegistrationFields.Place {
        let open = position
        position += 1
        while position < end {
            switch base[position] {
            case 0x22: _ = try string()
            case 0x5D:
                position += 1
                return .init(start: open + 1, end: position - 1)
            default: position += 1
            }
        }
        throw Problem(position: open, text: "a bracket that is not closed")
    }

    /// Over an object, braces included. Its brackets and strings have to be closed; nothing else in it is looked at.
    mutating func object() throws(Problem) -> RegistrationFields.Place {
        let start = position
        var depth = 0
        while position < end {
            switch base[position] {
            case 0x22:
                _ = try string()
                continue
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D: depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return .init(start: start, end: position) }
        }
        throw Problem(position: start, text: "a brace that is not closed")
    }

    /// Over the characters that a number can have.
    mutating func number() -> RegistrationFields.Place {
        let start = position
        while position < end,
            (48...57).contains(base[position]) || [0x2D, 0x2B, 0x2E, 0x45, 0x65].contains(base[position])
        {
            position += 1
        }
        return .init(start: start, end: position)
    }
}

/// The text of a JSON string.
enum JSONText {
    /// - Returns: the bytes in UTF-8; nil where an escape is none of RFC 8259, section 7. Half a surrogate pair becomes U+FFFD.
    static func read(_ base: UnsafePointer<UInt8>, _ count: Int) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        var at = 0
        func unit(_ at: Int) -> UInt16? {
            guard at + 4 <= count else { return nil }
            var value: UInt16 = 0
            for index in at..<at + 4 {
                guard let digit = Character(UnicodeScalar(base[index])).hexDigitValue else { return nil }
                value = value << 4 | UInt16(digit)
            }
            return value
        }
        while at < count {
            guard base[at] == 0x5C else {
                result.append(base[at])
                at += 1
                continue
            }
            guard at + 1 < count else { return nil }
            let letter = base[at + 1]
            at += 2
            switch letter {
            case 0x22, 0x5C, 0x2F: result.append(letter)
            case 0x62: result.append(0x08)
            case 0x66: result.append(0x0C)
            case 0x6E: result.append(0x0A)
            case 0x72: result.append(0x0D)
            case 0x74: result.append(0x09)
            case 0x75:
                guard let first = unit(at) else { return nil }
                at += 4
                var units = [first]
                if (0xD800..<0xDC00).contains(first), at + 1 < count, base[at] == 0x5C, base[at + 1] == 0x75,
                    let second = unit(at + 2), (0xDC00..<0xE000).contains(second)
                {
                    units.append(second)
                    at += 6
                }
                result.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
            default: return nil
            }
        }
        return result
    }
}
