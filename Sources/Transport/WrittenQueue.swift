/// Pushes whose bytes are produced but not yet all handed to the kernel, oldest first: a ring of fixed size.
final class WrittenQueue {
    struct Entry {
        let slot: Int32
        let stream: Int32
        let endOffset: UInt64
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    @exclusivity(unchecked) private var head = 0
    @exclusivity(unchecked) private var tail = 0

    init(capacity: Int) {
        var size = 64
        while size < capacity { size <<= 1 }
        entries = .allocate(capacity: size)
        mask = size - 1
    }

    deinit { entries.deallocate() }

    var isEmpty: Bool { head == tail }
    var isFull: Bool { tail &- head > mask }

    func append(_ entry: Entry) {
        entries[tail & mask] = entry
        tail &+= 1
    }

    var first: Entry { entries[head & mask] }

    func removeFirst() {
        head &+= 1
        // From the start again: the part in use stays small, and in the cache.
        if head == tail {
            head = 0
            tail = 0
        }
    }
}
