import Glibc
import Synchronization

/// One bit a push of one run: which arrived, and how many more than once. For many threads, without locks.
///
/// Memory is reserved for `capacity` bits but only touched pages are committed: 1 million pushes take 125 KB.
///
/// Threads have pushes of about the same numbers at the same time, such as every second or every fourth. So 16 pushes in a row have
/// a cache line each: threads whose number divides 16 write none of another's, and others seldom the same one at once. (With 64 they
/// would not stay in a core's first cache until they are needed again.)
public final class DeliveryLedger: Sendable {
    /// Sequence numbers below it are tracked.
    public let capacity: UInt64
    nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let byteCount: Int
    private let repeated = Atomic<UInt64>(0)
    private let beyond = Atomic<UInt64>(0)
    /// Blocks of 8,192 pushes, 16 cache lines, up to the one of the highest push marked. Threads share its cache line, so that it
    /// is written once a block, not once a push.
    private let usedBlocks = Atomic<UInt64>(0)
    private static let blockShift: UInt64 = 13
    private static let wordsOfBlock = 128

    /// - Returns: nil when the address space cannot be had.
    public init?(capacity: UInt64) {
        self.capacity = capacity
        byteCount = Int((capacity >> Self.blockShift + 1) * UInt64(Self.wordsOfBlock * 8))
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard capacity > 0, let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        // Zero pages are valid zero atomics.
        words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    deinit { munmap(words, byteCount) }

    /// Notes that push `sequence` arrived.
    ///
    /// - Returns: true the first time.
    @discardableResult
    public func mark(_ sequence: UInt64) -> Bool {
        guard sequence < capacity else {
            beyond.add(1, ordering: .relaxed)
            return false
        }
        let (word, bit) = Self.place(sequence)
        let (old, _) = words[word].bitwiseOr(bit, ordering: .relaxed)
        if old & bit != 0 {
            repeated.add(1, ordering: .relaxed)
            return false
        }
        let block = sequence >> Self.blockShift
        if block >= usedBlocks.load(ordering: .relaxed) { usedBlocks.max(block + 1, ordering: .relaxed) }
        return true
    }

    /// The word of a push, and its bit there.
    @inline(__always)
    static func place(_ sequence: UInt64) -> (word: Int, bit: UInt64) {
        let inBlock = (sequence & 15) << 3 | (sequence >> 4) & 7
        return (
            Int(truncatingIfNeeded: (sequence >> blockShift) << 7 | inBlock), 1 &<< ((sequence >> 7) & 63)
        )
    }

    /// Arrivals after the first of the same push.
    public var duplicated: UInt64 { repeated.load(ordering: .relaxed) }
    /// Arrivals with a sequence number beyond `capacity`; whether they repeat is not known.
    public var outOfRange: UInt64 { beyond.load(ordering: .relaxed) }

    /// Different pushes that arrived.
    public var delivered: UInt64 {
        var total: UInt64 = 0
        for word in 0..<touchedWords { total += UInt64(words[word].load(ordering: .relaxed).nonzeroBitCount) }
        return total
    }

    /// Of memory, those of used blocks.
    private var touchedWords: Int { Int(usedBlocks.load(ordering: .relaxed)) * Self.wordsOfBlock }

    /// Words of 64 pushes in a row that may hold one: up to the end of the block of the highest one marked, or of the ledger.
    var usedWords: Int { min(touchedWords, Int((capacity + 63) / 64)) }

    /// Calls `body` with each of `usedWords` and its number: pushes 64 × number … + 63, the first lowest.
    func forEachWord<Failure>(_ body: (Int, UInt64) throws(Failure) -> Void) throws(Failure) {
        // Of a block the words of even numbers and of odd ones, each a square of bits.
        var squares = (Square(), Square())
        let end = usedWords
        for index in 0..<end {
            let place = index % Self.wordsOfBlock
            if place == 0 {
                squares.0.turn(words + index)
                squares.1.turn(words + index + 4)
            }
            try body(index, place % 2 == 0 ? squares.0.rows[place / 2] : squares.1.rows[place / 2])
        }
    }

    /// 64 words of 64 bits.
    private struct Square {
        var rows = [UInt64](repeating: 0, count: 64)

        /// Takes the first four words of each of a block's cache lines from `first` on, bits as rows and rows as bits.
        mutating func turn(_ first: UnsafeMutablePointer<Atomic<UInt64>>) {
            var (any, all): (UInt64, UInt64) = (0, .max)
            for push in 0..<64 {
                let word = first[(push & 15) << 3 | push >> 4].load(ordering: .relaxed)
                rows[push] = word
                any |= word
                all &= word
            }
            // Nothing arrived, or everything.
            if any == 0 || all == .max { return }
            // Corners change their places, of ever smaller squares in it (Hacker's Delight, section 7-3).
            var width = 32
            var mask: UInt64 = 0x0000_0000_FFFF_FFFF
            while width > 0 {
                var row = 0
                while row < 64 {
                    let moved = (rows[row] &>> UInt64(width) ^ rows[row + width]) & mask
                    rows[row] ^= moved &<< UInt64(width)
                    rows[row + width] ^= moved
                    row = (row + width + 1) & ~width
                }
                width >>= 1
                mask ^= mask &<< UInt64(width)
            }
        }
    }

    /// Calls `body` with every push that arrived, in ascending order.
    func forEach(_ body: (UInt64) -> Void) {
        forEachWord { index, word in
            var rest = word
            while rest != 0 {
                body(UInt64(index) << 6 | UInt64(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }

    /// What it is now, while others go on marking.
    ///
    /// - Parameter most: bytes it may take.
    /// - Returns: nil when it would take more, or the address space cannot be had.
    package func copy(atMost most: Int) -> DeliveryLedger? {
        let used = touchedWords
        guard used * 8 <= most, let copy = DeliveryLedger(capacity: capacity) else { return nil }
        for word in 0..<used { copy.words[word].store(words[word].load(ordering: .relaxed), ordering: .relaxed) }
        copy.usedBlocks.store(usedBlocks.load(ordering: .relaxed), ordering: .relaxed)
        return copy
    }

    public func contains(_ sequence: UInt64) -> Bool {
        guard sequence < capacity else { return false }
        let (word, bit) = Self.place(sequence)
        return words[word].load(ordering: .relaxed) & bit != 0
    }

    /// The first `limit` of the pushes 0..<planned that did not arrive.
    public func missing(of planned: UInt64, limit: Int) -> [UInt64] {
        var found: [UInt64] = []
        var sequence: UInt64 = 0
        while sequence < min(planned, capacity), found.count < limit {
            if !contains(sequence) { found.append(sequence) }
            sequence += 1
        }
        return found
    }
}
