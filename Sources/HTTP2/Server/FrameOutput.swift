/// Frames for the peer, in the order in which they were made, until they are taken. Grows as needed; what one read can cause
/// bounds it, because nobody reads on who cannot write.
struct FrameOutput: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0
    private static let usual = 16_384
    private static let least = 256

    init() {
        capacity = Self.least
        memory = .allocate(capacity: capacity)
    }

    deinit { memory.deallocate() }

    /// Room for `length` bytes at the end, which count as written.
    @inline(__always)
    mutating func reserve(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        if count &+ length > capacity { grow(length) }
        let place = memory + count
        count &+= length
        return place
    }

    private mutating func grow(_ length: Int) {
        while count + length > capacity { capacity *= 2 }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    /// A frame's header; the payload's room follows.
    @inline(__always)
    mutating func frame(_ type: UInt8, flags: UInt8, stream: Int32, length: Int) -> UnsafeMutablePointer<UInt8> {
        let place = reserve(Frame.headerLength &+ length)
        Frame.writeHeader(length: length, type: type, flags: flags, stream: stream, into: place)
        return place + Frame.headerLength
    }

    /// All there is; valid until something is written again.
    mutating func take() -> UnsafeBufferPointer<UInt8> {
        let taken = UnsafeBufferPointer(start: UnsafePointer(memory), count: count)
        count = 0
        return taken
    }

    /// Gives memory back that a burst needed; what `take` returned is then gone.
    mutating func shrink() {
        if capacity > Self.usual { replace(Self.usual) }
    }

    /// Gives back nearly all memory; what `take` returned is then gone.
    mutating func release() { replace(Self.least) }

    private mutating func replace(_ size: Int) {
        guard count == 0, capacity > size else { return }
        memory.deallocate()
        capacity = size
        memory = .allocate(capacity: capacity)
    }
}
