import Settings

/// What a device reads of a payload: where its texts stand, still as JSON has them, at most 65,535 bytes from its start. One pass, nothing is built. The payload was
/// checked when the push was accepted; of one that is no JSON some fields are missing, or are wrong.
struct PushContent: Equatable {
    /// Bytes of the payload; a text without its quotes.
    struct Place: Equatable {
        private(set) var start: UInt16 = 0
        private(set) var count: UInt16 = 0
        var isEmpty: Bool { count == 0 }

        init() {}

        /// - Parameter end: after the last byte.
        @inline(__always)
        init(_ start: Int, to end: Int) {
            self.start = UInt16(truncatingIfNeeded: start)
            count = UInt16(truncatingIfNeeded: max(0, end &- start))
        }

        func bytes(_ payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: payload[Int(start)..<(Int(start) + Int(count))])
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

    /// - Parameter members: where the payload's members stand, if somebody knows; else it is read.
    init(_ payload: UnsafeRawBufferPointer, members: UnsafeBufferPointer<PayloadMember>) {
        guard let base = payload.baseAddress else { return }
        let reader = PayloadReader(bytes: base.assumingMemoryBound(to: UInt8.self), count: payload.count)
        if members.isEmpty {
            var members = PayloadReader.Members(reader, of: reader.space(0))
            read(reader, &members)
        } else {
            var members = ListedMembers(reader, members)
            read(reader, &members)
        }
    }

    private mutating func read(_ reader: PayloadReader, _ members: inout some MemberReading) {
        while let name = members.next() {
            switch name.count {
            case 3: if name.is("aps") { readAPS(reader, &members) }
            case 6: if name.is("richId") { richID = members.textOrNumber }
            case 8: if name.is("richType") { richType = members.text ?? Place() }
            case 11: if name.is("richMessage") { richMessage = members.text ?? Place() }
            case 14: if name.is("attachment-url") { attachment = members.text ?? Place() }
            case 17: if name.is("encrypted-content") { sealed = members.text ?? Place() }
            default: break
            }
        }
    }

    private mutating func readAPS(_ reader: PayloadReader, _ aps: inout some MemberReading) {
        guard aps.isObject else { return }
        var members = aps.inside()
        while let name = members.next() {
            switch name.count {
            case 5:
                if name.is("alert") {
                    readAlert(&members)
                } else if name.is("badge") {
                    badge = members.integer
                } else if name.is("sound") {
                    // A text, or a dictionary of a critical alert.
                    hasSound = members.text.map { !$0.isEmpty } ?? members.isObject
                }
            case 8: if name.is("category") { category = members.text ?? Place() }
            case 9: if name.is("thread-id") { thread = members.text ?? Place() }
            case 15: if name.is("mutable-content") { isMutable = members.integer == 1 }
            case 17: if name.is("content-available") { isContentAvailable = members.integer == 1 }
            case 18:
                if name.is("interruption-level") {
                    isPassive = members.text.map { reader.name($0).is("passive") } ?? false
                }
            default: break
            }
        }
        aps.pass(members)
    }

    private mutating func readAlert(_ alert: inout some MemberReading) {
        if let text = alert.text {
            body = text
            hasAlert = !text.isEmpty
            return
        }
        guard alert.isObject else { return }
        var members = alert.inside()
        while let name = members.next() {
            guard let text = members.text, !text.isEmpty else { continue }
            if name.is("title") {
                title = text
            } else if name.is("subtitle") {
                subtitle = text
            } else if name.is("body") {
                body = text
            } else if !(name.is("loc-key") || name.is("title-loc-key") || name.is("subtitle-loc-key")) {
                continue
            }
            hasAlert = true
        }
        alert.pass(members)
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
