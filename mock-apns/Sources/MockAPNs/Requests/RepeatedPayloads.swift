import CVector
import Glibc

/// What payloads are like that a sender makes of one template: the same keys, brackets and order, and other values. A payload that is
/// like one before it need not be walked over: what stands between its values is compared, and each value must be a text, number or
/// word (`true`, `false`, `null`) where the other had one. It is then JSON as that one was, with the same keys. Values that were the same in
/// all of the first few payloads are compared with what stands around them, in one piece.
///
/// Bounded: `most` kinds of payload, each of at most `PayloadShape.mostBytes` and `PayloadShape.mostValues`. A payload is held against
/// others as long as it is not like one of them for a few values and then no more, which costs as much as it can save; where more
/// payloads are unlike those before them than like them, only one in sixteen is looked at.
struct RepeatedPayloads {
    static let most = 4
    /// So much doubt ends the looking.
    private static let mostDoubt = 32
    /// A payload that is like another for so many values is likely of its kind, or of one that shares its beginning.
    private static let fewValues = 2

    private let shapes: UnsafeMutablePointer<PayloadShape>
    private var known = 0
    /// Where the last one was found, and where the next goes.
    private var last = 0
    private var next = 0
    /// How many more payloads were unlike others than like them, 0 ... `mostDoubt`.
    private var doubt = 0
    private var passed = 0

    init() {
        shapes = .allocate(capacity: Self.most)
        shapes.initialize(repeating: PayloadShape(), count: Self.most)
    }

    func deallocate() {
        for place in 0..<known { shapes[place].deallocate() }
        shapes.deallocate()
    }

    /// What a walk over the payload finds; nil when it is not one JSON object.
    @inline(__always)
    mutating func walk(_ bytes: PayloadBytes) -> JSONWalk? {
        guard doubt < Self.mostDoubt else { return doubtful(bytes) }
        var values = 0
        if let walk = shapes[last].walk(bytes, &values) {
            if doubt > 0 { doubt &-= 1 }
            if shapes[last].isOnTrial { shapes[last].observe(bytes) }
            return walk
        }
        return other(bytes, values)
    }

    /// Whether it need not be walked over, being like the last that was.
    func isLikeLast(_ bytes: PayloadBytes) -> Bool {
        var values = 0
        return shapes[last].walk(bytes, &values) != nil
    }

    @inline(never)
    private mutating func doubtful(_ bytes: PayloadBytes) -> JSONWalk? {
        passed &+= 1
        if passed & 15 != 0 { return plain(bytes) }
        return other(bytes, 0)
    }

    /// - Parameter values: for how many it was like the last one.
    @inline(never)
    private mutating func other(_ bytes: PayloadBytes, _ values: Int) -> JSONWalk? {
        var values = values
        for place in 0..<known where place != last || doubt == Self.mostDoubt {
            if values >= Self.fewValues { break }
            guard let walk = shapes[place].walk(bytes, &values) else { continue }
            last = place
            doubt = max(0, doubt &- (doubt == Self.mostDoubt ? Self.mostDoubt / 2 : 1))
            return walk
        }
        if doubt < Self.mostDoubt { doubt &+= 1 }
        return bytes.end <= PayloadShape.mostBytes ? learn(bytes) : plain(bytes)
    }

    private func plain(_ bytes: PayloadBytes) -> JSONWalk? {
        var walk = JSONWalk()
        var notes = NoNotes()
        return bytes.whole(&walk, &notes) >= 0 ? walk : nil
    }

    private mutating func learn(_ bytes: PayloadBytes) -> JSONWalk? {
        if next == known {
            shapes[next].allocate()
            known &+= 1
        }
        var walk = JSONWalk()
        var notes = ShapeNotes(shapes[next], bytes.bytes)
        // What was there is gone, whatever comes.
        shapes[next].forget()
        guard bytes.whole(&walk, &notes) >= 0 else { return nil }
        if notes.finish(bytes.end) {
            shapes[next].take(notes.count, walk, bytes)
            last = next
            next = (next &+ 1) % Self.most
        }
        return walk
    }
}

/// One payload's text between its values, and what these are.
struct PayloadShape {
    static let mostBytes = 5120
    static let mostValues = 64

    enum Kind: UInt8 {
        case text
        case number
        case word
    }

    /// A value and what stands before it, from the end of the value before; of a text its quotes do.
    struct Part {
        var literalCount: UInt16 = 0
        var kind = Kind.text
        /// Where the value stood in the payload that was looked at last; of a text behind its quote.
        var start: UInt16 = 0
        /// And in `sample`, up to the end of the value, of a text behind its quote.
        var sampleStart: UInt16 = 0
        var sampleEnd: UInt16 = 0
        /// The value is the sample's in all payloads so far.
        var isConstant = true
        /// A bit for each of the literal's bytes, of those that are compared last.
        var lastBytes: UInt32 = 0

        init() {}

        /// - Parameter other: has the value.
        init(literalOf count: Int, _ other: Part) {
            self = other
            literalCount = UInt16(count)
            // All sixteen where they are a multiple of it: as many are left for the last comparison.
            let left = count > 0 ? (count &- 1) & 15 &+ 1 : 0
            lastBytes = UInt32(1) << UInt32(left) &- 1
        }

        /// Where the literal begins in the payload that was looked at last.
        var beginning: UInt16 { start &- literalCount }
    }

    /// One after the other, with room behind them for as many bytes as are compared together.
    private(set) var literals: UnsafeMutablePointer<UInt8>! = nil
    private(set) var parts: UnsafeMutablePointer<Part>! = nil
    /// The payload that it was taken from.
    private var sample: UnsafeMutablePointer<UInt8>! = nil
    private var sampleCount = 0
    /// Payloads that are still to be looked at for values that are always the same.
    private var trials = 0
    private static let trials = 32
    private var count = 0
    private var found = JSONWalk()
    /// Which value is the trace tag; -1: none.
    private var trace = -1
    private(set) var isKnown = false

    mutating func allocate() {
        literals = .allocate(capacity: Self.mostBytes + PayloadBytes.slack)
        literals.initialize(repeating: 0, count: Self.mostBytes + PayloadBytes.slack)
        parts = .allocate(capacity: Self.mostValues + 1)
        parts.initialize(repeating: Part(), count: Self.mostValues + 1)
        sample = .allocate(capacity: Self.mostBytes)
    }

    func deallocate() {
        literals.deallocate()
        parts.deallocate()
        sample.deallocate()
    }

    mutating func forget() { isKnown = false }

    /// - Parameters:
    ///   - count: of the values; what is behind the last is a part of its own.
    ///   - walk: what was found in the payload.
    ///   - payload: of at most `mostBytes`.
    mutating func take(_ count: Int, _ walk: JSONWalk, _ payload: PayloadBytes) {
        self.count = count
        sample.update(from: payload.bytes, count: payload.end)
        sampleCount = payload.end
        trials = Self.trials
        for number in 0..<count {
            parts[number].sampleStart = parts[number].start
            parts[number].sampleEnd = parts[number &+ 1].beginning
        }
        found = walk
        trace = -1
        if walk.traceStart >= 0 {
            trace = (0..<count).first { Int(parts[$0].start) == walk.traceStart } ?? -1
        }
        isKnown = true
    }

    /// What a walk would find in a payload that is like this one; nil when it is not, or no JSON.
    ///
    /// - Parameter values: is set, where it is nil, to how many values it is like this one for.
    @inline(__always)
    func walk(_ payload: PayloadBytes, _ values: inout Int) -> JSONWalk? {
        guard isKnown, payload.end <= UInt16.max else { return nil }
        let bytes = payload.bytes
        var place = 0
        var literal = UnsafePointer<UInt8>(literals!)
        var part = parts!
        let tail = part + count
        while true {
            // What stands before the value: behind the payload there are zeros, of which no literal has any.
            var left = Int(part.pointee.literalCount)
            while left > 16 {
                guard pushload_differences(bytes + place, literal) == 0 else { return unlike(part, &values) }
                place &+= 16
                literal += 16
                left &-= 16
            }
            guard pushload_differences(bytes + place, literal) & part.pointee.lastBytes == 0 else {
                return unlike(part, &values)
            }
            place &+= left
            literal += left
            part.pointee.start = UInt16(truncatingIfNeeded: place)
            if part == tail { break }
            switch part.pointee.kind {
            case .text: place = payload.endOfText(place)
            case .number: place = payload.endOfNumber(place)
            case .word: place = payload.word(place)
            }
            guard place >= 0 else { return unlike(part, &values) }
            part += 1
        }
        guard place == payload.end else { return unlike(part, &values) }
        guard trace >= 0 else { return JSONWalk(like: found, traceStart: -1, traceEnd: -1) }
        // Up to the quote with which what is behind it begins.
        let next = parts[trace &+ 1]
        return JSONWalk(
            like: found, traceStart: Int(parts[trace].start), traceEnd: Int(next.start) &- Int(next.literalCount) &- 1)
    }

    /// Payloads are still looked at for what never changes.
    @inline(__always)
    var isOnTrial: Bool { trials > 0 }

    /// Of a payload that was just found to be like this one: which values are the sample's.
    @inline(never)
    mutating func observe(_ payload: PayloadBytes) {
        for number in 0..<count where parts[number].isConstant {
            let part = parts[number]
            let (length, ofSample) = (
                Int(parts[number &+ 1].beginning) &- Int(part.start), Int(part.sampleEnd) &- Int(part.sampleStart)
            )
            parts[number].isConstant =
                length == ofSample
                && memcmp(payload.bytes + Int(part.start), sample + Int(part.sampleStart), length) == 0
        }
        trials &-= 1
        if trials == 0 { merge() }
    }

    /// Makes values that never changed a part of what stands before the next, but for the trace tag, whose place is told.
    private mutating func merge() {
        var (kept, bytes, begin) = (0, 0, 0)
        var keptTrace = -1
        for number in 0...count {
            let part = parts[number]
            let isTail = number == count
            if !isTail, part.isConstant, number != trace { continue }
            let end = isTail ? sampleCount : Int(part.sampleStart)
            (literals + bytes).update(from: sample + begin, count: end &- begin)
            bytes &+= end &- begin
            if number == trace { keptTrace = kept }
            parts[kept] = Part(literalOf: end &- begin, part)
            begin = Int(part.sampleEnd)
            kept &+= 1
        }
        (count, trace) = (kept &- 1, keptTrace)
    }

    @inline(never)
    private func unlike(_ part: UnsafeMutablePointer<Part>, _ values: inout Int) -> JSONWalk? {
        values = part - parts
        return nil
    }
}

/// Takes the shape of a payload on the way over it.
private struct ShapeNotes: MemberNotes {
    private let shape: PayloadShape
    private let bytes: UnsafePointer<UInt8>
    /// Values so far, also those for which there was no room.
    private(set) var count = 0
    /// Where the last has ended, and how many bytes of literals there are.
    private var ended = 0
    private var kept = 0

    init(_ shape: PayloadShape, _ bytes: UnsafePointer<UInt8>) {
        (self.shape, self.bytes) = (shape, bytes)
    }

    func begin(depth: Int) -> Int { 0 }
    func end(_ place: Int, key: Int, keyEnd: Int, value: Int, valueEnd: Int) {}

    mutating func value(_ start: Int, _ end: Int) {
        let first = bytes[start]
        // Their members have been here.
        if first == 0x7B || first == 0x5B { return }
        let kind: PayloadShape.Kind = first == 0x22 ? .text : first >= 0x61 ? .word : .number
        keep(from: ended, to: kind == .text ? start &+ 1 : start, kind)
        ended = end
    }

    /// What is behind the last value. Whether there was room for all of them.
    mutating func finish(_ end: Int) -> Bool {
        keep(from: ended, to: end, .word)
        count &-= 1
        return count <= PayloadShape.mostValues
    }

    private mutating func keep(from first: Int, to last: Int, _ kind: PayloadShape.Kind) {
        if count <= PayloadShape.mostValues {
            (shape.literals + kept).update(from: bytes + first, count: last &- first)
            kept &+= last &- first
            var part = PayloadShape.Part()
            (part.kind, part.start) = (kind, UInt16(last))
            shape.parts[count] = PayloadShape.Part(literalOf: last &- first, part)
        }
        count &+= 1
    }
}
