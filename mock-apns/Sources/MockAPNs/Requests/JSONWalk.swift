import Glibc

/// Walks a payload once: checks that it is one JSON object (RFC 8259) and finds its trace tag, building nothing.
///
/// Cost: about 1 ns a byte. Bounded: nesting beyond `deepest` is refused.
struct JSONWalk {
    static let deepest = 64

    private let bytes: UnsafePointer<UInt8>
    private let end: Int
    private var position = 0
    /// There is a top-level `aps` whose value is an object.
    private(set) var hasAPS = false
    /// There is a top-level `mdm` whose value is a text.
    private(set) var hasMDM = false
    /// The value of the top-level trace tag, without its quotes.
    private(set) var trace: UnsafeRawBufferPointer?

    private static let traceKey = Array("pushload-trace".utf8)

    private init(_ payload: UnsafeRawBufferPointer) {
        bytes = payload.baseAddress!.assumingMemoryBound(to: UInt8.self)
        end = payload.count
    }

    /// Nil when the payload is not one JSON object.
    static func over(_ payload: UnsafeRawBufferPointer) -> JSONWalk? {
        guard payload.count > 0 else { return nil }
        var walk = JSONWalk(payload)
        walk.space()
        guard walk.position < walk.end, walk.bytes[walk.position] == 0x7B, walk.object(depth: 1) else { return nil }
        walk.space()
        return walk.position == walk.end ? walk : nil
    }

    /// The byte at which a payload stops being one JSON object; nil when it is one.
    static func failure(_ payload: UnsafeRawBufferPointer) -> Int? {
        guard payload.count > 0 else { return 0 }
        var walk = JSONWalk(payload)
        walk.space()
        if walk.position < walk.end, walk.bytes[walk.position] == 0x7B, walk.object(depth: 1) {
            walk.space()
            if walk.position == walk.end { return nil }
        }
        return walk.position
    }

    @inline(__always)
    private mutating func space() {
        while position < end {
            let byte = bytes[position]
            if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 { return }
            position &+= 1
        }
    }

    private mutating func object(depth: Int) -> Bool {
        guard depth <= Self.deepest else { return false }
        position &+= 1
        space()
        if position < end, bytes[position] == 0x7D {
            position &+= 1
            return true
        }
        while true {
            space()
            let keyStart = position &+ 1
            guard string() else { return false }
            let keyLength = position &- 1 &- keyStart
            space()
            guard position < end, bytes[position] == 0x3A else { return false }
            position &+= 1
            space()
            let valueStart = position
            guard value(depth: depth &+ 1) else { return false }
            if depth == 1 { note(keyStart, keyLength, valueStart) }
            space()
            guard position < end else { return false }
            let byte = bytes[position]
            position &+= 1
            if byte == 0x7D { return true }
            guard byte == 0x2C else { return false }
        }
    }

    private mutating func note(_ keyStart: Int, _ keyLength: Int, _ valueStart: Int) {
        let key = bytes + keyStart
        if keyLength == 3 {
            if key[0] == 0x61, key[1] == 0x70, key[2] == 0x73 {
                hasAPS = bytes[valueStart] == 0x7B
            } else if key[0] == 0x6D, key[1] == 0x64, key[2] == 0x6D {
                hasMDM = bytes[valueStart] == 0x22
            }
        } else if keyLength == Self.traceKey.count, bytes[valueStart] == 0x22 {
            let isTrace = Self.traceKey.withUnsafeBufferPointer { memcmp($0.baseAddress!, key, keyLength) == 0 }
            if isTrace {
                trace = UnsafeRawBufferPointer(start: bytes + valueStart + 1, count: position - valueStart - 2)
            }
        }
    }

    private mutating func array(depth: Int) -> Bool {
        guard depth <= Self.deepest else { return false }
        position &+= 1
        space()
        if position < end, bytes[position] == 0x5D {
            position &+= 1
            return true
        }
        while true {
            space()
            guard value(depth: depth &+ 1) else { return false }
            space()
            guard position < end else { return false }
            let byte = bytes[position]
            position &+= 1
            if byte == 0x5D { return true }
            guard byte == 0x2C else { return false }
        }
    }

    private mutating func value(depth: Int) -> Bool {
        guard position < end else { return false }
        switch bytes[position] {
        case 0x22: return string()
        case 0x7B: return object(depth: depth)
        case 0x5B: return array(depth: depth)
        case 0x74: return word("true")
        case 0x66: return word("false")
        case 0x6E: return word("null")
        case 0x2D, 0x30...0x39: return number()
        default: return false
        }
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard position + length <= end, memcmp(bytes + position, word.utf8Start, length) == 0 else { return false }
        position += length
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while position < end, bytes[position] &- 0x30 < 10 { position &+= 1 }
        return position > start
    }

    private mutating func number() -> Bool {
        if bytes[position] == 0x2D { position &+= 1 }
        guard position < end else { return false }
        if bytes[position] == 0x30 {
            position &+= 1
        } else if !digits() {
            return false
        }
        if position < end, bytes[position] == 0x2E {
            position &+= 1
            if !digits() { return false }
        }
        if position < end, bytes[position] == 0x65 || bytes[position] == 0x45 {
            position &+= 1
            if position < end, bytes[position] == 0x2B || bytes[position] == 0x2D { position &+= 1 }
            if !digits() { return false }
        }
        return true
    }

    private mutating func string() -> Bool {
        guard position < end, bytes[position] == 0x22 else { return false }
        position &+= 1
        while position < end {
            // Plain characters, eight a step: neither a quote nor a backslash, from 0x20 to 0x7F.
            while position &+ 8 <= end {
                let eight = UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self).littleEndian
                let special = Self.special(eight)
                if special != 0 {
                    position &+= special.trailingZeroBitCount >> 3
                    break
                }
                position &+= 8
            }
            guard position < end else { return false }
            let byte = bytes[position]
            if byte == 0x22 {
                position &+= 1
                return true
            }
            if byte < 0x20 { return false }
            if byte >= 0x80 {
                guard scalar() else { return false }
            } else if byte == 0x5C {
                guard escape() else { return false }
            } else {
                position &+= 1
            }
        }
        return false
    }

    /// The lowest set bit lies in the first byte that is a quote, a backslash, below 0x20 or above 0x7F; 0: there is none.
    @inline(__always)
    private static func special(_ bytes: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ ones &* 0x22
        let slashes = bytes ^ ones &* 0x5C
        // A borrow can only mark a byte above one that is marked rightly.
        let found = (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (bytes &- ones &* 0x20) | bytes
        return found & 0x8080_8080_8080_8080
    }

    private mutating func escape() -> Bool {
        guard position &+ 1 < end else { return false }
        switch bytes[position &+ 1] {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:
            position &+= 2
            return true
        case 0x75:
            guard position &+ 6 <= end else { return false }
            for place in (position &+ 2)..<(position &+ 6) {
                switch bytes[place] {
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
                default: return false
                }
            }
            position &+= 6
            return true
        default: return false
        }
    }

    /// One UTF-8 sequence of two to four bytes (RFC 3629 section 4).
    private mutating func scalar() -> Bool {
        let first = bytes[position]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first <= 0xF4, position &+ length <= end else { return false }
        for place in 1..<length where bytes[position &+ place] & 0xC0 != 0x80 { return false }
        let second = bytes[position &+ 1]
        if first == 0xE0, second < 0xA0 { return false }
        if first == 0xED, second > 0x9F { return false }
        if first == 0xF0, second < 0x90 { return false }
        if first == 0xF4, second > 0x8F { return false }
        position &+= length
        return true
    }
}
