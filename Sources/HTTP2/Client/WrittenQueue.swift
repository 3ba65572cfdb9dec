/// Requests whose bytes are produced but not yet all handed to the kernel, oldest first: a ring of fixed size. One owner, who
/// calls `release`.
public struct WrittenQueue {
    public struct Entry {
        /// Place in `ClientStreams`.
        public let index: Int32
        /// Stream id: the place may be another request's by now.
        public let stream: Int32
        /// Of the connection's bytes, the one after the request's last.
        public let endOffset: UInt64
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private var head = 0
    private var tail = 0

    init(capacity: Int) {
        var size = 64
        while size < capacity { size <<= 1 }
        entries = .allocate(capacity: size)
        mask = size - 1
    }

    func release() { entries.deallocate() }

    public var isEmpty: Bool { head == tail }
    public var isFull: Bool { tail &- head > mask }

    @inline(__always)
    mutating func append(_ entry: Entry) {
        entries[tail & mask] = entry
        tail &+= 1
    }

    public var first: Entry { entries[head & mask] }

    public mutating func removeFirst() {
        head &+= 1
        // From the start again: the part in use stays small, and in the cache.
        if head == tail {
            head = 0
            tail = 0
        }
    }
}
