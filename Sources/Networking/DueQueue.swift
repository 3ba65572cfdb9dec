/// Things to do at their time: a binary heap, earliest first. Of two due at the same time the one that was added first.
///
/// Generic and on the mock's path of a push that is answered late: it is inlinable, so that each room has its own.
@frozen
public struct DueQueue<Item: Sendable>: Sendable {
    @frozen @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let due: UInt64
        /// Its number among all that were added.
        @usableFromInline let number: UInt64
        @usableFromInline let item: Item

        @inlinable init(due: UInt64, number: UInt64, item: Item) {
            self.due = due
            self.number = number
            self.item = item
        }

        @inlinable func isBefore(_ other: Entry) -> Bool {
            due < other.due || due == other.due && number < other.number
        }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var added: UInt64 = 0

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { heap.isEmpty }
    @inlinable public var count: Int { heap.count }
    /// Nanoseconds of the monotonic clock.
    @inlinable public var nextDue: UInt64? { heap.first?.due }

    @inlinable public mutating func add(_ item: Item, due: UInt64) {
        heap.append(Entry(due: due, number: added, item: item))
        added &+= 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].due <= heap[child].due { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// The next item if it is due at `now`.
    @inlinable public mutating func take(now: UInt64) -> Item? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in (parent * 2 + 1)...(parent * 2 + 2) where child < heap.count {
                    if heap[child].isBefore(heap[least]) { least = child }
                }
                if least == parent { break }
                heap.swapAt(least, parent)
                parent = least
            }
        }
        return first.item
    }

    /// Forgets what need not be done any more.
    @inlinable public mutating func removeAll(where isOver: (Item) -> Bool) {
        heap.removeAll { isOver($0.item) }
        // What is sorted is a heap.
        heap.sort { $0.isBefore($1) }
    }
}
