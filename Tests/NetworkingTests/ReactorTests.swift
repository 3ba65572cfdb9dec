import Glibc
import Testing

@testable import Networking

@Suite struct ReactorTests {
    @Test("A punctual wait is over when its time has come, and not before", arguments: [true, false])
    func timeout(_ spins: Bool) throws {
        let reactor = try Reactor()
        for timeout: UInt64 in [1, 5_000, 50_000, 300_000] {
            for _ in 0..<20 {
                let begin = reactor.now
                #expect(reactor.waitPunctually(timeout: timeout, spins: spins) == 0)
                #expect(reactor.now >= begin + timeout)
            }
        }
        if spins { #expect(reactor.spinTime > 0) }
    }

    @Test(
        "What gets ready, and a wake-up, end a punctual wait", arguments: [5_000, 3_600_000_000_000], [true, false])
    func readiness(_ timeout: UInt64, _ spins: Bool) throws {
        let reactor = try Reactor()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try #require(write(ends[1], "x", 1) == 1)
        reactor.wakeUp.signal()
        #expect(reactor.waitPunctually(timeout: timeout, spins: spins) == 0)
        reactor.add(ends[0], token: 7, interest: .readable)
        #expect(reactor.waitPunctually(timeout: timeout, spins: spins) == 1)
        #expect(reactor.event(at: 0).token == 7)
    }

    @Test("The error of sleeps is followed to its middle, and no further than its bound")
    func wakeError() {
        var error = WakeError()
        for index in 0..<2_000 { error.add(index % 2 == 0 ? 3_000 : index % 3 == 0 ? 4_000_000 : 9_000) }
        #expect((2_500...9_500).contains(error.estimate))
        for _ in 0..<2_000 { error.add(33_000) }
        #expect(error.estimate == WakeError.most)
        for _ in 0..<2_000 { error.add(0) }
        #expect(error.estimate <= 250)
    }

    @Test("A thread's timer slack can be made as small as it gets")
    func timerSlack() { #expect(TimerSlack.minimize()) }
}
