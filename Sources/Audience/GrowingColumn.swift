import Glibc

/// Numbers one after the other in memory of its own. Growing may copy them, and then both are there for a while: `reserve` where it is
/// known how many will come.
final class GrowingColumn<Element: BitwiseCopyable> {
    // Belongs to one thread, and nothing that touches these calls back.
    @exclusivity(unchecked) private(set) var base: UnsafeMutablePointer<Element>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    init(capacity: Int = 1024) {
        self.capacity = capacity
        base = Self.allocate(nil, capacity)
    }

    deinit { free(base) }

    private static func allocate(_ old: UnsafeMutablePointer<Element>?, _ capacity: Int) -> UnsafeMutablePointer<
        Element
    > {
        guard let made = realloc(old, max(1, capacity) * MemoryLayout<Element>.stride) else {
            fatalError("no memory for \(capacity) numbers")
        }
        return made.assumingMemoryBound(to: Element.self)
    }

    @inline(__always)
    func append(_ element: Element) {
        if count == capacity { grow(count + 1) }
        base[count] = element
        count += 1
    }

    @inline(never)
    private func grow(_ needed: Int) {
        capacity = max(needed, capacity + capacity / 2 + 64)
        base = Self.allocate(base, capacity)
    }

    /// Room for so many in all, which costs no memory until they are there.
    func reserve(_ total: Int) {
        guard total > capacity else { return }
        capacity = total
        base = Self.allocate(base, capacity)
    }

    /// Room for so many more, at the end; what is in it is written by who asks.
    func extend(_ more: Int) -> UnsafeMutablePointer<Element> {
        if count + more > capacity { grow(count + more) }
        defer { count += more }
        return base + count
    }

    /// Gives the memory back.
    func removeAll() {
        count = 0
        capacity = 1
        base = Self.allocate(base, 1)
    }

    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count * MemoryLayout<Element>.stride)
    }
}
