/// A thread's buffers for what is to be sent, lent to connections that have something to say: of a thousand connections only
/// those whose socket is full hold one, and a buffer in use is still in the cache from the last connection's batch.
public final class BufferPool {
    /// Bytes of a buffer.
    public let capacity: Int
    /// Unused buffers, each linked to the next by its first word.
    @exclusivity(unchecked) private var first: UnsafeMutableRawPointer?

    /// Buffers there are, lent or not.
    @exclusivity(unchecked) private var made = 0

    public init(capacity: Int) { self.capacity = capacity }

    /// Buffers that have not been given back.
    public var lent: Int {
        var count = made
        var buffer = first
        while let unused = buffer {
            count -= 1
            buffer = unused.load(as: UnsafeMutableRawPointer?.self)
        }
        return count
    }

    deinit {
        while let buffer = first {
            first = buffer.load(as: UnsafeMutableRawPointer?.self)
            buffer.deallocate()
        }
    }

    /// A buffer for the caller to `giveBack`.
    public func take() -> UnsafeMutablePointer<UInt8> {
        guard let buffer = first else {
            made += 1
            return UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
                .assumingMemoryBound(to: UInt8.self)
        }
        first = buffer.load(as: UnsafeMutableRawPointer?.self)
        return buffer.assumingMemoryBound(to: UInt8.self)
    }

    public func giveBack(_ buffer: UnsafeMutablePointer<UInt8>) {
        let raw = UnsafeMutableRawPointer(buffer)
        raw.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
        first = raw
    }
}
