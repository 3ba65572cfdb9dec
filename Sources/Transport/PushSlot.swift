/// One open stream's push.
struct PushSlot {
    var ticket = PushTicket(sequence: 0, due: 0)
    /// When it was given to the connection, ns.
    var started: UInt64 = 0
    /// When the write that handed its last byte to the kernel began, ns; 0 before.
    var written: UInt64 = 0
    /// Place of its last byte in all bytes of the connection; `.max` while part of it is still to be produced.
    var endOffset: UInt64 = .max
    /// Stream id, 0 when the slot is free.
    var stream: Int32 = 0
    /// Next free slot, while this one is free.
    var nextFree: Int32 = -1
    /// The answer's status, 0 before it.
    var status: UInt16 = 0
    /// Bytes kept of the answer's body.
    var bodyLength: UInt16 = 0
    /// Its outcome is already told; the slot only waits for the stream to close.
    var isAbandoned = false
    /// Bytes of DATA the peer lets us send on the stream; kept only while payload is held back.
    var window = 0
    /// Payload bytes that flow control held back, owned here; nil almost always.
    var heldBack: UnsafeMutablePointer<UInt8>?
    var heldBackCount: Int32 = 0
    var heldBackOffset: Int32 = 0
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
        slots = .allocate(capacity: capacity)
        for index in 0..<capacity {
            slots.advanced(by: index).initialize(to: PushSlot())
            slots[index].nextFree = index + 1 < capacity ? Int32(index + 1) : -1
        }
        firstFree = 0
    }

    deinit {
        for index in 0..<capacity { slots[index].heldBack?.deallocate() }
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
        if let held = slots[index].heldBack {
            held.deallocate()
            slots[index].heldBack = nil
        }
        slots[index].stream = 0
        slots[index].status = 0
        slots[index].bodyLength = 0
        slots[index].isAbandoned = false
        slots[index].written = 0
        slots[index].endOffset = .max
        slots[index].nextFree = firstFree
        firstFree = Int32(truncatingIfNeeded: index)
        used &-= 1
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
