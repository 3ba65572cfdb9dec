import Glibc

/// Finds values in JSON that was checked before; stays within the bytes whatever they are. Each byte is looked at once, those of
/// texts eight at a time.
struct PayloadReader {
    let bytes: UnsafePointer<UInt8>
    let count: Int

    @inline(__always)
    func space(_ start: Int) -> Int {
        var place = start
        while place < count, bytes[place] <= 0x20 { place &+= 1 }
        return place
    }

    @inline(__always)
    func isObject(_ start: Int) -> Bool { start < count && bytes[start] == 0x7B }

    /// A text as a name.
    func name(_ text: PushContent.Place) -> PayloadName {
        PayloadName(
            bytes: bytes + Int(text.start), plainCount: Int(text.count),
            hasEscapes: text.count > 0 && memchr(bytes + Int(text.start), 0x5C, Int(text.count)) != nil)
    }

    /// The members of an object, one after the other.
    struct Members: MemberReading {
        private let reader: PayloadReader
        /// Where the value begins.
        private var value: Int
        /// Where it ends; nil: not known yet, of an object or an array.
        private var valueEnd: Int?
        /// Where the object ends, once there are no more members.
        private var end: Int
        private var isFirst = true

        /// - Parameter start: where the object is; where there is none, it has no members.
        @inline(__always)
        init(_ reader: PayloadReader, of start: Int) {
            self.reader = reader
            value = start
            end = min(start &+ 1, reader.count)
        }

        /// The next member's key; nil: there are no more.
        @inline(__always)
        mutating func next() -> PayloadName? {
            let (bytes, count) = (reader.bytes, reader.count)
            var place: Int
            if isFirst {
                guard reader.isObject(value) else { return nil }
                isFirst = false
                place = reader.space(value &+ 1)
            } else {
                place = reader.space(valueEnd ?? reader.containerEnd(value))
                guard place < count, bytes[place] == 0x2C else { return finish(place) }
                place = reader.space(place &+ 1)
            }
            guard place < count, bytes[place] == 0x22 else { return finish(place) }
            let key = place
            let (keyEnd, hasEscapes) = reader.string(key)
            let colon = reader.space(keyEnd)
            guard colon < count, bytes[colon] == 0x3A else { return finish(count) }
            value = reader.space(colon &+ 1)
            guard value < count else { return finish(count) }
            switch bytes[value] {
            case 0x22: valueEnd = reader.string(value).end
            case 0x7B, 0x5B: valueEnd = nil
            default: valueEnd = reader.plainEnd(value)
            }
            return PayloadName(
                bytes: bytes + (key &+ 1), plainCount: max(0, keyEnd &- key &- 2), hasEscapes: hasEscapes)
        }

        private mutating func finish(_ place: Int) -> PayloadName? {
            end = min(place &+ 1, reader.count)
            return nil
        }

        var isObject: Bool { reader.isObject(value) }
        func inside() -> Members { Members(reader, of: value) }
        mutating func pass(_ inner: Members) { valueEnd = inner.end }

        var text: PushContent.Place? {
            @inline(__always) get {
                guard reader.bytes[value] == 0x22, let valueEnd else { return nil }
                return .init(value &+ 1, to: valueEnd &- 1)
            }
        }

        var integer: Int32? { reader.integer(value) }

        var textOrNumber: PushContent.Place {
            text ?? (integer == nil ? .init() : .init(value, to: reader.numberEnd(value)))
        }
    }

    /// After the closing quote, or the end; and whether there is a backslash in it.
    @inline(__always)
    private func string(_ start: Int) -> (end: Int, hasEscapes: Bool) {
        var place = start &+ 1
        while place &+ 8 <= count {
            let eight = UnsafeRawPointer(bytes + place).loadUnaligned(as: UInt64.self).littleEndian
            let special = Self.special(eight)
            if special != 0 {
                place &+= special.trailingZeroBitCount &>> 3
                // Most have no backslash.
                return bytes[place] == 0x22 ? (place &+ 1, false) : escapedString(place)
            }
            place &+= 8
        }
        return lastString(place)
    }

    /// The lowest set bit lies in the first byte that is a quote or a backslash; 0: there is none.
    @inline(__always)
    private static func special(_ bytes: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ ones &* 0x22
        let slashes = bytes ^ ones &* 0x5C
        // A borrow can only mark a byte above one that is marked rightly.
        return ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes) & 0x8080_8080_8080_8080
    }

    /// Less than eight bytes before the end.
    @inline(never)
    private func lastString(_ start: Int) -> (end: Int, hasEscapes: Bool) {
        var place = start
        while place < count {
            if bytes[place] == 0x22 { return (place + 1, false) }
            if bytes[place] == 0x5C { return escapedString(place) }
            place += 1
        }
        return (count, false)
    }

    /// From its first backslash on.
    @inline(never)
    private func escapedString(_ start: Int) -> (end: Int, hasEscapes: Bool) {
        var place = start
        while place < count {
            if bytes[place] == 0x22 { return (place + 1, true) }
            place += bytes[place] == 0x5C ? 2 : 1
        }
        return (count, true)
    }

    /// Where a number or a word ends.
    @inline(__always)
    private func plainEnd(_ start: Int) -> Int {
        var place = start
        while place < count, bytes[place] != 0x2C, bytes[place] | 0x20 != 0x7D { place &+= 1 }
        return place
    }

    /// Where an object or an array ends.
    @inline(never)
    private func containerEnd(_ start: Int) -> Int {
        var place = start
        var depth = 0
        while place < count {
            switch bytes[place] {
            case 0x22:
                place = string(place).end
                continue
            case 0x7B, 0x5B: depth &+= 1
            case 0x7D, 0x5D:
                depth &-= 1
                if depth <= 0 { return place &+ 1 }
            default: break
            }
            place &+= 1
        }
        return count
    }

    func numberEnd(_ start: Int) -> Int {
        var place = start
        while place < count, bytes[place] == 0x2D || bytes[place] &- 0x30 < 10 { place &+= 1 }
        return place
    }

    /// A whole number, at most what 32 bits hold; nil: none.
    func integer(_ start: Int) -> Int32? {
        let end = numberEnd(start)
        let isNegative = start < end && bytes[start] == 0x2D
        let first = isNegative ? start + 1 : start
        guard first < end, end == count || (bytes[end] != 0x2E && bytes[end] | 0x20 != 0x65) else { return nil }
        var value: Int64 = 0
        for place in first..<end {
            guard bytes[place] != 0x2D else { return nil }
            value = min(value * 10 + Int64(bytes[place] - 0x30), Int64(Int32.max))
        }
        return Int32(isNegative ? -value : value)
    }
}
