import CRoaring
import Glibc
import Testing

@testable import Audience

@Suite struct RowSetTests {
    /// Rows such that containers become lists, bitsets and runs, at several places.
    static func rows(_ numbers: inout RandomWords) -> Set<UInt32> {
        var rows: Set<UInt32> = []
        for high in [0, 1, 2, 7, 152] as [UInt32] {
            let start = high << 16
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0: break
            case 1:
                for _ in 0..<Int.random(in: 1...50, using: &numbers) {
                    rows.insert(start + UInt32.random(in: 0...65535, using: &numbers))
                }
            case 2: for _ in 0..<9000 { rows.insert(start + UInt32.random(in: 0...65535, using: &numbers)) }
            case 3:
                let from = UInt32.random(in: 0...60000, using: &numbers)
                rows.formUnion(
                    (from...min(65535, from + UInt32.random(in: 0...20000, using: &numbers))).map { start + $0 })
            default: rows.formUnion((0...65535).map { start + $0 })
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

    @Test(arguments: 0..<UInt64(24)) func setAlgebraIsThatOfSetsWhateverTheContainers(seed: UInt64) throws {
        var numbers = RandomWords(seed)
        let (left, right) = (Self.rows(&numbers), Self.rows(&numbers))
        let made = (RowSet(rows: left.shuffled(using: &numbers)), RowSet(rows: right.sorted()))
        let firstView = try #require(Self.frozen(made.0))
        let secondView = try #require(Self.frozen(made.1))
        let views = (firstView, secondView)
        for (one, two) in [(made.0, made.1), (views.0, views.1), (made.0, views.1), (views.0, made.1)] {
            #expect(one.all == left.sorted(), "seed \(seed)")
            #expect(one.union(two).all == left.union(right).sorted(), "seed \(seed)")
            #expect(one.intersection(two).all == left.intersection(right).sorted(), "seed \(seed)")
            #expect(one.subtracting(two).all == left.subtracting(right).sorted(), "seed \(seed)")
            #expect(one.intersectionCount(two) == UInt64(left.intersection(right).count), "seed \(seed)")
            #expect(RowSet.union([one, two, one]).all == left.union(right).sorted(), "seed \(seed)")
            #expect(RowSet.union([two]).all == right.sorted(), "seed \(seed)")
            #expect(one.count == UInt64(left.count))
            #expect(one.isEmpty == left.isEmpty)
            for row in right.prefix(50) { #expect(one.contains(row) == left.contains(row), "seed \(seed)") }
        }
    }

    @Test func resultsOutliveTheMemoryThatTheirSourcesWereViewedIn() throws {
        func copies() throws -> [RowSet] {
            let set = RowSet(rows: Array(0..<UInt32(70_000)) + [200_000])
            let view = try #require(Self.frozen(set))
            return [view.union(RowSet()), RowSet.union([view]), view.subtracting(RowSet()), view.intersection(view)]
        }
        for set in try copies() { #expect(set.count == 70_001 && set.contains(200_000)) }
    }

    @Test func aRangeHasItsRows() {
        #expect(RowSet(range: 5..<9).all == [5, 6, 7, 8])
        #expect(RowSet(range: 5..<5).isEmpty)
        #expect(RowSet(range: 0..<(.max)).count == UInt64(UInt32.max))
    }

    @Test func bytesThatAreNotAlignedOrNoBitmapAreNoView() {
        let memory = Memory(256)
        memory.base.initializeMemory(as: UInt8.self, repeating: 7, count: 256)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base + 8, count: 64), owner: memory) == nil)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base, count: 64), owner: memory) == nil)
        #expect(RowSet(frozen: UnsafeRawBufferPointer(start: memory.base, count: 0), owner: memory) == nil)
    }
}
