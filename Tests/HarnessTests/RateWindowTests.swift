import Results
import Testing

@testable import Harness

@Suite struct RateWindowTests {
    private static let second: UInt64 = 1_000_000_000
    private static let millisecond: UInt64 = 1_000_000

    /// 200 pushes a second for 6 s from 10 s on, each answered after `latency(i)`, nil: never.
    private func window(warmup: UInt64 = 0, latency: (Int) -> UInt64?) -> RateWindow {
        var window = RateWindow()
        let start = 10 * Self.second
        window.begin(start + warmup)
        window.end(.at(start + 6 * Self.second))
        var answers: [(time: UInt64, total: UInt64, isMeasured: Bool)] = []
        for number in 0..<1200 {
            let due = start + UInt64(number) * 5 * Self.millisecond
            if due >= start + warmup { window.noteDue(due) }
            window.noteSent(due + 20_000)
            if let latency = latency(number) { answers.append((due + latency, latency, due >= start + warmup)) }
        }
        for answer in answers.sorted(by: { $0.time < $1.time }) {
            window.noteAnswer(answer.time, total: answer.total, isAccepted: true, isMeasured: answer.isMeasured)
        }
        return window
    }

    private func rates(_ window: RateWindow) -> ResultDocument.Throughput { .init([window], isOpenLoop: true) }

    @Test("Pushes that are never answered take nothing from the rate of the others, however long they are waited for")
    func silence() {
        let window = window { $0 % 400 == 7 ? nil : 300_000 }
        #expect(window.offered == 1200 && window.sent == 1200 && window.answered == 1197)
        #expect(rates(window).answered == 199.5 && rates(window).offered == 200 && rates(window).windowSeconds == 6)
    }

    @Test("A long way there and back is no time in which nothing was answered")
    func farAway() {
        let window = window { _ in 800 * Self.millisecond }
        #expect(rates(window).answered == 200 && rates(window).accepted == 200)
    }

    @Test("A server that answers half as fast as is asked shows it, though it answers everything in the end")
    func overload() {
        let window = window { UInt64($0 + 1) * 5 * Self.millisecond }
        #expect(window.answered > 590 && window.answered < 610, "\(window.answered)")
        #expect(rates(window).offered == 200)
    }

    @Test(
        "With a warm-up all rates are of the same span, and answers of the warm-up's pushes count when they come in it")
    func warmUp() {
        let window = window(warmup: 2 * Self.second) { _ in 50 * Self.millisecond }
        #expect(
            window.offered == 800 && window.sent == 800 && window.answered == 800 && rates(window).windowSeconds == 4)
    }

    @Test("Without a schedule the span ends with the last answer, and failures do not make it longer")
    func closedLoop() {
        var window = RateWindow()
        window.begin(Self.second)
        for number in 1...1000 as ClosedRange<UInt64> {
            window.noteSent(Self.second + number * Self.millisecond - 100)
            window.noteAnswer(
                Self.second + number * Self.millisecond, total: 500_000, isAccepted: number % 2 == 0, isMeasured: true)
        }
        let rates = rates(window)
        #expect(rates.windowSeconds == 1 && rates.answered == 1000 && rates.accepted == 500 && rates.sent == 1000)
    }

    @Test("A burst at the very end of the schedule is in none of the rates")
    func lastBurst() {
        var window = RateWindow()
        window.begin(0)
        window.end(.at(2 * Self.second))
        for number in 0..<2000 as Range<UInt64> {
            window.noteDue(number * Self.millisecond)
            window.noteSent(number * Self.millisecond + 1000)
            window.noteAnswer(
                number * Self.millisecond + 300_000, total: 300_000, isAccepted: true, isMeasured: true)
        }
        for _ in 0..<1000 {
            window.noteDue(2 * Self.second)
            window.noteSent(2 * Self.second + 1000)
            window.noteAnswer(2 * Self.second + 300_000, total: 300_000, isAccepted: true, isMeasured: true)
        }
        let rates = rates(window)
        #expect(rates.offered == 1000 && rates.sent == 1000 && rates.answered == 1000)
    }

    @Test("A closed loop that is cut short is measured up to there, however long its last answers take")
    func cutClosedLoop() {
        var window = RateWindow()
        window.begin(0)
        for number in 1...1000 as ClosedRange<UInt64> {
            window.noteAnswer(number * Self.millisecond, total: 500_000, isAccepted: true, isMeasured: true)
        }
        window.cut(Self.second + Self.millisecond)
        window.noteAnswer(9 * Self.second, total: 8 * Self.second, isAccepted: true, isMeasured: true)
        let rates = rates(window)
        #expect(rates.windowSeconds == 1.001 && window.answered == 1000)
    }

    @Test("Less than a millisecond by the clock is too short for a rate; answers may end the span sooner")
    func tooShort() {
        for (length, hasRates) in [(10 as UInt64, false), (999_999, false), (1_000_000, true)] {
            var window = RateWindow()
            window.begin(Self.second)
            window.end(.at(Self.second + length))
            window.noteDue(Self.second)
            window.noteAnswer(Self.second + 1, total: 1, isAccepted: true, isMeasured: true)
            #expect(rates(window).hasRates == hasRates, "\(length) ns")
        }
        var window = RateWindow()
        window.begin(Self.second)
        window.noteSent(Self.second + 1000)
        window.noteAnswer(Self.second + 100_000, total: 99_000, isAccepted: true, isMeasured: true)
        #expect(rates(window).sent == 10_000 && rates(window).answered == 10_000)
    }

    @Test("A run that is cut short is measured up to there")
    func cut() {
        var window = RateWindow()
        window.begin(0)
        window.end(.at(10 * Self.second))
        window.cut(2 * Self.second)
        window.cut(5 * Self.second)
        #expect(window.to == 2 * Self.second)
        #expect(rates(window).windowSeconds == 2 && !rates(RateWindow()).hasRates)
    }
}
