/// Runs of bytes by the number of 8-byte words they take, in pages of 1 MiB; what is given back is used again for the same length.
/// Handle 0 is none. The lengths are the user's business: a run of words knows nothing of itself.
struct ByteStore {
    private static let pageWords = 1 << 17
    /// Most bytes of one run: a payload, its identifiers and what stands before them.
    static let most = 8192
    private var pages: [[UInt64]] = []
    private var used = 1
    /// By words: the first run that was given back; its first word is the next one.
    private var free = [UInt32](repeating: 0, count: most / 8 + 1)

    /// Bytes that it holds.
    var memory: Int { pages.count * Self.pageWords * 8 + free.count * 4 + pages.capacity * 8 }

    private static func words(_ bytes: Int) -> Int { (bytes + 7) / 8 }

    /// - Parameter bytes: 1 to `most`.
    mutating func take(_ bytes: Int) -> UInt32 {
        let words = Self.words(bytes)
        precondition(words > 0 && bytes <= Self.most)
        let reused = free[words]
        if reused != 0 {
            free[words] = UInt32(truncatingIfNeeded: pages[Int(reused) / Self.pageWords][Int(reused) % Self.pageWords])
            return reused
        }
        // A run lies in one page.
        if used % Self.pageWords + words > Self.pageWords || used / Self.pageWords == pages.count {
            if !pages.isEmpty { used = pages.count * Self.pageWords }
            pages.append([UInt64](repeating: 0, count: Self.pageWords))
        }
        used += words
        return UInt32(used - words)
    }

    mutating func giveBack(_ handle: UInt32, _ bytes: Int) {
        guard handle != 0 else { return }
        pages[Int(handle) / Self.pageWords][Int(handle) % Self.pageWords] = UInt64(free[Self.words(bytes)])
        free[Self.words(bytes)] = handle
    }

    /// - Parameter bytes: how many from the handle on.
    func read<Result>(_ handle: UInt32, _ bytes: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        pages[Int(handle) / Self.pageWords].withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[(Int(handle) % Self.pageWords * 8)...].prefix(bytes)))
        }
    }

    mutating func write(_ handle: UInt32, _ bytes: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        pages[Int(handle) / Self.pageWords].withUnsafeMutableBytes {
            body(UnsafeMutableRawBufferPointer(rebasing: $0[(Int(handle) % Self.pageWords * 8)...].prefix(bytes)))
        }
    }
}
