import Devices
import Glibc
import HTTP2
import Payloads

/// Where a value lies in a request's memory; length -1: the header was not there.
struct HeaderRange {
    var offset: Int32 = 0
    var length: Int32 = -1

    var isPresent: Bool { length >= 0 }
}

/// The headers APNs looks at.
enum KnownHeader: Int {
    case method, path, authorization, topic, pushType, priority, expiration, collapseID, identifier
    // Broadcast channels only.
    case channelID, requestID

    static let count = 11

    /// What a header is to the session that decodes it: its number from 1 on, 0 for one nobody looks at.
    static func mark(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt8 {
        named(name, length).map { UInt8($0.rawValue + 1) } ?? 0
    }

    @inline(__always)
    init?(mark: UInt8) {
        switch mark {
        case 1...UInt8(Self.count): self = KnownHeader(rawValue: Int(mark) - 1)!
        case HeaderMark.method: self = .method
        case HeaderMark.path: self = .path
        default: return nil
        }
    }

    /// Finds a header by its name; nil for any other.
    static func named(_ name: UnsafePointer<UInt8>, _ length: Int) -> KnownHeader? {
        switch length {
        case 5: matches(name, ":path", 5) ? .path : nil
        case 7: matches(name, "apns-id", 7) ? .identifier : matches(name, ":method", 7) ? .method : nil
        case 10: matches(name, "apns-topic", 10) ? .topic : nil
        case 13:
            name[1] == 0x75
                ? (matches(name, "authorization", 13) ? .authorization : nil)
                : (matches(name, "apns-priority", 13) ? .priority : nil)
        case 14: matches(name, "apns-push-type", 14) ? .pushType : nil
        case 15:
            name[5] == 0x65
                ? (matches(name, "apns-expiration", 15) ? .expiration : nil)
                : matches(name, "apns-channel-id", 15)
                    ? .channelID : matches(name, "apns-request-id", 15) ? .requestID : nil
        case 16: matches(name, "apns-collapse-id", 16) ? .collapseID : nil
        default: nil
        }
    }

    @inline(__always)
    private static func matches(_ name: UnsafePointer<UInt8>, _ expected: StaticString, _ length: Int) -> Bool {
        memcmp(name, expected.utf8Start, length) == 0
    }
}

/// One request while it arrives: the values of the headers that matter, and the payload. Bounded: headers in
/// `headerCapacity` bytes (512 unless they need more), the payload in one byte more than the largest allowed.
final class RequestState {
    static let headerCapacity = 8192
    static let bodyCapacity = 5121

    var stream: Int32 = 0
    /// The next in its session's list of those that no request needs.
    @exclusivity(unchecked) var next: Unmanaged<RequestState>?
    /// The next in its session's list of those whose payload may lie in the read buffer, and whether it is in that list.
    @exclusivity(unchecked) var nextBorrowing: Unmanaged<RequestState>?
    @exclusivity(unchecked) var isBorrowing = false
    /// What its header fields are, `:path` apart, the session's, and what number that had; nil: nothing that is repeated.
    @exclusivity(unchecked) private var likeness: Unmanaged<HeaderPattern>?
    @exclusivity(unchecked) private var likenessNumber: UInt32 = 0
    /// The number of the one that its memory holds; 0: none.
    @exclusivity(unchecked) private var held: UInt32 = 0
    @exclusivity(unchecked) private var memory: UnsafeMutablePointer<UInt8>
    private var memorySize = usualMemory
    @exclusivity(unchecked) private var memoryUsed = 0
    private let ranges: UnsafeMutablePointer<HeaderRange>
    private(set) var hasDuplicates = false
    /// The `authorization` value is that of the connection's last verified token.
    var hasKnownToken = false
    /// More header bytes came than are kept.
    private(set) var isOverflowing = false

    /// What the device model knows the device by; nil: not asked yet.
    var deviceKey: DeviceKey?
    /// Once judged: what `apns-push-type` says, alert when it is missing.
    var pushType = PushType.alert
    /// Once judged: 10, 5 or 1.
    var priority = 10
    /// When the request began, monotonic nanoseconds.
    var begunAt: UInt64 = 0
    /// Which sample of the run's push times it is; -1: none.
    var timesSample = -1
    /// The request is complete and was judged.
    var isJudged = false
    /// Its answer waits for its time.
    var isWaiting = false
    /// It waits for the others of its batch.
    var isHeld = false
    /// Once it waits: how often its namespace had begun anew by then.
    var restarts: UInt32 = 0
    /// The `apns-id` of its answer, where somebody was told before: the request has none of its own.
    var drawnIdentifier: RandomUUID?
    /// The `apns-unique-id` of its answer, where the push is kept.
    var uniqueIdentifier: RandomUUID?
    /// Of a request that is kept: all header fields as they came.
    @exclusivity(unchecked) var headers = HeaderRecord()
    /// Its number among the requests that are kept.
    var keptAs: UInt64 = 0
    /// What its worker knows the request's namespace by, where there are several.
    var namespace = 0

    // The payload: borrowed from the read buffer while one DATA frame holds it all, else copied.
    @exclusivity(unchecked) private var borrowed: UnsafePointer<UInt8>?
    private var owned: UnsafeMutablePointer<UInt8>?
    /// Bytes received, also those beyond `bodyCapacity` that were not kept.
    @exclusivity(unchecked) private(set) var bodyCount = 0

    init() {
        memory = .allocate(capacity: memorySize)
        ranges = .allocate(capacity: KnownHeader.count)
        ranges.initialize(repeating: HeaderRange(), count: KnownHeader.count)
    }

    deinit {
        memory.deallocate()
        ranges.deallocate()
        owned?.deallocate()
    }

    /// Of `capacity`, what its session has counted.
    @exclusivity(unchecked) var countedBytes = 0
    /// Bytes of memory it takes, its stream's too, about.
    var capacity: Int { memorySize + (owned == nil ? 0 : Self.bodyCapacity) + headers.held + 640 }

    /// It has memory for more headers than most requests have.
    var isLarge: Bool { memorySize > Self.usualMemory }
    private static let usualMemory = 512

    /// Makes it ready for the next request, whose header fields are told one by one, or repeated.
    func reset() {
        stream = 0
        hasDuplicates = false
        hasKnownToken = false
        isOverflowing = false
        isJudged = false
        isWaiting = false
        isHeld = false
        keptAs = 0
        drawnIdentifier = nil
        uniqueIdentifier = nil
        headers.reset()
        deviceKey = nil
        timesSample = -1
        pushType = .alert
        priority = 10
        borrowed = nil
        bodyCount = 0
        if let buffer = owned {
            buffer.deallocate()
            owned = nil
        }
    }

    // MARK: Headers

    /// There is no header field yet.
    @inline(__always)
    func beginHeaders() {
        memoryUsed = 0
        (likeness, held) = (nil, 0)
        ranges.update(repeating: HeaderRange(), count: KnownHeader.count)
    }

    /// All its header fields have been told, and are those of the pattern.
    func isLike(_ pattern: HeaderPattern) { (likeness, likenessNumber) = (.passUnretained(pattern), pattern.number) }

    /// What its header fields are, `:path` apart; nil: nothing that is repeated, or was when the request began and is no more.
    @inline(__always)
    var pattern: Unmanaged<HeaderPattern>? {
        guard let likeness, likeness._withUnsafeGuaranteedRef({ $0.number }) == likenessNumber else { return nil }
        return likeness
    }

    /// Its header fields are those of the pattern, and `:path`.
    ///
    /// - Parameter path: with the pattern's values no more than is kept of a request's header fields, which HTTP/2 has seen to.
    @inline(__always)
    func repeatHeaders(_ pattern: HeaderPattern, path: UnsafeBufferPointer<UInt8>) {
        isLike(pattern)
        hasKnownToken = pattern.hasKnownToken
        if held != pattern.number { copy(pattern) }
        memoryUsed = pattern.count
        let used = pattern.count &+ path.count
        if used > memorySize {
            // Longer ones are none of a request that HTTP/2 lets through.
            guard used <= Self.headerCapacity else { return isOverflowing = true }
            grow()
        }
        (memory + pattern.count).update(from: path.baseAddress!, count: path.count)
        ranges[KnownHeader.path.rawValue] = HeaderRange(
            offset: Int32(truncatingIfNeeded: pattern.count), length: Int32(truncatingIfNeeded: path.count))
        memoryUsed = used
    }

    private func copy(_ pattern: HeaderPattern) {
        if pattern.count > memorySize { grow() }
        if let values = pattern.values { memory.update(from: values, count: pattern.count) }
        ranges.update(from: pattern.ranges, count: KnownHeader.count)
        held = pattern.number
    }

    func has(_ header: KnownHeader) -> Bool { ranges[header.rawValue].isPresent }

    /// Notes that the header was there without keeping its value.
    func note(_ header: KnownHeader) {
        if ranges[header.rawValue].isPresent { hasDuplicates = true }
        ranges[header.rawValue] = HeaderRange(offset: 0, length: 0)
    }

    func set(_ header: KnownHeader, _ value: UnsafePointer<UInt8>, _ length: Int) {
        if ranges[header.rawValue].isPresent { hasDuplicates = true }
        guard memoryUsed + length <= Self.headerCapacity else {
            isOverflowing = true
            return
        }
        if memoryUsed + length > memorySize { grow() }
        memory.advanced(by: memoryUsed).update(from: value, count: length)
        ranges[header.rawValue] = HeaderRange(offset: Int32(memoryUsed), length: Int32(length))
        memoryUsed += length
    }

    /// Gives an empty header, or one that was not there, a value.
    func take(_ header: KnownHeader, _ text: String) {
        ranges[header.rawValue] = HeaderRange()
        held = 0
        var text = text
        text.withUTF8 { if let value = $0.baseAddress { set(header, value, $0.count) } }
    }

    private func grow() {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.headerCapacity)
        larger.update(from: memory, count: min(memoryUsed, memorySize))
        memory.deallocate()
        memory = larger
        memorySize = Self.headerCapacity
    }

    /// The value; empty when the header was not there.
    func value(_ header: KnownHeader) -> UnsafeRawBufferPointer {
        let range = ranges[header.rawValue]
        return UnsafeRawBufferPointer(start: memory + Int(range.offset), count: Int(max(range.length, 0)))
    }

    /// What follows `/3/device/`; empty when the path is another.
    @inline(__always)
    var deviceToken: UnsafeRawBufferPointer {
        let path = value(.path)
        guard path.count > RequestChecks.devicePath.utf8CodeUnitCount else {
            return UnsafeRawBufferPointer(rebasing: path[path.count...])
        }
        return UnsafeRawBufferPointer(rebasing: path[RequestChecks.devicePath.utf8CodeUnitCount...])
    }

    var deviceTokenText: String { String(decoding: deviceToken, as: UTF8.self) }

    func text(_ header: KnownHeader) -> String { String(decoding: value(header), as: UTF8.self) }

    // MARK: Payload

    /// The payload's bytes; only the first `bodyCapacity` of a longer one.
    var body: UnsafeRawBufferPointer {
        let kept = min(bodyCount, Self.bodyCapacity)
        if let borrowed { return UnsafeRawBufferPointer(start: borrowed, count: kept) }
        return UnsafeRawBufferPointer(start: owned, count: owned == nil ? 0 : kept)
    }

    /// Takes a piece of the payload that stays valid until `keepBorrowed`.
    ///
    /// - Returns: true when the piece is only borrowed.
    func append(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        if bodyCount == 0 {
            borrowed = bytes
            bodyCount = count
            return true
        }
        keepBorrowed()
        let room = Self.bodyCapacity - min(bodyCount, Self.bodyCapacity)
        let kept = min(room, count)
        if kept > 0 { buffer().advanced(by: bodyCount).update(from: bytes, count: kept) }
        bodyCount += count
        return false
    }

    /// The payload is judged and will not be looked at again.
    func dropBody() { borrowed = nil }

    /// Copies what is borrowed: the read buffer is about to change.
    func keepBorrowed() {
        guard let source = borrowed else { return }
        borrowed = nil
        buffer().update(from: source, count: min(bodyCount, Self.bodyCapacity))
    }

    private func buffer() -> UnsafeMutablePointer<UInt8> {
        if let owned { return owned }
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.bodyCapacity)
        owned = buffer
        return buffer
    }
}
