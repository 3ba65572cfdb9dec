import Testing

@testable import Transport

@Suite struct RetryQueueTests {
    @Test("Tickets leave in the order they came, and a queue that is never empty keeps only those that wait")
    func order() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        var queue = RetryQueue()
        var (next, first): (UInt64, UInt64) = (0, 0)
        for _ in 0..<200_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            if next - first < 2 || state >> 63 == 0 && next - first < 300 {
                queue.append(PushTicket(sequence: next, due: 0))
                next += 1
            } else {
                #expect(queue.popFirst()?.sequence == first, "seed \(seed)")
                first += 1
            }
            #expect(!queue.isEmpty && queue.tickets.count <= 3000, "seed \(seed)")
        }
        #expect(first > 50_000)
    }
}
