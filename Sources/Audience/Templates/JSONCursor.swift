/// Walks over JSON (RFC 8259) byte by byte and can say where it is.
struct JSONCursor {
    /// The file or template, for messages.
    let name: String
    let text: [UInt8]
    var position = 0
    static let deepest = 64

    init(_ text: String, name: String) {
        self.name = name
        self.text = Array(text.utf8)
    }

    var current: UInt8? { position < text.count ? text[position] : nil }

    /// `name:line:column: reason`, both from 1, columns in Unicode scalars.
    func error(_ reason: String, at place: Int? = nil) -> AudienceError {
        Self.error(reason, name: name, text: text, at: place ?? position)
    }

    static func error(_ reason: String, name: String, text: [UInt8], at place: Int) -> AudienceError {
        let (line, column) = lineAndColumn(text, at: place)
        return AudienceError("\(name):\(line):\(column): \(reason)")
    }

    private static func lineAndColumn(_ text: [UInt8], at place: Int) -> (Int, Int) {
        var line = 1
        var column = 1
        for byte in text.prefix(place) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }

    /// `name:line:column`.
    var place: String {
        let (line, column) = Self.lineAndColumn(text, at: position)
        return "\(name):\(line):\(column)"
    }

    /// What stands here, for a message.
    var found: String { Self.character(in: text[min(position, text.count)...]) }

    /// The first character of a text in UTF-8 as a message shows it.
    static func character(in bytes: ArraySlice<UInt8>) -> String {
        guard let scalar = String(decoding: bytes.prefix(4), as: UTF8.self).unicodeScalars.first else {
            return "the end of the text"
        }
        let isShown = scalar.value > 0x20 && !(0x7F...0xA0).contains(scalar.value)
        if isShown { return "'\(Character(scalar))'" }
        return scalar == " " ? "a space" : "character U+" + Self.hex(scalar.value)
    }

    /// At least four hexadecimal digits.
    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Takes the byte if it stands here.
    mutating func take(_ byte: Character) -> Bool {
        guard let current, byte.asciiValue == current else { return false }
        position += 1
        return true
    }

    // MARK: Values without parts

    mutating func word(_ word: String) throws(AudienceError) {
        for byte in word.utf8 {
            guard current == byte else { throw error("expected \(word); found \(found)") }
            position += 1
        }
    }

    mutating func number() throws(AudienceError) {
        _ = take("-")
        if take("0") {
            if let byte = current, (0x30...0x39).contains(byte) { throw error("a number may not begin with 0") }
        } else {
            try digits()
        }
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
    }

    private mutating func digits() throws(AudienceError) {
        guard let first = current, (0x30...0x39).contains(first) else {
            throw error("expected a digit; found \(found)")
        }
        while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    }

    // MARK: Texts

    /// A text in quotes; the cursor stands on the first one.
    mutating func string() throws(AudienceError) -> JSONString {
        let start = position
        position += 1
        var string = JSONString(start: position)
        while let byte = current {
            switch byte {
            case 0x22:
                string.end = position
                position += 1
                return string
            case 0x5C: try escape(into: &string, start)
            case 0..<0x20:
                throw error("a control character must be escaped in JSON; found \(found)")
            default:
                string.append(byte, from: position)
                position += 1
            }
        }
        throw error("this text has no closing quote", at: start)
    }

    private mutating func escape(into string: inout JSONString, _ start: Int) throws(AudienceError) {
        let place = position
        position += 1
        guard let byte = current else { throw error("this text has no closing quote", at: start) }
        position += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: string.append(byte, from: place)
        case 0x62: string.append(0x08, from: place)
        case 0x66: string.append(0x0C, from: place)
        case 0x6E: string.append(0x0A, from: place)
        case 0x72: string.append(0x0D, from: place)
        case 0x74: string.append(0x09, from: place)
        case 0x75:
            let scalar = try escapedScalar(place)
            for byte in String(Character(scalar)).utf8 { string.append(byte, from: place) }
        default:
            throw error("unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u0000", at: place)
        }
    }

    /// The digits after `\u`, and the second half of a pair.
    private mutating func escapedScalar(_ place: Int) throws(AudienceError) -> Unicode.Scalar {
        let unit = try hexUnit(place)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00 else { throw error("a low surrogate without its high one", at: place) }
        guard take("\\"), take("u") else { throw error("a high surrogate without its low one", at: place) }
        let low = try hexUnit(place)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        else { throw error("a high surrogate without its low one", at: place) }
        return scalar
    }

    private mutating func hexUnit(_ place: Int) throws(AudienceError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("\\u takes four hexadecimal digits", at: place)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// A text of a JSON file without its escapes, which knows where each of its bytes comes from.
struct JSONString {
    /// What stands between the quotes, as places in the file.
    let start: Int
    var end: Int
    private(set) var bytes: [UInt8] = []
    private var places: [Int] = []

    init(start: Int) {
        self.start = start
        end = start
    }

    var value: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: UInt8, from place: Int) {
        bytes.append(byte)
        places.append(place)
    }

    /// Where byte `index` comes from; the closing quote for what comes after the last.
    func place(_ index: Int) -> Int { index < places.count ? places[index] : end }
}
