/// Something that is under way for a device: 56 bytes and what it keeps.
struct Job: Pooled {
    enum Kind: UInt8 {
        /// At APNs; `until`: when it expires.
        case stored
        /// By the system; `until`: when the next hour of wakes begins.
        case held
        /// `until`: when the extension would be done; `limit`: when its time is up.
        case extending
        case fetching, fetchingRich
        /// A request of the app; `until`: when it fires, `.max` where that is not known.
        case pending
        /// A callback.
        case callback
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// It is of a push: it has a ticket and an outcome.
        static let isPush = Flags(rawValue: 1)
        /// Its download has not ended.
        static let waitsForDownload = Flags(rawValue: 2)
        static let isDownloaded = Flags(rawValue: 4)
        static let crashes = Flags(rawValue: 8)
        static let isRich = Flags(rawValue: 16)
    }

    var ticket = UInt64(0)
    var until = UInt64(0)
    var limit = UInt64(0)
    var device = UInt32(0)
    var next = UInt32(0)
    var generation = UInt32(0)
    /// In the byte store: a push, or a notification's texts.
    var content = UInt32(0)
    var badge = Int32(0)
    var contentLength = UInt16(0)
    var kind = Kind.stored
    var flags: Flags = []
    /// Of a pending request: what it would present, and its category.
    var presentation: Presentation = []
    var category = UInt8(0)
}

/// A notification on a device's screen or in its notification centre: 32 bytes and its texts.
struct Shown: Pooled {
    enum Place: UInt8 { case banner, lockScreen, centre, inApp }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let isPush = Flags(rawValue: 1)
        /// The user's reaction waits for the device to be unlocked.
        static let waitsForUnlock = Flags(rawValue: 2)
    }

    var ticket = UInt64(0)
    var device = UInt32(0)
    var next = UInt32(0)
    var generation = UInt32(0)
    var text = UInt32(0)
    /// Whole seconds after that of the fleet's start.
    var shownAt = UInt32(0)
    /// From 1, in the model's list; 0: none, or unknown.
    var category = UInt8(0)
    var place = Place.banner
    var flags: Flags = []
    /// Of its identifier, so that few texts are compared; 0: it has none.
    var tag = UInt8(0)

    static func tag(_ identifier: some Collection<UInt8>) -> UInt8 {
        if identifier.isEmpty { return 0 }
        let mixed = identifier.reduce(UInt32(1)) { $0 &* 31 &+ UInt32($1) } &* 0x9E37_79B1
        return UInt8(truncatingIfNeeded: mixed >> 24) | 1
    }
}

/// A notification's texts: the identifier as it is, the others as JSON has them.
struct NotificationText {
    var identifier: UnsafeRawBufferPointer
    var thread: UnsafeRawBufferPointer
    var title: UnsafeRawBufferPointer
    var subtitle: UnsafeRawBufferPointer
    var body: UnsafeRawBufferPointer

    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    /// Lengths: of identifier and thread a byte each, of the others two.
    private static let head = 8

    var length: Int {
        Self.head + identifier.count + min(thread.count, 255) + title.count + subtitle.count + body.count
    }

    func write(to bytes: UnsafeMutableRawBufferPointer) {
        let thread = UnsafeRawBufferPointer(rebasing: thread.prefix(255))
        bytes[0] = UInt8(clamping: identifier.count)
        bytes[1] = UInt8(clamping: thread.count)
        bytes.storeBytes(of: UInt16(title.count), toByteOffset: 2, as: UInt16.self)
        bytes.storeBytes(of: UInt16(subtitle.count), toByteOffset: 4, as: UInt16.self)
        bytes.storeBytes(of: UInt16(body.count), toByteOffset: 6, as: UInt16.self)
        var place = Self.head
        Self.put(identifier, bytes, &place)
        Self.put(thread, bytes, &place)
        Self.put(title, bytes, &place)
        Self.put(subtitle, bytes, &place)
        Self.put(body, bytes, &place)
    }

    @inline(__always)
    private static func put(
        _ text: UnsafeRawBufferPointer, _ bytes: UnsafeMutableRawBufferPointer, _ place: inout Int
    ) {
        guard text.count > 0 else { return }
        UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).copyMemory(from: text)
        place += text.count
    }

    /// How long one is that was written.
    static func length(_ head: UnsafeRawBufferPointer) -> Int {
        Self.head + Int(head[0]) + Int(head[1]) + Int(head.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            + Int(head.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
            + Int(head.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    }

    static func length(_ bytes: borrowing ByteStore, _ handle: UInt32) -> Int {
        bytes.read(handle, head) { length($0) }
    }

    init(
        identifier: UnsafeRawBufferPointer, thread: UnsafeRawBufferPointer = none,
        title: UnsafeRawBufferPointer = none, subtitle: UnsafeRawBufferPointer = none, body: UnsafeRawBufferPointer
    ) {
        self.identifier = identifier
        self.thread = thread
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    /// One that was written.
    init(reading bytes: UnsafeRawBufferPointer) {
        var place = Self.head
        func take(_ count: Int) -> UnsafeRawBufferPointer {
            defer { place += count }
            return UnsafeRawBufferPointer(rebasing: bytes[place..<(place + count)])
        }
        identifier = take(Int(bytes[0]))
        thread = take(Int(bytes[1]))
        title = take(Int(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        subtitle = take(Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
        body = take(Int(bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self)))
    }
}
