import Scenarios
import Testing
import Transport

@testable import Harness

@Suite struct RetriesTests {
    @Test("50,000 that wait to be sent again come in the order of their times, those of the same time as they went in")
    func order() {
        var scenario = Scenario()
        (scenario.retry, scenario.retryBudget, scenario.retryBackoff) = ("5xx", 1, 1)
        var retries = Retries(scenario, worker: 0)
        var waiting: [(due: UInt64, sequence: UInt64)] = []
        for sequence in UInt64(0)..<50_000 {
            let asked = 1_000_000 + sequence * 7919 % 1000
            let isTaken = retries.take(
                PushTicket(sequence: sequence, due: 1), .rejected(status: 503), connection: 0, started: 1, written: 2,
                at: 0, reason: nil, sent: 50_000, asked: asked)
            if isTaken { waiting.append((asked, sequence)) }
        }
        #expect(waiting.count == 50_000)
        waiting.sort { $0 < $1 }
        #expect(retries.nextDue == 1_000_000 && retries.next(now: 999_999) == nil)
        var order: [UInt64] = []
        while let ticket = retries.next(now: 1_000_499) { order.append(ticket.sequence) }
        #expect(order == waiting[..<25_000].map(\.sequence) && retries.nextDue == 1_000_500)
        // Those that are not sent any more end in the order in which they were answered.
        #expect(retries.removeAll().map(\.ticket.sequence) == waiting[25_000...].map(\.sequence).sorted())
        #expect(retries.isEmpty && retries.nextDue == nil)
    }
}
