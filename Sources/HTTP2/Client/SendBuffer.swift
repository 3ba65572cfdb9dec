import Glibc
import Networking

/// What a connection has to write, in memory that it has only while there is some. One owner, who calls `release`.
public struct SendBuffer {
    private let pool: BufferPool
    /// Lent by `pool` while there is something to write.
    private var buffer: UnsafeMutablePointer<UInt8>?
    private var start = 0
    private var end = 0
    /// Bytes written so far, since the connection began.
    public private(set) var written: UInt64 = 0

    init(_ pool: BufferPool) { self.pool = pool }

    func release() { if let buffer { pool.giveBack(buffer) } }

    public var isEmpty: Bool { start == end }
    /// Bytes not yet written.
    @inline(__always)
    public var count: Int { end &- start }
    /// Bytes that may be reserved.
    public var room: Int { pool.capacity - end }
    /// What `written` will be when all that is in it now is.
    @inline(__always)
    public var endOffset: UInt64 { written &+ UInt64(count) }
    /// What is to be written next; nil when nothing is.
    public var first: UnsafeMutablePointer<UInt8>? { buffer.map { $0 + start } }

    /// Takes the next `count` bytes for the caller to fill, who has checked `room`.
    @inline(__always)
    mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let place = (buffer ?? borrow()) + end
        end &+= count
        return place
    }

    private mutating func borrow() -> UnsafeMutablePointer<UInt8> {
        let lent = pool.take()
        buffer = lent
        return lent
    }

    public mutating func didWrite(_ count: Int) {
        start += count
        written &+= UInt64(count)
    }

    /// Nothing more is written for now: memory that holds nothing goes back.
    public mutating func tidy() {
        guard let buffer else { return }
        if start == end {
            (start, end) = (0, 0)
            pool.giveBack(buffer)
            self.buffer = nil
        } else if start > 0, end - start <= 4096 || start >= 32_768 {
            // Little is left after a batch: moving it keeps the touched part of the buffer, and the cache, small.
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
        }
    }
}
