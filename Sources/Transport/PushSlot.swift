/// One open stream's push. Its fields lie so that it fills one line of the cache.
struct PushSlot {
    var ticket = PushTicket(sequence: 0, due: 0)
    /// The answer's status, 0 before it.
    var status: UInt16 = 0
    /// Bytes kept of the answer's body.
    var bodyLength: UInt16 = 0
    /// Its outcome is already told; the slot only waits for the stream to close.
    var isAbandoned = false
    /// The answer is whole: it had END_STREAM. Engine `nghttp2` only, as the next.
    var isAnswered = false
    /// The peer has reset the stream.
    var isReset = false
    /// A header block of the peer's has begun, and has not ended or cannot be decoded. Engine `wire` says so only when the
    /// connection closes.
    var isInHeaders = false
    /// Stream id, 0 when the slot is free.
    var stream: Int32 = 0
    private var linkOrWindow: Int32 = -1
    /// Bytes of DATA that are still to come by the answer's content-length; negative when it says none. Engine `wire` only, from
    /// the status on.
    var bodyLeft: Int32 = -1
    /// When it was given to the connection, ns.
    var started: UInt64 = 0
    /// When the write that handed its last byte to the kernel began, ns; 0 before.
    var written: UInt64 = 0
    /// What flow control holds back of its payload, owned here; nil almost always.
    var held: UnsafeMutablePointer<HeldPayload>?

    /// Next free slot, while this one is free; -1 after the last.
    var nextFree: Int32 {
        get { linkOrWindow }
        set { linkOrWindow = newValue }
    }
    /// While it is not: bytes of DATA the peer lets us send on the stream, for engines that count them; may be negative (RFC 9113
    /// section 6.9.2).
    var window: Int32 {
        get { linkOrWindow }
        set { linkOrWindow = newValue }
    }
}

/// A payload, or the rest of one, that flow control holds back.
struct HeldPayload {
    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int
    private var offset = 0

    /// Takes a copy of the bytes; for the caller to `release`.
    static func make(_ bytes: UnsafePointer<UInt8>, count: Int) -> UnsafeMutablePointer<HeldPayload> {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        copy.update(from: bytes, count: count)
        let held = UnsafeMutablePointer<HeldPayload>.allocate(capacity: 1)
        held.initialize(to: HeldPayload(bytes: copy, count: count))
        return held
    }

    static func release(_ held: UnsafeMutablePointer<HeldPayload>) {
        held.pointee.bytes.deallocate()
        held.deallocate()
    }

    private init(bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// Bytes not yet sent.
    var rest: Int { count - offset }

    /// Moves the next `count` bytes to `buffer`.
    mutating func send(_ count: Int, into buffer: UnsafeMutablePointer<UInt8>) {
        buffer.update(from: bytes + offset, count: count)
        offset += count
    }
}

/// The pushes of one connection, at most `capacity` at once; all memory is taken at init, but for what answers with a
/// body need: that is taken with the first one.
final class SlotTable {
    let capacity: Int
    let slots: UnsafeMutablePointer<PushSlot>
    @exclusivity(unchecked) private var firstFree: Int32
    @exclusivity(unchecked) private(set) var used = 0
    static let bodyCapacity = 256
    private var bodies: UnsafeMutablePointer<UInt8>?

    init(capacity: Int) {
        self.capacity = capacity
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: max(capacity, 1) * MemoryLayout<PushSlot>.stride, alignment: 64)
        slots = memory.bindMemory(to: PushSlot.self, capacity: capacity)
        for index in 0..<capacity {
            slots.advanced(by: index).initialize(to: PushSlot())
            slots[index].nextFree = index + 1 < capacity ? Int32(index + 1) : -1
        }
        firstFree = 0
    }

    deinit {
        for index in 0..<capacity { if let held = slots[index].held { HeldPayload.release(held) } }
        slots.deallocate()
        bodies?.deallocate()
    }

    var isFull: Bool { firstFree < 0 }

    /// Takes a free slot; the caller has checked `isFull`.
    @inline(__always)
    func take() -> Int {
        let index = Int(firstFree)
        firstFree = slots[index].nextFree
        used &+= 1
        return index
    }

    @inline(__always)
    func free(_ index: Int) {
        if slots[index].held != nil { releaseHeld(index) }
        slots[index].stream = 0
        slots[index].status = 0
        slots[index].bodyLength = 0
        slots[index].isAbandoned = false
        slots[index].isAnswered = false
        slots[index].isReset = false
        slots[index].isInHeaders = false
        slots[index].written = 0
        slots[index].nextFree = firstFree
        firstFree = Int32(truncatingIfNeeded: index)
        used &-= 1
    }

    /// The whole payload is on its way.
    func releaseHeld(_ index: Int) {
        guard let held = slots[index].held else { return }
        HeldPayload.release(held)
        slots[index].held = nil
    }

    /// Keeps the first 256 bytes of an answer's body.
    func appendBody(_ index: Int, _ bytes: UnsafePointer<UInt8>, _ count: Int) {
        let memory = bodies ?? .allocate(capacity: capacity * Self.bodyCapacity)
        bodies = memory
        let have = Int(slots[index].bodyLength)
        let kept = min(count, Self.bodyCapacity - have)
        guard kept > 0 else { return }
        memory.advanced(by: index * Self.bodyCapacity + have).update(from: bytes, count: kept)
        slots[index].bodyLength = UInt16(have + kept)
    }

    func body(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            start: bodies.map { UnsafePointer($0 + index * Self.bodyCapacity) },
            count: bodies == nil ? 0 : Int(slots[index].bodyLength))
    }
}
