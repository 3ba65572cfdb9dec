import CVector
import Devices
import Glibc

/// Memory for the payload that is walked over, one at a time.
final class JSONScratch {
    private let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int

    /// - Parameter capacity: bytes of the longest payload.
    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity + PayloadBytes.slack)
    }

    deinit { memory.deallocate() }

    /// nil: the payload is longer than it has memory for.
    @inline(__always)
    fileprivate func bytes(_ payload: UnsafeRawBufferPointer) -> PayloadBytes? {
        payload.count <= capacity ? PayloadBytes(payload, copiedTo: memory) : nil
    }
}

/// Walks a payload once: checks that it is one JSON object (RFC 8259) and finds its trace tag, building nothing.
///
/// Cost: a copy of the payload, behind which there are zeros, so that nothing on the way asks where it ends; some 80 instructions a member
/// whose key and value have fewer than 16 bytes. Bounded: nesting beyond `deepest` is refused.
struct JSONWalk {
    static let deepest = 64

    /// There is a top-level `aps` whose value is an object.
    private(set) var hasAPS = false
    /// There is a top-level `mdm` whose value is a text.
    private(set) var hasMDM = false
    /// The value of the top-level trace tag, without its quotes.
    private(set) var trace: UnsafeRawBufferPointer?
    /// Where that is; -1: there is none.
    private var traceStart = -1
    private var traceCount = 0

    /// Nil when the payload is not one JSON object.
    ///
    /// - Parameters:
    ///   - list: gets the members down to the third level; nil: nobody wants to know them. Of payloads of more than 65,535 bytes there
    ///     are none.
    ///   - scratch: nil: memory is taken for it.
    @inline(__always)
    static func over(
        _ payload: UnsafeRawBufferPointer, listing list: MemberList? = nil, in scratch: JSONScratch? = nil
    ) -> JSONWalk? {
        list?.clear()
        guard payload.count > 0, list == nil || payload.count <= UInt16.max else { return nil }
        if let bytes = scratch?.bytes(payload) { return over(payload, bytes, list) }
        let own = JSONScratch(capacity: payload.count)
        return withExtendedLifetime(own) { over(payload, own.bytes(payload)!, list) }
    }

    @inline(__always)
    private static func over(
        _ payload: UnsafeRawBufferPointer, _ bytes: PayloadBytes, _ list: MemberList?
    ) -> JSONWalk? {
        var walk = JSONWalk()
        if let list {
            var notes = ListNotes(list.memory)
            guard bytes.whole(&walk, &notes) >= 0 else { return nil }
            list.fill(notes.count)
        } else {
            var notes = NoNotes()
            guard bytes.whole(&walk, &notes) >= 0 else { return nil }
        }
        if walk.traceStart >= 0 {
            walk.trace = UnsafeRawBufferPointer(
                start: payload.baseAddress! + walk.traceStart, count: walk.traceCount)
        }
        return walk
    }

    /// The byte at which a payload stops being one JSON object; nil when it is one.
    static func failure(_ payload: UnsafeRawBufferPointer) -> Int? {
        guard payload.count > 0 else { return 0 }
        let scratch = JSONScratch(capacity: payload.count)
        return withExtendedLifetime(scratch) {
            var walk = JSONWalk()
            var notes = NoNotes()
            let ended = scratch.bytes(payload)!.whole(&walk, &notes)
            return ended < 0 ? ~ended : nil
        }
    }

    private static let apsKey: StaticString = "aps"
    private static let mdmKey: StaticString = "mdm"
    private static let traceKey: StaticString = "pushload-trace"

    /// A member of the outermost object: its text, and where its key and its value begin and end.
    fileprivate mutating func note(
        _ bytes: UnsafePointer<UInt8>, _ key: Int, _ keyEnd: Int, _ value: Int, _ valueEnd: Int
    ) {
        let name = bytes + (key &+ 1)
        let length = keyEnd &- key &- 2
        if length == 3 {
            if name[0] == 0x61, name[1] == 0x70, name[2] == 0x73 {
                hasAPS = bytes[value] == 0x7B
            } else if name[0] == 0x6D, name[1] == 0x64, name[2] == 0x6D {
                hasMDM = bytes[value] == 0x22
            }
        } else if length == Self.traceKey.utf8CodeUnitCount, bytes[value] == 0x22,
            memcmp(Self.traceKey.utf8Start, name, length) == 0
        {
            (traceStart, traceCount) = (value &+ 1, valueEnd &- value &- 2)
        } else if length >= Self.shortestEscaped, memchr(name, 0x5C, length) != nil {
            noteEscaped(bytes, name, length, value, valueEnd)
        }
    }

    /// `\u0061ps`.
    private static let shortestEscaped = 8

    /// A key with escapes is the key that they stand for (RFC 8259 section 8.3).
    @inline(never)
    private mutating func noteEscaped(
        _ bytes: UnsafePointer<UInt8>, _ name: UnsafePointer<UInt8>, _ length: Int, _ value: Int, _ valueEnd: Int
    ) {
        if Self.isName(name, length, Self.apsKey) {
            hasAPS = bytes[value] == 0x7B
        } else if Self.isName(name, length, Self.mdmKey) {
            hasMDM = bytes[value] == 0x22
        } else if Self.isName(name, length, Self.traceKey), bytes[value] == 0x22 {
            (traceStart, traceCount) = (value &+ 1, valueEnd &- value &- 2)
        }
    }

    /// Whether a key, whose escapes are right, stands for `text`: letters and hyphens, for which there are no escapes but `\u`.
    private static func isName(_ name: UnsafePointer<UInt8>, _ length: Int, _ text: StaticString) -> Bool {
        var place = 0
        for wanted in 0..<text.utf8CodeUnitCount {
            guard place < length else { return false }
            var character = Int(name[place])
            place += 1
            if character == 0x5C {
                guard name[place] == 0x75 else { return false }
                character = (1...4).reduce(0) { $0 << 4 | hexDigit(name[place + $1]) }
                place += 5
            }
            if character != Int(text.utf8Start[wanted]) { return false }
        }
        return place == length
    }

    private static func hexDigit(_ byte: UInt8) -> Int { Int(byte & 0x0F) + (byte >= 0x41 ? 9 : 0) }
}

/// Where members stand, noted on the way.
private protocol MemberNotes {
    /// A member begins: its place in the list.
    mutating func begin(depth: Int) -> Int
    /// It has ended.
    func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int)
}

/// Nobody wants to know.
private struct NoNotes: MemberNotes {
    @inline(__always) func begin(depth: Int) -> Int { 0 }
    @inline(__always) func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int) {}
}

private struct ListNotes: MemberNotes {
    let list: UnsafeMutablePointer<PayloadMember>
    /// Also of those for which there was no room.
    private(set) var count = 0

    init(_ list: UnsafeMutablePointer<PayloadMember>) { self.list = list }

    private static let deepest = 3

    @inline(__always)
    mutating func begin(depth: Int) -> Int {
        guard depth <= Self.deepest else { return MemberList.capacity }
        count &+= 1
        return count &- 1
    }

    @inline(__always)
    func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int) {
        guard place < MemberList.capacity else { return }
        list[place].key = UInt16(truncatingIfNeeded: key &+ 1)
        list[place].keyCount = UInt16(truncatingIfNeeded: keyEnd &- key &- 2)
        list[place].value = UInt16(truncatingIfNeeded: value)
        list[place].valueEnd = UInt16(truncatingIfNeeded: valueEnd)
        list[place].next = UInt16(truncatingIfNeeded: count)
    }
}

/// The bytes that are walked over: two words, in registers all the way. Each function is told where to begin, and returns where
/// what it looks for has ended, or, where it is not that, the complement of where it stopped. Behind the payload there are zeros, which
/// stop whatever comes to them, and of which none is allowed in JSON.
private struct PayloadBytes {
    /// Zeros behind the payload: as many as are looked at together.
    static let slack = 16

    private let bytes: UnsafePointer<UInt8>
    private let end: Int

    /// - Parameters:
    ///   - payload: not empty.
    ///   - memory: for it and `slack` bytes.
    @inline(__always)
    init(_ payload: UnsafeRawBufferPointer, copiedTo memory: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(memory).copyMemory(from: payload.baseAddress!, byteCount: payload.count)
        UnsafeMutableRawPointer(memory + payload.count).storeBytes(of: SIMD16<UInt8>(), as: SIMD16<UInt8>.self)
        bytes = UnsafePointer(memory)
        end = payload.count
    }

    /// One object, and nothing else.
    func whole(_ walk: inout JSONWalk, _ notes: inout some MemberNotes) -> Int {
        let start = space(0)
        guard bytes[start] == 0x7B else { return ~start }
        let ended = object(start, depth: 1, &walk, &notes)
        guard ended >= 0, ended < end else { return ended }
        let place = spaces(ended)
        return place == end ? place : ~place
    }

    @inline(__always)
    private func space(_ start: Int) -> Int {
        // Most payloads have none.
        bytes[start] > 0x20 ? start : spaces(start)
    }

    @inline(never)
    private func spaces(_ start: Int) -> Int {
        var place = start
        while true {
            let byte = bytes[place]
            if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 { return place }
            place &+= 1
        }
    }

    private func object(
        _ start: Int, depth: Int, _ walk: inout JSONWalk, _ notes: inout some MemberNotes
    ) -> Int {
        guard depth <= JSONWalk.deepest else { return ~start }
        var place = space(start &+ 1)
        if bytes[place] == 0x7D { return place &+ 1 }
        while true {
            let key = place
            place = string(key)
            guard place >= 0 else { return place }
            let keyEnd = place
            let noted = notes.begin(depth: depth)
            let value = pastColon(place)
            guard value >= 0 else { return value }
            place = self.value(value, depth: depth &+ 1, &walk, &notes)
            guard place >= 0 else { return place }
            if depth == 1 { walk.note(bytes, key, keyEnd, value, place) }
            notes.end(noted, key: key, keyEnd: keyEnd, value: value, valueEnd: place)
            place = space(place)
            let byte = bytes[place]
            if byte == 0x7D { return place &+ 1 }
            guard byte == 0x2C else { return stop(place) }
            place = space(place &+ 1)
        }
    }

    /// Neither another one nor the end of what a bracket began: the complement of the place behind it, or of the payload's end.
    private func stop(_ place: Int) -> Int { place == end ? ~place : ~(place &+ 1) }

    /// Where the value begins whose key has ended.
    @inline(__always)
    private func pastColon(_ start: Int) -> Int {
        let place = space(start)
        return bytes[place] == 0x3A ? space(place &+ 1) : ~place
    }

    private func array(_ start: Int, depth: Int, _ walk: inout JSONWalk, _ notes: inout some MemberNotes) -> Int {
        guard depth <= JSONWalk.deepest else { return ~start }
        var place = space(start &+ 1)
        if bytes[place] == 0x5D { return place &+ 1 }
        while true {
            place = value(place, depth: depth &+ 1, &walk, &notes)
            guard place >= 0 else { return place }
            place = space(place)
            let byte = bytes[place]
            if byte == 0x5D { return place &+ 1 }
            guard byte == 0x2C else { return stop(place) }
            place = space(place &+ 1)
        }
    }

    @inline(__always)
    private func value(_ start: Int, depth: Int, _ walk: inout JSONWalk, _ notes: inout some MemberNotes) -> Int {
        let first = bytes[start]
        if first == 0x22 { return string(start) }
        switch first {
        case 0x7B: return object(start, depth: depth, &walk, &notes)
        case 0x5B: return array(start, depth: depth, &walk, &notes)
        case 0x74: return word("true", start)
        case 0x66: return word("false", start)
        case 0x6E: return word("null", start)
        case 0x2D, 0x30...0x39: return number(start)
        default: return ~start
        }
    }

    private func word(_ word: StaticString, _ start: Int) -> Int {
        let length = word.utf8CodeUnitCount
        return memcmp(bytes + start, word.utf8Start, length) == 0 ? start &+ length : ~start
    }

    /// At least one.
    @inline(__always)
    private func digits(_ start: Int) -> Int {
        // Most have fewer than sixteen.
        let other = pushload_no_decimals(bytes + start)
        guard other != 0 else { return longDigits(start) }
        return other & 1 == 0 ? start &+ other.trailingZeroBitCount : ~start
    }

    @inline(never)
    private func longDigits(_ start: Int) -> Int {
        var place = start
        while bytes[place] &- 0x30 < 10 { place &+= 1 }
        return place
    }

    private func number(_ start: Int) -> Int {
        var place = bytes[start] == 0x2D ? start &+ 1 : start
        if bytes[place] == 0x30 {
            place &+= 1
        } else {
            place = digits(place)
            guard place >= 0 else { return place }
        }
        if bytes[place] == 0x2E {
            place = digits(place &+ 1)
            guard place >= 0 else { return place }
        }
        if bytes[place] | 0x20 == 0x65 {
            place &+= 1
            if bytes[place] == 0x2B || bytes[place] == 0x2D { place &+= 1 }
            place = digits(place)
        }
        return place
    }

    @inline(__always)
    private func string(_ start: Int) -> Int {
        guard bytes[start] == 0x22 else { return ~start }
        // Most end within sixteen bytes, and have nothing but plain characters.
        let special = pushload_special(bytes + (start &+ 1))
        if special != 0 {
            let place = start &+ 1 &+ special.trailingZeroBitCount
            return bytes[place] == 0x22 ? place &+ 1 : restOfString(place)
        }
        return restOfString(start &+ 17)
    }

    /// Passes plain characters, sixteen a step, neither a quote nor a backslash, from 0x20 to 0x7F; stops at one that is not.
    @inline(__always)
    private func plain(_ start: Int) -> Int {
        var place = start
        while true {
            let special = pushload_special(bytes + place)
            if special != 0 { return place &+ special.trailingZeroBitCount }
            place &+= 16
        }
    }

    @inline(never)
    private func restOfString(_ start: Int) -> Int {
        var place = start
        while true {
            place = plain(place)
            let byte = bytes[place]
            if byte == 0x22 { return place &+ 1 }
            if byte < 0x20 { return ~place }
            place = byte == 0x5C ? escape(place) : scalar(place)
            guard place >= 0 else { return place }
        }
    }

    private func escape(_ start: Int) -> Int {
        switch bytes[start &+ 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return start &+ 2
        case 0x75:
            for place in (start &+ 2)..<(start &+ 6) {
                switch bytes[place] {
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
                default: return ~start
                }
            }
            return start &+ 6
        default: return ~start
        }
    }

    /// One UTF-8 sequence of two to four bytes (RFC 3629 section 4).
    private func scalar(_ start: Int) -> Int {
        let first = bytes[start]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first <= 0xF4 else { return ~start }
        for place in 1..<length where bytes[start &+ place] & 0xC0 != 0x80 { return ~start }
        let second = bytes[start &+ 1]
        if first == 0xE0, second < 0xA0 { return ~start }
        if first == 0xED, second > 0x9F { return ~start }
        if first == 0xF0, second < 0x90 { return ~start }
        if first == 0xF4, second > 0x8F { return ~start }
        return start &+ length
    }
}
