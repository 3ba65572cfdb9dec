/// The chosen rows in the file's order: a bit for every row of the file, and before every 512 bits how many are set below. No list of
/// rows: 1.3 MB for 10 million. Never changed, so that threads may share it.
public final class DeviceSelection: @unchecked Sendable {
    /// How many rows are chosen.
    public let count: UInt64
    /// Whole blocks, so that one can be read without asking where the last row is.
    private let words: UnsafeMutablePointer<UInt64>
    /// Bits set before each block, and behind the last block all of them.
    private let ranks: UnsafeMutablePointer<UInt32>
    private let blocks: Int
    private static let wordsPerBlock = 8

    /// - Parameters:
    ///   - total: how many rows the list has; chosen ones beyond it are left out.
    ///   - chosen: calls its parameter with each chosen row.
    package init(of total: UInt32, chosen: ((UInt32) -> Void) -> Void) {
        let blocks = (Int(total) + 511) / 512
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: max(1, blocks * Self.wordsPerBlock))
        words.initialize(repeating: 0, count: max(1, blocks * Self.wordsPerBlock))
        ranks = .allocate(capacity: blocks + 1)
        chosen { row in
            if row < total { words[Int(row >> 6)] |= 1 << UInt64(row & 63) }
        }
        var sum: UInt32 = 0
        for block in 0..<blocks {
            ranks[block] = sum
            for word in 0..<Self.wordsPerBlock {
                sum += UInt32(words[block * Self.wordsPerBlock + word].nonzeroBitCount)
            }
        }
        ranks[blocks] = sum
        self.words = words
        self.blocks = blocks
        count = UInt64(sum)
    }

    deinit {
        words.deallocate()
        ranks.deallocate()
    }

    public func contains(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        return word < blocks * Self.wordsPerBlock && words[word] & 1 << UInt64(row & 63) != 0
    }

    /// The last block that begins at or below a rank.
    private func block(_ rank: UInt32) -> Int {
        var low = 0
        var high = blocks
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if ranks[middle] <= rank { low = middle } else { high = middle }
        }
        return low
    }

    /// The row of a rank: 0 is the first one chosen. Cost: a binary search over blocks, then at most eight words.
    ///
    /// - Parameter index: below `count`; for others the answer is `UInt32.max`.
    public func row(_ index: UInt64) -> UInt32 {
        guard index < count else { return .max }
        let rank = UInt32(index)
        let block = block(rank)
        var word = block * Self.wordsPerBlock
        var before = ranks[block]
        while true {
            let here = UInt32(words[word].nonzeroBitCount)
            if rank - before < here { return UInt32(word) << 6 | Self.select(words[word], rank - before) }
            before += here
            word += 1
        }
    }

    /// The place of the bit of a word that has `rank` set ones below it; there is one.
    @inline(__always)
    private static func select(_ word: UInt64, _ rank: UInt32) -> UInt32 {
        // Each byte has how many are set in it, then in it and all below.
        var sums = word &- ((word >> 1) & 0x5555_5555_5555_5555)
        sums = (sums & 0x3333_3333_3333_3333) &+ ((sums >> 2) & 0x3333_3333_3333_3333)
        sums = ((sums &+ (sums >> 4)) & 0x0F0F_0F0F_0F0F_0F0F) &* 0x0101_0101_0101_0101
        // The first byte whose sum is above the rank: a top bit for every byte below it.
        let wanted = UInt64(rank) &* 0x0101_0101_0101_0101
        let below = ((wanted | 0x8080_8080_8080_8080) &- sums) & 0x8080_8080_8080_8080
        let shift = UInt64(below.nonzeroBitCount) &* 8
        var rest = (word >> shift) & 0xFF
        var left = UInt64(rank) &- (shift == 0 ? 0 : (sums >> (shift &- 8)) & 0xFF)
        while left > 0 {
            rest &= rest &- 1
            left -= 1
        }
        return UInt32(truncatingIfNeeded: shift) + UInt32(truncatingIfNeeded: rest.trailingZeroBitCount)
    }

    /// Where one worker stands among the chosen rows: it asks for ranks that mostly grow, and finds them without a search.
    @usableFromInline
    struct Place {
        /// A word at or before the row asked for last, and the bits set before it and in it.
        fileprivate var word = 0
        fileprivate var before: UInt32 = 0
        fileprivate var here: UInt32 = 0

        @usableFromInline init() {}
    }

    /// The row of a rank below `count`, looked for from a place on, which follows.
    ///
    /// Cost: when each of some workers asks for every so-many-th row in turn, a few words are looked at.
    @inline(__always)
    func row(_ index: UInt64, from place: inout Place) -> UInt32 {
        let wanted = UInt32(truncatingIfNeeded: index)
        if wanted &- place.before >= place.here { find(wanted, &place) }
        return UInt32(truncatingIfNeeded: place.word) << 6 | Self.select(words[place.word], wanted &- place.before)
    }

    /// Goes to the word that the bit of a rank is in.
    private func find(_ wanted: UInt32, _ place: inout Place) {
        place.here = UInt32(words[place.word].nonzeroBitCount)
        var block = place.word / Self.wordsPerBlock
        if wanted < place.before || wanted >= ranks[block + 1] {
            if wanted < place.before || wanted >= ranks[min(block + 8, blocks)] {
                block = self.block(wanted)
            } else {
                repeat { block += 1 } while ranks[block + 1] <= wanted
            }
            place.word = block * Self.wordsPerBlock
            place.before = ranks[block]
            place.here = UInt32(words[place.word].nonzeroBitCount)
        }
        while wanted &- place.before >= place.here {
            place.before = place.before &+ place.here
            place.word += 1
            place.here = UInt32(words[place.word].nonzeroBitCount)
        }
    }
}
