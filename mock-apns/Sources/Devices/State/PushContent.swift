import Glibc
import Settings

/// What a device reads of a payload: where its texts stand, still as JSON has them. One pass, nothing is built. The payload was
/// checked when the push was accepted; of one that is no JSON some fields are missing, or are wrong.
struct PushContent {
    /// Bytes of the payload; a text without its quotes.
    struct Place {
        var start = 0
        var count = 0
        var isEmpty: Bool { count == 0 }
        func bytes(_ payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: payload[start..<(start + count)])
        }
        func text(_ payload: UnsafeRawBufferPointer) -> String { JSONString.decoded(bytes(payload)) }
    }

    /// A text, or a dictionary with a title, a subtitle, a body or the key of one.
    private(set) var hasAlert = false
    private(set) var title = Place()
    private(set) var subtitle = Place()
    private(set) var body = Place()
    /// nil: not in the payload; 0 clears it.
    private(set) var badge: Int32?
    /// Another than the empty one.
    private(set) var hasSound = false
    private(set) var category = Place()
    private(set) var thread = Place()
    private(set) var isContentAvailable = false
    private(set) var isMutable = false
    /// Interruption level: into the list without lighting the screen.
    private(set) var isPassive = false
    private(set) var sealed = Place()
    /// `attachment-url`: what the service extension downloads.
    private(set) var attachment = Place()
    private(set) var richID = Place()
    private(set) var richMessage = Place()
    private(set) var richType = Place()

    /// What it would present.
    var presentation: Presentation {
        var all: Presentation = hasAlert ? .alert : []
        if hasSound { all.insert(.sound) }
        if badge != nil { all.insert(.badge) }
        return all
    }
    /// It wakes the app, and shows nothing.
    var isSilent: Bool { isContentAvailable && presentation.isEmpty }

    init(_ payload: UnsafeRawBufferPointer) {
        let reader = PayloadReader(bytes: payload)
        _ = reader.members(of: reader.space(0)) { name, value in
            switch name.count {
            case 3: if name.is("aps") { return readAPS(reader, value) }
            case 6: if name.is("richId") { richID = reader.textOrNumber(value) }
            case 8: if name.is("richType") { richType = reader.text(value) ?? Place() }
            case 11: if name.is("richMessage") { richMessage = reader.text(value) ?? Place() }
            case 14: if name.is("attachment-url") { attachment = reader.text(value) ?? Place() }
            case 17: if name.is("encrypted-content") { sealed = reader.text(value) ?? Place() }
            default: break
            }
            return nil
        }
    }

    /// Where it ends; nil: it is no object.
    private mutating func readAPS(_ reader: PayloadReader, _ aps: Int) -> Int? {
        reader.members(of: aps) { name, value in
            switch name.count {
            case 5:
                if name.is("alert") {
                    return readAlert(reader, value)
                } else if name.is("badge") {
                    badge = reader.integer(value)
                } else if name.is("sound") {
                    // A text, or a dictionary of a critical alert.
                    hasSound = reader.text(value).map { !$0.isEmpty } ?? reader.isObject(value)
                }
            case 8: if name.is("category") { category = reader.text(value) ?? Place() }
            case 9: if name.is("thread-id") { thread = reader.text(value) ?? Place() }
            case 15: if name.is("mutable-content") { isMutable = reader.integer(value) == 1 }
            case 17: if name.is("content-available") { isContentAvailable = reader.integer(value) == 1 }
            case 18:
                if name.is("interruption-level") {
                    isPassive = reader.text(value)?.text(reader.bytes) == "passive"
                }
            default: break
            }
            return nil
        }
    }

    private mutating func readAlert(_ reader: PayloadReader, _ alert: Int) -> Int? {
        if let text = reader.text(alert) {
            body = text
            hasAlert = !text.isEmpty
            return nil
        }
        return reader.members(of: alert) { name, value in
            guard let text = reader.text(value), !text.isEmpty else { return nil }
            if name.is("title") {
                title = text
            } else if name.is("subtitle") {
                subtitle = text
            } else if name.is("body") {
                body = text
            } else if !(name.is("loc-key") || name.is("title-loc-key") || name.is("subtitle-loc-key")) {
                return nil
            }
            hasAlert = true
            return nil
        }
    }

    /// A key between its quotes.
    struct Name {
        let bytes: UnsafeRawBufferPointer
        let hasEscapes: Bool
        /// A key with escapes is the key that they stand for.
        var count: Int { hasEscapes ? JSONString.decoded(bytes).utf8.count : bytes.count }

        @inline(__always)
        func `is`(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard !hasEscapes else {
                return JSONString.decoded(bytes).utf8.elementsEqual(
                    UnsafeBufferPointer(start: text.utf8Start, count: count))
            }
            return bytes.count == count && memcmp(bytes.baseAddress!, text.utf8Start, count) == 0
        }
    }
}

/// Finds values in JSON that was checked before; stays within the bytes whatever they are.
struct PayloadReader {
    let bytes: UnsafeRawBufferPointer

    func space(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
        return place
    }

    func isObject(_ start: Int) -> Bool { start < bytes.count && bytes[start] == 0x7B }

    /// Calls with each key of an object and the place of its value; what is called says where the value ends, if it knows.
    ///
    /// - Returns: where the object ends; nil: it is none.
    func members(of start: Int, _ body: (PushContent.Name, Int) -> Int?) -> Int? {
        guard isObject(start) else { return nil }
        var place = space(start + 1)
        while place < bytes.count, bytes[place] == 0x22 {
            let (end, hasEscapes) = string(place)
            let name = UnsafeRawBufferPointer(rebasing: bytes[(place + 1)..<max(place + 1, end - 1)])
            let colon = space(end)
            guard colon < bytes.count, bytes[colon] == 0x3A else { return bytes.count }
            let value = space(colon + 1)
            guard value < bytes.count else { return bytes.count }
            place = space(body(.init(bytes: name, hasEscapes: hasEscapes), value) ?? valueEnd(value))
            guard place < bytes.count, bytes[place] == 0x2C else { break }
            place = space(place + 1)
        }
        return min(place + 1, bytes.count)
    }

    /// After the closing quote, or the end; and whether there is a backslash in it.
    private func string(_ start: Int) -> (end: Int, hasEscapes: Bool) {
        var place = start + 1
        guard place < bytes.count, let base = bytes.baseAddress else { return (bytes.count, false) }
        // Most have none: then the next quote is the closing one.
        let quote = memchr(base + place, 0x22, bytes.count - place).map { UnsafeRawPointer($0) - base } ?? bytes.count
        guard memchr(base + place, 0x5C, quote - place) != nil else { return (min(quote + 1, bytes.count), false) }
        while place < bytes.count {
            if bytes[place] == 0x22 { return (place + 1, true) }
            place += bytes[place] == 0x5C ? 2 : 1
        }
        return (bytes.count, true)
    }

    private func stringEnd(_ start: Int) -> Int { string(start).end }

    private func valueEnd(_ start: Int) -> Int {
        if bytes[start] == 0x22 { return stringEnd(start) }
        var place = start
        var depth = 0
        while place < bytes.count {
            switch bytes[place] {
            case 0x22:
                place = stringEnd(place)
                continue
            case 0x7B, 0x5B: depth += 1
            case 0x7D, 0x5D:
                if depth == 0 { return place }
                depth -= 1
                if depth == 0 { return place + 1 }
            case 0x2C where depth == 0: return place
            default: break
            }
            place += 1
        }
        return bytes.count
    }

    /// nil: no text.
    func text(_ start: Int) -> PushContent.Place? {
        guard start < bytes.count, bytes[start] == 0x22 else { return nil }
        return .init(start: start + 1, count: max(0, stringEnd(start) - start - 2))
    }

    func textOrNumber(_ start: Int) -> PushContent.Place {
        text(start) ?? (integer(start) == nil ? .init() : .init(start: start, count: numberEnd(start) - start))
    }

    private func numberEnd(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, bytes[place] == 0x2D || (0x30...0x39).contains(bytes[place]) { place += 1 }
        return place
    }

    /// A whole number, at most what 32 bits hold; nil: none.
    func integer(_ start: Int) -> Int32? {
        let end = numberEnd(start)
        let isNegative = start < end && bytes[start] == 0x2D
        let first = isNegative ? start + 1 : start
        guard first < end, end == bytes.count || ![0x2E, 0x65, 0x45].contains(bytes[end]) else { return nil }
        var value: Int64 = 0
        for place in first..<end {
            guard bytes[place] != 0x2D else { return nil }
            value = min(value * 10 + Int64(bytes[place] - 0x30), Int64(Int32.max))
        }
        return Int32(isNegative ? -value : value)
    }
}

/// Texts as JSON has them between the quotes.
enum JSONString {
    static func decoded(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.contains(0x5C) else { return String(decoding: bytes, as: UTF8.self) }
        var units: [UInt16] = []
        var place = 0
        var plain = 0
        func flush(_ end: Int) { units += String(decoding: bytes[plain..<end], as: UTF8.self).utf16 }
        while place < bytes.count {
            guard bytes[place] == 0x5C, place + 1 < bytes.count else {
                place += 1
                continue
            }
            flush(place)
            switch bytes[place + 1] {
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "u") where place + 6 <= bytes.count:
                let digits = String(decoding: bytes[(place + 2)..<(place + 6)], as: UTF8.self)
                units.append(UInt16(digits, radix: 16) ?? 0xFFFD)
                place += 4
            case let other: units.append(UInt16(other))
            }
            place += 2
            plain = place
        }
        flush(min(bytes.count, max(plain, place)))
        return String(decoding: units, as: UTF16.self)
    }

    /// The other way round, without the quotes.
    static func encoded(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        return isPlain ? text : String(YAMLValue.quoted(text).dropFirst().dropLast())
    }
}
