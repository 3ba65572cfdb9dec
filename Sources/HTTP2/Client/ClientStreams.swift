/// A request and its answer on their way.
public struct ClientStream {
    /// 0: the place is free.
    public internal(set) var id: Int32 = 0
    private var linkOrWindow: Int32 = -1
    /// Bytes of DATA that are still to come by the answer's content-length; negative when it says none. `WireSession` only, from
    /// the status on.
    var bodyLeft: Int32 = -1
    /// The answer's status, 0 before it.
    var status: UInt16 = 0
    /// Bytes kept of the answer's body.
    var bodyLength: UInt16 = 0
    /// A header block of the peer's has begun, and has not ended or cannot be decoded. `WireSession` marks only the latter.
    var isInHeaders = false
    /// Nobody waits for its end any more. `NGHTTP2Session` only, as the next two.
    public internal(set) var isAbandoned = false
    /// The answer is whole: it had END_STREAM.
    var isAnswered = false
    /// The peer has reset the stream.
    var isReset = false
    /// What flow control holds back of its payload, owned here; nil almost always.
    var held: UnsafeMutablePointer<HeldPayload>?

    /// Next free place, while this one is free; -1 after the last.
    var nextFree: Int32 {
        get { linkOrWindow }
        set { linkOrWindow = newValue }
    }
    /// While it is not: bytes of DATA the peer lets us send on the stream, for sessions that count them; may be negative (RFC 9113
    /// section 6.9.2).
    var window: Int32 {
        get { linkOrWindow }
        set { linkOrWindow = newValue }
    }
}

/// The open streams of a connection, at most `capacity` at once, each at a place of its own (its index) and found by id; all
/// memory is taken at init, but for what answers with a body need: that is taken with the first one.
public final class ClientStreams {
    public let capacity: Int
    public let entries: UnsafeMutablePointer<ClientStream>
    /// The place that the next stream will have; -1 when there is none.
    @exclusivity(unchecked) public private(set) var nextIndex: Int
    @exclusivity(unchecked) public private(set) var used = 0
    /// Streams whose payload flow control holds back.
    @exclusivity(unchecked) private(set) var heldBack = 0
    public static let bodyCapacity = 256
    @exclusivity(unchecked) public private(set) var bodies: UnsafeMutablePointer<UInt8>?
    /// Index by stream: place (id / 2) & mask. A stream that is still open when its place is wanted again is displaced.
    private let byStream: UnsafeMutablePointer<Int32>
    private let mask: Int
    @exclusivity(unchecked) private var displaced: [Int32: Int32] = [:]

    init(capacity: Int) {
        self.capacity = capacity
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(capacity, 1) * MemoryLayout<ClientStream>.stride, alignment: 64)
        entries = memory.bindMemory(to: ClientStream.self, capacity: capacity)
        for index in 0..<capacity {
            entries.advanced(by: index).initialize(to: ClientStream())
            entries[index].nextFree = index + 1 < capacity ? Int32(index + 1) : -1
        }
        nextIndex = 0
        var size = 64
        while size < capacity * 2 { size <<= 1 }
        mask = size - 1
        byStream = .allocate(capacity: size)
        byStream.initialize(repeating: -1, count: size)
    }

    deinit {
        for index in 0..<capacity { if let held = entries[index].held { HeldPayload.release(held) } }
        entries.deallocate()
        byStream.deallocate()
        bodies?.deallocate()
    }

    @inline(__always)
    public var isFull: Bool { nextIndex < 0 }

    /// Opens a stream at `nextIndex`, and returns that; the caller has checked `isFull`.
    @inline(__always)
    func open(_ id: Int32) -> Int {
        let index = nextIndex
        nextIndex = Int(entries[index].nextFree)
        used &+= 1
        entries[index].id = id
        let place = Int(id >> 1) & mask
        let old = byStream[place]
        if old >= 0 { displace(old, from: place, for: id) }
        byStream[place] = Int32(truncatingIfNeeded: index)
        return index
    }

    @inline(__always)
    private func displace(_ old: Int32, from place: Int, for id: Int32) {
        let other = entries[Int(old)].id
        if other != 0, other != id, Int(other >> 1) & mask == place { displaced[other] = old }
    }

    /// The index of an open stream; nil when it is over.
    @inline(__always)
    func find(_ id: Int32) -> Int? {
        let found = byStream[Int(id >> 1) & mask]
        if found >= 0, entries[Int(found)].id == id { return Int(found) }
        return displaced.isEmpty ? nil : displaced[id].map(Int.init)
    }

    @inline(__always)
    func free(_ index: Int) {
        if entries[index].held != nil { releaseHeld(index) }
        if !displaced.isEmpty { displaced[entries[index].id] = nil }
        entries[index].id = 0
        entries[index].status = 0
        entries[index].bodyLength = 0
        entries[index].isInHeaders = false
        entries[index].isAbandoned = false
        entries[index].isAnswered = false
        entries[index].isReset = false
        entries[index].nextFree = Int32(truncatingIfNeeded: nextIndex)
        nextIndex = index
        used &-= 1
    }

    /// Holds a payload, or the rest of one, back.
    func hold(_ index: Int, _ bytes: UnsafePointer<UInt8>, count: Int) {
        entries[index].held = HeldPayload.make(bytes, count: count)
        heldBack += 1
    }

    /// The whole payload is on its way, or will never be.
    func releaseHeld(_ index: Int) {
        guard let held = entries[index].held else { return }
        HeldPayload.release(held)
        entries[index].held = nil
        heldBack -= 1
    }

    /// Keeps the first 256 bytes of an answer's body.
    func appendBody(_ index: Int, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        let memory = bodies ?? .allocate(capacity: capacity * Self.bodyCapacity)
        bodies = memory
        let have = Int(entries[index].bodyLength)
        let kept = min(count, Self.bodyCapacity - have)
        guard kept > 0 else { return }
        memory.advanced(by: index * Self.bodyCapacity + have).update(from: bytes, count: kept)
        entries[index].bodyLength = UInt16(have + kept)
    }

    /// What is kept of an answer's body.
    @inline(__always)
    public func body(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        guard let bodies else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(
            start: UnsafePointer(bodies + index * Self.bodyCapacity), count: Int(entries[index].bodyLength))
    }
}
