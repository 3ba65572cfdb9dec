/// Runs of bytes by the number of 8-byte words they take, in pages of 16 MiB; what is given back is used again for the same length.
/// Handle 0 is none. The lengths are the user's business: a run of words knows nothing of itself.
struct ByteStore: ~Copyable {
    private static let pageShift = 21
    private static let pageWords = 1 << pageShift
    /// Most bytes of one run: a payload, its identifiers and what stands before them.
    static let most = 8192
    private var pages = PageTable(pageBytes: pageWords * 8)
    private var used = 1
    /// By words: the first run that was given back; its first word is the next one.
    private let free: UnsafeMutablePointer<UInt32>

    init() {
        free = .allocate(capacity: Self.most / 8 + 1)
        free.initialize(repeating: 0, count: Self.most / 8 + 1)
    }

    deinit { free.deallocate() }

    /// Bytes that it has written to, and its lists.
    var memory: Int { used * 8 + (Self.most / 8 + 1) * 4 }

    private static func words(_ bytes: Int) -> Int { (bytes + 7) / 8 }

    /// The first byte of a run, which stays there until it is given back.
    @inline(__always)
    private func start(_ handle: UInt32) -> UnsafeMutableRawPointer {
        pages[Int(handle) >> Self.pageShift] + (Int(handle) & (Self.pageWords - 1)) * 8
    }

    /// - Parameter bytes: 1 to `most`.
    mutating func take(_ bytes: Int) -> UInt32 {
        let words = Self.words(bytes)
        precondition(words > 0 && bytes <= Self.most)
        let reused = free[words]
        if reused != 0 {
            free[words] = start(reused).load(as: UInt32.self)
            return reused
        }
        // A run lies in one page.
        if used % Self.pageWords + words > Self.pageWords || used / Self.pageWords == pages.count {
            if pages.count > 0 { used = pages.count * Self.pageWords }
            pages.add()
        }
        used += words
        return UInt32(used - words)
    }

    mutating func giveBack(_ handle: UInt32, _ bytes: Int) {
        guard handle != 0 else { return }
        start(handle).storeBytes(of: free[Self.words(bytes)], as: UInt32.self)
        free[Self.words(bytes)] = handle
    }

    /// - Parameter bytes: how many from the handle on.
    @inline(__always)
    func read<Result>(_ handle: UInt32, _ bytes: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: start(handle), count: bytes))
    }

    @inline(__always)
    func write(_ handle: UInt32, _ bytes: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        body(UnsafeMutableRawBufferPointer(start: start(handle), count: bytes))
    }
}
