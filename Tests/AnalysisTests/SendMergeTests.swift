import Measurement
import Results
import SampleRuns
import Scenarios
import Testing

@testable import Analysis

@Suite struct SendMergeTests {
    @Test("The sends of parts are added up by name, their times over all parts")
    func sends() throws {
        func part(_ id: String, _ milliseconds: [UInt64], of pushes: UInt64) -> ResultDocument {
            var part = UnansweredRun.make(id, accepted: 5, unanswered: 0)
            var times = LatencyHistogram()
            for time in milliseconds { times.record(time * 1000) }
            var send = ResultDocument.Send(name: "news", audience: "x", devices: pushes, pushes: pushes, start: 1)
            (send.accepted, send.notSent) = (times.count, pushes - times.count)
            send.fanOut = .init(times, of: pushes)
            part.sends = [send]
            part.histograms[ResultDocument.fanOutKey("news")] = HistogramCodec.encodeForLog(times)
            return part
        }
        let merged = try ResultMerge.merge([
            ("a", part("1", [10, 20], of: 2)), ("b", part("2", [30], of: 2)),
            ("c", UnansweredRun.make("3", accepted: 5, unanswered: 0)),
        ])
        let send = try #require(merged.sends?.first)
        #expect(merged.sends?.count == 1 && send.accepted == 3 && send.pushes == 4 && send.notSent == 1)
        #expect(abs((send.fanOut.p50 ?? 0) - 0.02) < 0.0001 && abs((send.fanOut.last ?? 0) - 0.03) < 0.0001)
        #expect(send.fanOut.max == nil && send.fanOut.p99 == nil)
        #expect(try merged.censoredHistogram(ResultDocument.fanOutKey("news")).answered.count == 3)
        #expect(
            try ResultMerge.merge([
                ("a", UnansweredRun.make("1", accepted: 5, unanswered: 0)),
                ("b", UnansweredRun.make("2", accepted: 5, unanswered: 0)),
            ]).sends == nil)
    }

    /// A part with one send.
    private func sendPart(
        _ id: String, _ change: (inout ResultDocument.Send) -> Void = { _ in }
    ) -> ResultDocument {
        var part = UnansweredRun.make(id, accepted: 5, unanswered: 0)
        var send = ResultDocument.Send(
            name: "news", audience: "x", devices: 7, fingerprint: "00000000000000f1", pushes: 8, start: 1)
        (send.accepted, send.rejected, send.failed, send.notSent) = (3, 2, 2, 1)
        change(&send)
        part.sends = [send]
        return part
    }

    @Test(
        "Devices of the same registrations count once, whatever they are called; of others they are added, which a note says"
    )
    func sendDevices() throws {
        let added = "send news: devices are added up; one that several parts pushed to is counted in each"
        let same = try ResultMerge.merge([
            ("a", sendPart("1")), ("b", sendPart("2") { $0.audience = "!(!x)" }), ("c", sendPart("3")),
        ])
        let send = try #require(same.sends?.first)
        #expect(send.devices == 7 && send.pushes == 24 && !same.notes.contains(added), "\(same.notes)")
        #expect(send.fingerprint == "00000000000000f1")
        #expect(
            [send.accepted, send.rejected, send.failed, send.notSent] == [9, 6, 6, 3]
                && send.pushes == send.accepted + send.rejected + send.failed + send.notSent)
        // Of another file, or of one that was rewritten; and a result that does not say.
        for fingerprint in ["00000000000000f2", nil] {
            let other = sendPart("2") { $0.fingerprint = fingerprint }
            let merged = try ResultMerge.merge([("a", sendPart("1")), ("b", other), ("c", sendPart("3"))])
            let whole = try #require(merged.sends?.first)
            #expect(whole.devices == 14 && whole.fingerprint == nil && merged.notes.contains(added), "\(merged.notes)")
            // Merged once more, nothing of it is known to be the same.
            var again = sendPart("9")
            again.run.startedAt = merged.run.startedAt
            #expect(try ResultMerge.merge([("m", merged), ("d", again)]).sends?.first?.devices == 21)
        }
    }

    @Test("Parts without a send, with another audience or another start of it are named")
    func sendDifferences() throws {
        let merged = try ResultMerge.merge([
            ("a", sendPart("1")), ("b", UnansweredRun.make("2", accepted: 5, unanswered: 0)),
            ("c", sendPart("3") { $0.name = "digest" }),
            ("d", sendPart("4") { ($0.audience, $0.start) = ("x && !y", 2.5) }),
        ])
        for note in [
            "send news: not in b, c", "send news: its audience is x in a, x && !y in d",
            "send news: it starts after 1.00 s in a, 2.50 s in d", "send digest: not in a, b, d",
        ] { #expect(merged.notes.contains(note), "\(note) is not in \(merged.notes)") }
        #expect(merged.sends?.map(\.name) == ["news", "digest"] && merged.sends?[0].audience == "x")
    }

    @Test("Fan-out times that cannot be read are said, with the part's name, not taken for none")
    func unreadableFanOut() {
        var broken = sendPart("2")
        broken.histograms[ResultDocument.fanOutKey("news")] = "HISTFAAAA"
        do throws(ResultMerge.Failure) {
            _ = try ResultMerge.merge([("a", sendPart("1")), ("b", broken)])
            Issue.record("merged")
        } catch { #expect(error.description.hasPrefix("b: histograms.fan_out_us{send=news}: "), "\(error)") }
    }

    /// A part to this send alone: so many pushes, answered after 5 ms but for those that are not answered.
    private func only(_ id: String, _ name: String, accepted: Int, unanswered: Int = 0) -> ResultDocument {
        var part = UnansweredRun.make(id, accepted: accepted, unanswered: unanswered)
        var send = ResultDocument.Send(
            name: name, audience: "x", devices: part.pushes.planned, pushes: part.pushes.planned, start: 0)
        (send.accepted, send.failed) = (part.pushes.accepted, part.pushes.failed)
        part.sends = [send]
        return part
    }

    /// A part to several sends, as a run to them keeps them apart: the pushes of each answered after so many ns.
    private func several(_ id: String, _ sends: [(name: String, count: UInt64, time: UInt64)]) -> ResultDocument {
        var part = UnansweredRun.make(id, accepted: 0, unanswered: 0)
        var all = LatencyHistogram()
        part.sends = []
        part.breakdown["send"] = [:]
        for (name, count, time) in sends {
            var times = LatencyHistogram()
            times.record(time, count: count)
            all.add(times)
            var send = ResultDocument.Send(name: name, audience: "x", devices: count, pushes: count, start: 0)
            send.accepted = count
            part.sends?.append(send)
            part.breakdown["send"]?[name] = .init(
                accepted: count, rejected: 0, failed: 0, total: .init(CensoredHistogram(answered: times)))
            part.histograms["total{send=\(name)}"] = HistogramCodec.encodeForLog(times)
        }
        part.histograms["total"] = HistogramCodec.encodeForLog(all)
        part.latency[.total] = .init(CensoredHistogram(answered: all))
        (part.pushes.planned, part.pushes.accepted) = (all.count, all.count)
        return part
    }

    private func verdict(_ text: String, _ result: ResultDocument) throws -> ThresholdVerdict {
        let threshold = try #require(try Threshold.list(parsing: text).first)
        return ThresholdVerdict(threshold, result)
    }

    /// By send the parts are the sends' counts, and so many pushes have a latency in each.
    private func balance(_ merged: ResultDocument) throws {
        let parts = try #require(merged.breakdown["send"])
        #expect(Set(parts.keys) == Set(try #require(merged.sends).map(\.name)))
        for send in merged.sends ?? [] {
            let part = try #require(parts[send.name])
            #expect(
                [part.accepted, part.rejected, part.failed, part.notSent]
                    == [send.accepted, send.rejected, send.failed, send.notSent], "\(send.name)")
            #expect(part.total.count == send.accepted + send.failed)
            let kept = try merged.censoredHistogram("total{send=\(send.name)}")
            #expect(kept.count == part.total.count && kept.unanswered.count == send.failed)
        }
    }

    @Test("A part with one send has all its pushes in that send's figures, in any order of the parts")
    func onlySend() throws {
        // Half of a's pushes took 5 ms or got no answer, the other half 1 ms.
        let parts = [
            ("one", only("1", "a", accepted: 98, unanswered: 2)),
            ("two", several("2", [("a", 100, 1_000_000), ("b", 50, 1_000_000)])),
        ]
        for parts in [parts, parts.reversed()] {
            let merged = try ResultMerge.merge(parts)
            try balance(merged)
            #expect(try !verdict("p90{send=a} < 2ms", merged).isHeld)
            #expect(try verdict("p25{send=a} < 2ms", merged).isHeld && verdict("p99{send=b} < 2ms", merged).isHeld)
            // The two without an answer are 1 % of a's.
            #expect(try verdict("p99.9{send=a} < 30s", merged).description.contains("not known, more than 20.0 s"))
        }
    }

    @Test("Parts with one send each keep each other's apart, as does one beside a part without sends")
    func differentOnlySends() throws {
        let other = UnansweredRun.make("3", accepted: 7, unanswered: 0)
        let merged = try ResultMerge.merge([
            ("one", only("1", "a", accepted: 10)), ("two", only("2", "b", accepted: 20, unanswered: 1)), ("c", other),
        ])
        try balance(merged)
        #expect(merged.sends?.map(\.accepted) == [10, 20] && merged.latency[.total].count == 38)
        let beside = try ResultMerge.merge([("one", only("1", "a", accepted: 10)), ("c", other)])
        try balance(beside)
        #expect(try verdict("p99{send=a} < 6ms", beside).isHeld)
        // Merged in two steps it is the same.
        let steps = try ResultMerge.merge([
            ("m", try ResultMerge.merge([("one", only("1", "a", accepted: 10)), ("x", only("4", "a", accepted: 3))])),
            ("two", only("2", "b", accepted: 20)),
        ])
        try balance(steps)
        #expect(steps.breakdown["send"]?["a"]?.accepted == 13)
    }

    @Test("Where all parts are of one send, the whole's figures are that send's")
    func sameOnlySend() throws {
        let merged = try ResultMerge.merge([
            ("one", only("1", "a", accepted: 10)), ("two", only("2", "a", accepted: 20)),
        ])
        #expect(merged.breakdown["send"] == nil && merged.onlySend?.accepted == 30)
        #expect(try verdict("p99{send=a} < 6ms", merged).isHeld && !verdict("p99{send=a} < 4ms", merged).isHeld)
    }

    @Test("That parts which share a send began apart is said, and how far; not of parts that share none")
    func startsApart() throws {
        func notes(_ name: String, _ second: String) throws -> [String] {
            var late = only("2", name, accepted: 5)
            late.run.startedAt = "2026-01-02T03:04:\(second)Z"
            var early = only("1", "a", accepted: 5)
            (early.run.durationSeconds, late.run.durationSeconds) = (60, 60)
            return try ResultMerge.merge([("two", late), ("one", early)]).notes.filter {
                $0.hasPrefix("the parts began")
            }
        }
        #expect(
            try notes("a", "16") == [
                "the parts began up to 11 s apart; fan-out times count from each part's own start"
            ])
        #expect(try notes("a", "05").isEmpty && notes("b", "16").isEmpty)
    }
}
