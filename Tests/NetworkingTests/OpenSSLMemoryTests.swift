import COpenSSL
import Glibc
import Testing

@testable import Networking

@Suite("OpenSSL's memory kept at hand")
struct OpenSSLMemoryTests {
    @Test("Blocks of both kinds come back, the last one first, and nothing else is kept")
    func keepsAndTakes() throws {
        var store = BlockStore()
        expectTake(&store, .small, nil)
        expectTake(&store, .record, nil)
        let small = [malloc(BlockStore.small)!, malloc(BlockStore.small)!]
        let record = malloc(BlockStore.record)!
        for block in small + [record] {
            let isKept = store.keep(block, usable: malloc_usable_size(block))
            #expect(isKept)
        }
        expectTake(&store, .small, small[1])
        expectTake(&store, .small, small[0])
        expectTake(&store, .small, nil)
        expectTake(&store, .record, record)
        expectTake(&store, .record, nil)
        for block in small + [record] { free(block) }
        for size in [1, 24, 64, 4_096, 16_384, 65_536] {
            let block = malloc(size)!
            let isKept = store.keep(block, usable: malloc_usable_size(block))
            #expect(!isKept, "size \(size)")
            free(block)
        }
    }

    @Test("A block too small for its list is never kept: whoever takes it may fill it")
    func refusesSmallOnes() {
        var store = BlockStore()
        let block = malloc(64)!
        for usable in 0..<BlockStore.small {
            let isKept = store.keep(block, usable: usable)
            #expect(!isKept, "usable \(usable)")
        }
        for usable in 64..<BlockStore.record {
            let isKept = store.keep(block, usable: usable)
            #expect(!isKept, "usable \(usable)")
        }
        expectTake(&store, .small, nil)
        expectTake(&store, .record, nil)
        free(block)
    }

    @Test("A store has an end: what comes beyond it goes back to the allocator")
    func isBounded() {
        var store = BlockStore()
        var refused = 0
        for _ in 0..<200 {
            let block = malloc(BlockStore.small)!
            if !store.keep(block, usable: BlockStore.small) {
                refused += 1
                free(block)
            }
        }
        #expect(refused == 200 - 64)
        while let block = store.take(.small) { free(block) }
    }

    private func expectTake(
        _ store: inout BlockStore, _ kind: BlockStore.Kind, _ block: UnsafeMutableRawPointer?,
        location: SourceLocation = #_sourceLocation
    ) {
        let taken = store.take(kind)
        #expect(taken == block, sourceLocation: location)
    }
}
