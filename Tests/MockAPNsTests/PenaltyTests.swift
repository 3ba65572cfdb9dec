import Testing

@testable import MockAPNs

@Suite struct PenaltyTests {
    private func plan(_ text: String) throws -> PenaltySettings? {
        try FaultFile.parse("connections: {penalty: \(text)}", file: "f").connections.penalty
    }

    @Test("Only 4xx answers cost points, BadDeviceToken more; the limit falls by half a step and never below its least")
    func steps() {
        var settings = PenaltySettings()
        (settings.step, settings.leastStreams, settings.goAway) = (10, 3, 0)
        var penalty = Penalty(settings, streams: 20)
        #expect(penalty.note(.internalServerError) == .none && penalty.note(.badDeviceToken) == .none)
        #expect(penalty.note(.badDeviceToken) == .streams(10))
        for _ in 0..<9 { #expect(penalty.note(.unregistered) == .none) }
        #expect(penalty.note(.tooManyRequests) == .streams(5))
        #expect(penalty.note(.badDeviceToken) == .none && penalty.note(.badDeviceToken) == .streams(3))
        for _ in 0..<10_000 { #expect(penalty.note(.badDeviceToken) == .none) }
        for _ in 0..<50_029 { #expect(penalty.note(nil) == .none) }
        #expect(penalty.streams == 3 && penalty.note(nil) == .streams(20))
        #expect(penalty.note(nil) == .none)
    }

    @Test("A server whose limit is below the least streams keeps its limit")
    func fewStreams() {
        var settings = PenaltySettings()
        (settings.step, settings.leastStreams) = (1, 5)
        var penalty = Penalty(settings, streams: 2)
        #expect(penalty.note(.badTopic) == .none && penalty.streams == 2)
    }

    @Test("GOAWAY comes with its points, whatever brought them")
    func goAway() {
        var settings = PenaltySettings()
        settings.goAway = 6
        var penalty = Penalty(settings, streams: 1000)
        #expect(penalty.note(.badDeviceToken) == .none && penalty.note(.badTopic) == .goAway)
    }

    @Test("In the fault file it is yes, no, or some of its numbers; what is none of these is told")
    func file() throws {
        #expect(try plan("yes") == PenaltySettings() && plan("{}") == PenaltySettings() && plan("no") == nil)
        #expect(try plan("{accepted: 0}")?.accepted == 0)
        for (text, problem) in [
            ("{step: 0}", "f:1:31: connections.penalty.step: 0: expected 1 to 1000000"),
            ("{goaway: 2M}", "f:1:33: connections.penalty.goaway: 2000000: expected 0 to 1000000"),
        ] { #expect(message(text) == problem) }
        #expect(message("{points: 1}").contains("\"points\""))
        #expect(message("often") == "f:1:24: connections.penalty: expected true or false")
    }

    private func message(_ text: String) -> String {
        do {
            _ = try plan(text)
            return "no error"
        } catch { return "\(error)" }
    }
}
