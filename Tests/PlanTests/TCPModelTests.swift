import Foundation
import Testing

@testable import Plan

@Suite struct TCPModelTests {
    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1e-9, abs(other)) } ?? false
    }

    @Test("Windows are those of RFC 9438's table: Reno's at high loss, CUBIC's at low")
    func table() {
        // Table 1 of section 5.1 (0.1 s, C = 0.4): 12, 38, 187, 1,054 and 187,400 segments.
        for (loss, window) in [(1e-2, 12.2474), (1e-3, 38.7298), (1e-4, 187.400), (1e-5, 1053.83), (1e-8, 187_400)] {
            #expect(isClose(TCPModel.window(loss: loss, roundTrip: 100e6), window, 1e-5), "\(loss)")
        }
        #expect(TCPModel.window(loss: 0, roundTrip: 1e8) == nil && TCPModel.window(loss: 1, roundTrip: 1e3)! >= 1)
    }

    /// A segment a push, so that numbers are round.
    private var question: PlanQuestion {
        var question = PlanQuestion()
        question.roundTrip = 50e6
        question.requestBytes = 1448 / (1 + 22.0 / 16_384)
        question.payloadBytes = 1400
        return question
    }

    @Test("Slow start: 10, 20, 40 segments a round trip until the streams, the window or the link are full")
    func slowStart() {
        var question = question
        func lost() -> Double { TCPModel(question).slowStart / question.roundTrip }
        question.streams = 10
        #expect(lost() == 0)
        // Two rounds, 30 segments instead of 80.
        question.streams = 40
        #expect(isClose(lost(), 2 - 30.0 / 40))
        question.streams = 70
        #expect(isClose(lost(), 3 - 70.0 / 70))
        question.streams = 1000
        #expect(isClose(lost(), 7 - 1270.0 / 1000))
        question.window = 40 * 1400
        #expect(isClose(lost(), 2 - 30.0 / 40))
        // 20 segments a round trip.
        question.linkRate = 20 * 1448 / 0.05
        #expect(isClose(lost(), 1 - 10.0 / 20))
        question.mockThreads = 1
        #expect(lost() == 0)
    }

    @Test("A connection's rate at a loss is a window of segments a round trip")
    func rate() {
        var question = question
        #expect(TCPModel(question).lossRate == nil)
        question.loss = 0.015
        #expect(isClose(TCPModel(question).lossRate, 10 / 0.05))
        question.roundTrip = 0
        #expect(TCPModel(question).lossRate == nil)
    }
}
