import Glibc

/// Where a member of an object stands in a payload, in bytes from its start.
public struct PayloadMember {
    /// The first byte of its key, after the quote, and how many it has.
    public var key: UInt16 = 0
    public var keyCount: UInt16 = 0
    public var value: UInt16 = 0
    /// After the last byte of its value.
    public var valueEnd: UInt16 = 0
    /// In the list: the next member of the same object, or what follows the object; its own members lie between.
    public var next: UInt16 = 0

    @inlinable
    public init() {}
}

/// What reads objects of a payload: the members of one, one after the other.
protocol MemberReading {
    /// The next member's key; nil: there are no more.
    mutating func next() -> PayloadName?
    var isObject: Bool { get }
    /// nil: the value is no text.
    var text: PushContent.Place? { get }
    /// A whole number, at most what 32 bits hold; nil: none.
    var integer: Int32? { get }
    var textOrNumber: PushContent.Place { get }
    /// The members of the value, an object.
    func inside() -> Self
    /// They have all been read.
    mutating func pass(_ inner: Self)
}

/// A key, or another text, between its quotes.
struct PayloadName {
    let bytes: UnsafePointer<UInt8>
    let plainCount: Int
    let hasEscapes: Bool

    @inline(__always)
    var count: Int { hasEscapes ? decoded.utf8.count : plainCount }

    /// With escapes it is the text that they stand for.
    @inline(__always)
    func `is`(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        if hasEscapes {
            return decoded.utf8.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: count))
        }
        return plainCount == count && memcmp(bytes, text.utf8Start, count) == 0
    }

    private var decoded: String {
        @inline(never) get { JSONString.decoded(UnsafeRawBufferPointer(start: bytes, count: plainCount)) }
    }
}

/// Members that were found when the payload was checked.
struct ListedMembers: MemberReading {
    private let reader: PayloadReader
    private let list: UnsafePointer<PayloadMember>
    private var place: Int
    private var following: Int
    private let end: Int

    /// - Parameter list: of the outermost object, not empty.
    @inline(__always)
    init(_ reader: PayloadReader, _ list: UnsafeBufferPointer<PayloadMember>) {
        self.init(reader, list.baseAddress!, from: 0, to: list.count)
    }

    @inline(__always)
    private init(_ reader: PayloadReader, _ list: UnsafePointer<PayloadMember>, from start: Int, to end: Int) {
        self.reader = reader
        self.list = list
        place = start
        following = start
        self.end = end
    }

    /// The fewest bytes of a key with an escape for a letter of a name that is looked for.
    private static let shortestEscaped = 8

    @inline(__always)
    mutating func next() -> PayloadName? {
        place = following
        guard place < end else { return nil }
        following = Int(list[place].next)
        let (key, count) = (reader.bytes + Int(list[place].key), Int(list[place].keyCount))
        return PayloadName(
            bytes: key, plainCount: count,
            hasEscapes: count >= Self.shortestEscaped && memchr(key, 0x5C, count) != nil)
    }

    private var value: Int { Int(list[place].value) }
    var isObject: Bool { reader.bytes[value] == 0x7B }
    var text: PushContent.Place? {
        @inline(__always) get {
            reader.bytes[value] == 0x22 ? .init(value &+ 1, to: Int(list[place].valueEnd) &- 1) : nil
        }
    }
    var integer: Int32? { reader.integer(value) }
    var textOrNumber: PushContent.Place {
        text ?? (integer == nil ? .init() : .init(value, to: reader.numberEnd(value)))
    }
    func inside() -> ListedMembers { ListedMembers(reader, list, from: place + 1, to: following) }
    func pass(_ inner: ListedMembers) {}
}
