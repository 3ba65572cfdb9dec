import CPrefetch

/// What a pool holds: its place may be used again, which the generation tells.
protocol Pooled {
    init()
    /// How often the place was given back.
    var generation: UInt32 { get set }
    /// The next in the list that it is in; 0: the last.
    var next: UInt32 { get set }
}

/// Places of one size, in pages, so that growing copies nothing. Place 0 is none.
///
/// Costs a push two loads a place: its elements lie behind pointers, without checks of uniqueness, bounds or exclusivity. It is one
/// thread's, and a place is taken before it is looked at.
struct Pool<Element: Pooled>: ~Copyable {
    /// With it, pages are whole huge pages for each size there is.
    private static var pageShift: UInt32 { 18 }
    private static var pageCount: Int { 1 << Int(pageShift) }
    private var pages = PageTable(pageBytes: pageCount * MemoryLayout<Element>.stride)
    private var used: UInt32 = 1
    private var free: UInt32 = 0
    private(set) var count = 0

    /// Bytes that it has written to.
    var memory: Int { Int(used) * MemoryLayout<Element>.stride }

    @inline(__always)
    private func pointer(_ place: UInt32) -> UnsafeMutablePointer<Element> {
        pages[Int(place >> Self.pageShift)].assumingMemoryBound(to: Element.self)
            + Int(place & (1 << Self.pageShift &- 1))
    }

    subscript(place: UInt32) -> Element {
        @inline(__always) unsafeAddress { UnsafePointer(pointer(place)) }
        @inline(__always) nonmutating unsafeMutableAddress { pointer(place) }
    }

    /// Asks for the line of a place.
    @inline(__always)
    func prefetch(_ place: UInt32) { pushload_prefetch(pointer(place)) }

    /// All that are or were taken: those that were given back have to be known by what they hold.
    var places: Range<UInt32> { 1..<used }

    mutating func take() -> UInt32 {
        count += 1
        if free != 0 {
            let place = free
            free = self[place].next
            self[place].next = 0
            return place
        }
        // Nothing looks at place 0, which is not made.
        if Int(used >> Self.pageShift) == pages.count || pages.count == 0 { pages.add() }
        pointer(used).initialize(to: Element())
        used += 1
        return used - 1
    }

    mutating func giveBack(_ place: UInt32) {
        let generation = self[place].generation &+ 1
        self[place] = Element()
        self[place].generation = generation
        self[place].next = free
        free = place
        count -= 1
    }
}
