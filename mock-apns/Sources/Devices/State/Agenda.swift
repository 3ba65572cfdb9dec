/// Things to do at their time: a binary heap, earliest first; of two due at the same time the one that was planned first.
struct Agenda {
    /// What it is for: a job or a notification, and which generation of its place.
    struct Entry {
        let due: UInt64
        /// Times two; odd for a notification.
        fileprivate let order: UInt64
        let place: UInt32
        let generation: UInt32
        var isNotification: Bool { order & 1 == 1 }
        fileprivate func comes(before other: Entry) -> Bool {
            due != other.due ? due < other.due : order < other.order
        }
    }

    private var heap: [Entry] = []
    private var planned: UInt64 = 0

    var count: Int { heap.count }
    var nextDue: UInt64? { heap.first?.due }
    /// Bytes that it holds.
    var memory: Int { heap.capacity * MemoryLayout<Entry>.stride }

    mutating func add(_ place: UInt32, _ generation: UInt32, isNotification: Bool, due: UInt64) {
        planned += 2
        heap.append(
            Entry(due: due, order: planned | (isNotification ? 1 : 0), place: place, generation: generation))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if !heap[child].comes(before: heap[parent]) { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// The next entry if it is due at `now`.
    mutating func take(now: UInt64) -> Entry? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in (parent * 2 + 1)...(parent * 2 + 2) where child < heap.count {
                if heap[child].comes(before: heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(least, parent)
            parent = least
        }
    }

    /// Forgets what is over.
    mutating func removeAll(where isOver: (Entry) -> Bool) {
        heap.removeAll(where: isOver)
        // What is sorted is a heap.
        heap.sort { $0.comes(before: $1) }
    }
}
