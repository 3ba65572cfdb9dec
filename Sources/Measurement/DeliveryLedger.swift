import Glibc
import Synchronization

/// One bit a push of one run: which arrived, and how many more than once. For many threads, without locks.
///
/// Memory is reserved for `capacity` bits but only touched pages are committed: 1 million pushes take 125 KB.
public final class DeliveryLedger: Sendable {
    /// Sequence numbers below it are tracked.
    public let capacity: UInt64
    nonisolated(unsafe) private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let byteCount: Int
    private let repeated = Atomic<UInt64>(0)
    private let beyond = Atomic<UInt64>(0)
    /// Blocks of 4,096 pushes up to the one of the highest push marked. Threads share its cache line, so that it is written once
    /// a block, not once a push.
    private let usedBlocks = Atomic<UInt64>(0)
    private static let blockShift: UInt64 = 12

    /// - Returns: nil when the address space cannot be had.
    public init?(capacity: UInt64) {
        self.capacity = capacity
        byteCount = Int((capacity + 63) / 64 * 8)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard byteCount > 0, let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
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
        let bit: UInt64 = 1 << (sequence & 63)
        let (old, _) = words[Int(sequence >> 6)].bitwiseOr(bit, ordering: .relaxed)
        if old & bit != 0 {
            repeated.add(1, ordering: .relaxed)
            return false
        }
        let block = sequence >> Self.blockShift
        if block >= usedBlocks.load(ordering: .relaxed) { usedBlocks.max(block + 1, ordering: .relaxed) }
        return true
    }

    /// Arrivals after the first of the same push.
    public var duplicated: UInt64 { repeated.load(ordering: .relaxed) }
    /// Arrivals with a sequence number beyond `capacity`; whether they repeat is not known.
    public var outOfRange: UInt64 { beyond.load(ordering: .relaxed) }

    /// Different pushes that arrived.
    public var delivered: UInt64 {
        var total: UInt64 = 0
        for word in 0..<usedWords { total += UInt64(words[word].load(ordering: .relaxed).nonzeroBitCount) }
        return total
    }

    /// 64-bit words that may hold a push: up to the end of the block of the highest one marked, or of the ledger.
    var usedWords: Int {
        let blocks = usedBlocks.load(ordering: .relaxed)
        return min(Int(blocks << (Self.blockShift - 6)), byteCount / 8)
    }

    /// Pushes 64 × index … + 63, the first lowest; 0 beyond the capacity.
    func word(_ index: Int) -> UInt64 {
        index < byteCount / 8 ? words[index].load(ordering: .relaxed) : 0
    }

    /// Calls `body` with every push that arrived, in ascending order.
    func forEach(_ body: (UInt64) -> Void) {
        for index in 0..<usedWords {
            var rest = word(index)
            while rest != 0 {
                body(UInt64(index) << 6 | UInt64(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }

    public func contains(_ sequence: UInt64) -> Bool {
        guard sequence < capacity else { return false }
        return words[Int(sequence >> 6)].load(ordering: .relaxed) & (1 << (sequence & 63)) != 0
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
