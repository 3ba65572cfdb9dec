/// A thread's buffers for what is to be sent, lent to connections that have something to say: of a thousand connections only
/// those whose socket is full hold one, and a buffer in use is still in the cache from the last connection's batch.
public final class BufferPool {
    /// Bytes of a buffer.
    public let capacity: Int
    /// Unused buffers, each linked to the next by its first word.
    @exclusivity(unchecked) private var first: UnsafeMutableRawPointer?

    public init(capacity: Int) { self.capacity = capacity }

    deinit {
        while let buffer = first {
            first = buffer.load(as: UnsafeMutableRawPointer?.self)
            buffer.deallocate()
        }
    }

    /// A buffer for the caller to `giveBack`.
    public func take() -> UnsafeMutablePointer<UInt8> {
        guard let buffer = first else {
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
