import CVector
import Devices
import Glibc

/// Where members and values stand, noted on the way.
protocol MemberNotes {
    /// A member begins: its place in the list.
    mutating func begin(depth: Int) -> Int
    /// It has ended.
    func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int)
    /// A value of a member or in an array has ended.
    mutating func value(_ start: Int, _ end: Int)
}

extension MemberNotes {
    @inline(__always) func value(_ start: Int, _ end: Int) {}
}

/// Nobody wants to know.
struct NoNotes: MemberNotes {
    @inline(__always) func begin(depth: Int) -> Int { 0 }
    @inline(__always) func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int) {}
}

/// The bytes that are walked over: two words, in registers all the way. Each function is told where to begin, and returns where
/// what it looks for has ended, or, where it is not that, the complement of where it stopped. Behind the payload there are zeros, which
/// stop whatever comes to them, and of which none is allowed in JSON.
struct PayloadBytes {
    /// Zeros behind the payload: as many as are looked at together.
    static let slack = 16

    let bytes: UnsafePointer<UInt8>
    let end: Int

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
            notes.value(value, place)
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
            let start = place
            place = value(start, depth: depth &+ 1, &walk, &notes)
            guard place >= 0 else { return place }
            notes.value(start, place)
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
        case 0x2D, 0x30...0x39: return number(start)
        default: return word(start)
        }
    }

    /// `true`, `false` or `null`.
    func word(_ start: Int) -> Int {
        switch bytes[start] {
        case 0x74: word("true", start)
        case 0x66: word("false", start)
        case 0x6E: word("null", start)
        default: ~start
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

    func number(_ start: Int) -> Int {
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
        bytes[start] == 0x22 ? endOfString(start &+ 1) : ~start
    }

    /// Of one that has begun.
    @inline(__always)
    func endOfString(_ start: Int) -> Int {
        // Most end within sixteen bytes, and have nothing but plain characters.
        let special = pushload_special(bytes + start)
        if special != 0 {
            let place = start &+ special.trailingZeroBitCount
            return bytes[place] == 0x22 ? place &+ 1 : restOfString(place)
        }
        return restOfString(start &+ 16)
    }

    /// The same, with nothing but plain characters passed on the way to it here.
    @inline(__always)
    func endOfText(_ start: Int) -> Int {
        let place = plain(start)
        return bytes[place] == 0x22 ? place &+ 1 : restOfString(place)
    }

    /// The same as `number`, with nothing but few digits passed here.
    @inline(__always)
    func endOfNumber(_ start: Int) -> Int {
        let digits = pushload_no_decimals(bytes + start)
        // Not two that begin with 0.
        let isPlain = digits & 1 == 0 && (bytes[start] != 0x30 || digits & 2 != 0)
        if isPlain, digits != 0 {
            let place = start &+ digits.trailingZeroBitCount
            let next = bytes[place]
            if next != 0x2E, next | 0x20 != 0x65 { return place }
        }
        return number(start)
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
