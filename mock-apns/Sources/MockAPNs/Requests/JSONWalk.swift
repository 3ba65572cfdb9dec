import Devices
import Glibc

/// Memory for the payload that is walked over, one at a time, and what those before it were like.
final class JSONScratch {
    private let memory: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    fileprivate let repeated: UnsafeMutablePointer<RepeatedPayloads>

    /// - Parameter capacity: bytes of the longest payload.
    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity + PayloadBytes.slack)
        repeated = .allocate(capacity: 1)
        repeated.initialize(to: RepeatedPayloads())
    }

    deinit {
        memory.deallocate()
        repeated.pointee.deallocate()
        repeated.deallocate()
    }

    /// nil: the payload is longer than it has memory for.
    @inline(__always)
    fileprivate func bytes(_ payload: UnsafeRawBufferPointer) -> PayloadBytes? {
        payload.count <= capacity ? PayloadBytes(payload, copiedTo: memory) : nil
    }
}

/// Walks a payload once: checks that it is one JSON object (RFC 8259) and finds its trace tag, building nothing.
///
/// Cost: a copy of the payload, behind which there are zeros, so that nothing on the way asks where it ends; some 80 instructions a member
/// whose key and value have fewer than 16 bytes, fewer where a payload is like one before it (`RepeatedPayloads`). Bounded: nesting beyond `deepest` is refused.
struct JSONWalk {
    static let deepest = 64

    /// There is a top-level `aps` whose value is an object.
    private(set) var hasAPS = false
    /// There is a top-level `mdm` whose value is a text.
    private(set) var hasMDM = false
    /// The value of the top-level trace tag, without its quotes.
    private(set) var trace: UnsafeRawBufferPointer?
    /// Where that is; -1: there is none.
    private(set) var traceStart = -1
    private var traceCount = 0

    init() {}

    /// What the walk over another payload found holds of this one, which has its trace tag elsewhere; -1: none.
    @inline(__always)
    init(like other: JSONWalk, traceStart: Int, traceEnd: Int) {
        (hasAPS, hasMDM) = (other.hasAPS, other.hasMDM)
        (self.traceStart, traceCount) = (traceStart, traceEnd &- traceStart)
    }

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
        if let bytes = scratch?.bytes(payload) {
            if list == nil, let repeated = scratch?.repeated {
                return repeated.pointee.walk(bytes)?.placed(in: payload)
            }
            return over(payload, bytes, list)
        }
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
        return walk.placed(in: payload)
    }

    /// With its trace tag.
    @inline(__always)
    private func placed(in payload: UnsafeRawBufferPointer) -> JSONWalk {
        var walk = self
        if traceStart >= 0 {
            walk.trace = UnsafeRawBufferPointer(start: payload.baseAddress! + traceStart, count: traceCount)
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
    mutating func note(
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
