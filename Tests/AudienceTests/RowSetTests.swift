import CRoaring
import Glibc
import TestSupport
import Testing

@testable import Audience

@Suite("Sets of rows are sets, whatever they are stored as") struct RowSetTests {
    /// Rows such that their containers become: nothing, a short list, a bitset, a run, all of it.
    static let kinds = 5

    /// - Parameter kinds: of the containers at three places.
    static func rows(_ kinds: [Int], _ numbers: inout SeededRandom) -> [UInt32] {
        var rows: [UInt32] = []
        for (high, kind) in zip([0, 7, 152] as [UInt32], kinds) {
            let start = high << 16
            func some(_ count: Int) -> [UInt32] {
                var isIn = [Bool](repeating: false, count: 65536)
                for _ in 0..<count { isIn[Int.random(in: 0...65535, using: &numbers)] = true }
                return isIn.indices.filter { isIn[$0] }.map { start + UInt32($0) }
            }
            switch kind {
            case 0: break
            case 1: rows += some(.random(in: 1...50, using: &numbers))
            case 2: rows += some(9000)
            case 3:
                let from = UInt32.random(in: 0...60000, using: &numbers)
                rows += (from...min(65535, from + UInt32.random(in: 0...20000, using: &numbers))).map { start + $0 }
            default: rows += (0...65535).map { start + $0 }
            }
        }
        return rows
    }

    /// Memory of its own that a frozen set is viewed in.
    final class Memory {
        let base: UnsafeMutableRawPointer
        init(_ size: Int) { base = .allocate(byteCount: max(32, size), alignment: 32) }
        deinit { base.deallocate() }
    }

    static func frozen(_ set: RowSet) -> RowSet? {
        let size = roaring_bitmap_frozen_size_in_bytes(set.bitmap)
        let memory = Memory(size)
        roaring_bitmap_frozen_serialize(set.bitmap, memory.base.assumingMemoryBound(to: CChar.self))
        return RowSet(frozen: UnsafeRawBufferPointer(start: memory.base, count: size), owner: memory)
    }

    @Test("Set algebra is that of sets, whatever the containers of either side", arguments: 0..<9)
    func setAlgebra(round: Int) throws {
        let seed = UInt64.random(in: 1...999_999_999)
        var numbers = SeededRandom(seed)
        // Nine rounds of three places have each of the 25 pairs of kinds.
        let pairs = (0..<3).map { (round * 3 + $0) % (Self.kinds * Self.kinds) }
        let left = Self.rows(pairs.map { $0 / Self.kinds }, &numbers)
        let right = Self.rows(pairs.map { $0 % Self.kinds }, &numbers)
        let made = (RowSet(rows: left.reversed()), RowSet(rows: right))
        let views = (try #require(Self.frozen(made.0)), try #require(Self.frozen(made.1)))
        let both = Set(left).intersection(right)
        let common = left.filter(both.contains)
        let rest = left.filter { !both.contains($0) }
        let either = (rest + right).sorted()
        for (one, two) in [(made.0, made.1), (views.0, views.1), (made.0, views.1), (views.0, made.1)] {
            #expect(one.all == left, "seed \(seed)")
            #expect(one.union(two).all == either, "seed \(seed)")
            #expect(one.intersection(two).all == common, "seed \(seed)")
            #expect(one.subtracting(two).all == rest, "seed \(seed)")
            #expect(one.intersectionCount(two) == UInt64(common.count), "seed \(seed)")
            #expect(RowSet.union([one, two, one]).all == either, "seed \(seed)")
            #expect(RowSet.union([two]).all == right, "seed \(seed)")
            #expect(one.count == UInt64(left.count) && one.isEmpty == left.isEmpty)
            for row in right.prefix(50) { #expect(one.contains(row) == both.contains(row), "seed \(seed)") }
        }
    }

    @Test("Results outlive the memory that their sources were viewed in")
    func resultsOutliveTheMemoryThatTheirSourcesWereViewedIn() throws {
        func copies() throws -> [RowSet] {
            let set = RowSet(rows: Array(0..<UInt32(70_000)) + [200_000])
            let view = try #require(Self.frozen(set))
            return [view.union(RowSet()), RowSet.union([view]), view.subtracting(RowSet()), view.intersection(view)]
        }
        for set in try copies() { #expect(set.count == 70_001 && set.contains(200_000)) }
    }

    @Test("A range has its rows")
    func aRangeHasItsRows() {
        #expect(RowSet(range: 5..<9).all == [5, 6, 7, 8])
        #expect(RowSet(range: 5..<5).isEmpty)
        #expect(RowSet(range: 0..<(.max)).count == UInt64(UInt32.max))
    }

    @Test("Bytes that are not aligned or no bitmap are no view")
    func bytesThatAreNotAlignedOrNoBitmapAreNoView() {
        let memory = Memory(256)
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: 256)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base + 8, count: 64), owner: memory) == nil)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base, count: 64), owner: memory) == nil)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base, count: 0), owner: memory) == nil)
    }
}
