/// What a pool holds: its place may be used again, which the generation tells.
protocol Pooled {
    init()
    /// How often the place was given back.
    var generation: UInt32 { get set }
    /// The next in the list that it is in; 0: the last.
    var next: UInt32 { get set }
}

/// Places of one size, in pages, so that growing copies nothing. Place 0 is none.
struct Pool<Element: Pooled> {
    private static var pageShift: UInt32 { 12 }
    private var pages: [[Element]] = []
    private var used: UInt32 = 1
    private var free: UInt32 = 0
    private(set) var count = 0

    /// Bytes that it holds.
    var memory: Int {
        pages.count << Int(Self.pageShift) * MemoryLayout<Element>.stride + pages.capacity
            * MemoryLayout<[Element]>.stride
    }

    subscript(place: UInt32) -> Element {
        get { pages[Int(place >> Self.pageShift)][Int(place & (1 << Self.pageShift - 1))] }
        _modify { yield &pages[Int(place >> Self.pageShift)][Int(place & (1 << Self.pageShift - 1))] }
    }

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
        if Int(used >> Self.pageShift) == pages.count {
            pages.append([Element](repeating: Element(), count: 1 << Int(Self.pageShift)))
        }
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
