import Testing

@testable import Transport

@Suite struct BoundPushesTests {
    @Test("Pushes that wait leave their lane in their order, by being sent or by having waited for too long")
    func order() {
        var bound = BoundPushes(lanes: 3)
        for number in 0..<UInt64(6) {
            bound.append(PushTicket(sequence: number, due: 100 + number), lane: Int(number % 2))
        }
        #expect(bound.count == 6 && !bound.isEmpty && !bound.isFull)
        #expect(bound.isWaiting(lane: 0) && bound.isWaiting(lane: 1) && !bound.isWaiting(lane: 2))
        #expect(bound.popFirst(lane: 0)?.sequence == 0 && bound.popFirst(lane: 2) == nil)
        #expect(bound.popOverdue(lane: 1, before: 101) == nil)
        #expect(bound.popOverdue(lane: 1, before: 104)?.sequence == 1)
        #expect(bound.popOverdue(lane: 1, before: 104)?.sequence == 3)
        #expect(bound.popOverdue(lane: 1, before: 104) == nil && bound.count == 3)
        #expect(bound.popOverdue(lane: 1, before: .max)?.sequence == 5 && !bound.isWaiting(lane: 1))
        #expect(bound.popFirst(lane: 0)?.sequence == 2 && bound.popFirst(lane: 0)?.sequence == 4)
        #expect(bound.isEmpty)
    }
}
