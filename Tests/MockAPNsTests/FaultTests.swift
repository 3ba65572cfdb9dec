import Foundation
import HTTP2
import Measurement
import Networking
import Payloads
import Settings
import Testing

@testable import Faults
@testable import MockAPNs

@Suite struct FaultTests {
    private func request(token: String = "aa", topic: String = "com.example.app", type: PushType = .alert)
        -> RequestState
    {
        let state = RequestState()
        for (header, value) in [(KnownHeader.path, "/3/device/" + token), (.topic, topic)] {
            Array(value.utf8).withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
        }
        state.pushType = type
        return state
    }

    private func message(_ text: String) -> String {
        do throws(SettingsError) {
            _ = try FaultFile.parse(text, file: "f")
            return "no error"
        } catch { return error.description }
    }

    @Test("A stall ends each period of the server's age")
    func stall() {
        var faults = ConnectionFaults()
        #expect(faults.stallLeft(at: 5) == 0 && !faults.areTimed)
        (faults.stallEvery, faults.stallLength) = (100, 30)
        let left = [0, 69, 70, 99, 100, 175, .max].map(faults.stallLeft)
        #expect(left == [0, 0, 30, 1, 0, 25, 0] && faults.areTimed)
        // Longer than its period: all the time.
        faults.stallLength = 1000
        #expect([0, 99, 100].map(faults.stallLeft) == [100, 1, 100])
        faults.stallEvery = 0
        #expect(faults.stallLeft(at: 5) == 0)
    }

    @Test("A fault file with everything in it is read as it is meant")
    func file() throws {
        let plan = try FaultFile.parse(
            """
            seed: 42
            link: {rtt: 80ms, jitter: 5ms, bandwidth: 100Mbit/s}
            connections:
              goaway_after: 20k
              goaway_age: 30s
              tcp_reset_every: 5s
              handshake_failures: 1%
              stall: 500ms/10s
              slow_reading: 64KiB/s
              penalty: {bad_device_token: 7, step: 20, goaway: 0}
              repeat_settings: yes
              settings:
                - {after: 5s, max_concurrent_streams: 10, stream_window: 0}
                - {after: 1s, max_concurrent_streams: 1000, max_frame_size: 16KiB, header_table_size: 0}
            rules:
              - token: [AB*, ff*]
                latency: lognormal 20ms 0.5
              - topic: com.example.*
                push_type: [voip, alert]
                environment: development
                reject: {ServiceUnavailable: 2%, TooManyRequests: 1%}
                silent: 0.5%
                reset: 1%
                reset_code: REFUSED_STREAM
                start: 10s
                for: 5s
                every: 30s
              - reject: Unregistered
            """, file: "f")
        #expect(plan.seed == 42 && plan.link.roundTrip == 80_000_000 && plan.link.bandwidth == 12_500_000)
        #expect(plan.connections.goAwayAfter == 20_000 && plan.connections.stallLength == 500_000_000)
        var penalty = PenaltySettings()
        (penalty.badDeviceToken, penalty.step, penalty.goAway) = (7, 20, 0)
        #expect(plan.connections.penalty == penalty)
        #expect(plan.connections.settings.count == 2 && plan.connections.settings[0].streamWindow == 0)
        #expect(plan.rules[0].match.tokens == ["ab*", "ff*"] && plan.rules[0].latency == .logNormal(20_000_000, 0.5))
        #expect(plan.rules[1].match.pushTypes == [.voip, .alert] && plan.rules[1].resetCode == .refusedStream)
        #expect(plan.rules[1].burst == .init(start: 10_000_000_000, length: 5_000_000_000, period: 30_000_000_000))
        #expect(abs(plan.rules[1].totalShare - 0.045) < 1e-12)
        #expect(plan.rules[2].rejections == [.init(.unregistered, share: 1)])
        #expect(!plan.isEmpty && FaultPlan().isEmpty)
        #expect(try FaultText.rejection("503=2%") == .init(.serviceUnavailable, share: 0.02))
    }

    @Test(
        "A wrong fault file is refused with its place",
        arguments: [
            ("rule: []", "f:1:1: unknown key \"rule\"; did you mean \"rules\"?"),
            (
                "rules: [{reject: {Unregisterd: 1%}}]",
                "f:1:19: rules[0].reject: \"Unregisterd\" is not a reason of APNs; did you mean \"Unregistered\"?"
            ),
            ("rules: [{silent: 60%, reset: 50%}]", "f:1:9: rules[0]: the shares of this rule add up to more than 100%"),
            (
                "rules: [{latency: gamma 1 2}]",
                "f:1:19: rules[0].latency: \"gamma 1 2\" is not a latency; expected 80ms, uniform 10ms 20ms, normal 20ms 5ms, lognormal 20ms 0.5 (median and the logarithm's deviation) or hdr FILE"
            ),
            ("rules: [{every: 5s}]", "f:1:9: rules[0]: \"start\" and \"every\" need \"for\": how long the rule holds"),
            (
                "connections: {stall: 10s/1s}",
                "f:1:22: connections.stall: \"10s/1s\": expected how long and how often, as in 500ms/10s"
            ),
            (
                "connections: {settings: [{max_frame_size: 1B, after: 1s}]}",
                "f:1:43: connections.settings[0].max_frame_size: 1: expected 16384 to 16777215"
            ),
            (
                "link: {rtt: far}",
                "f:1:13: link.rtt: \"far\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"
            ),
        ])
    func badFiles(_ text: String, _ expected: String) { #expect(message(text) == expected) }

    @Test("The first rule that matches a push decides, and only while its burst is on")
    func matching() throws {
        let plan = try FaultFile.parse(
            """
            rules:
              - {token: ab*, reject: BadDeviceToken}
              - {topic: com.other, push_type: voip, reject: TopicDisallowed}
              - {environment: development, reject: Forbidden}
              - {reject: Shutdown, start: 10s, for: 2s, every: 5s}
            """, file: "f")
        let dice = FaultDice(plan, worker: 0)
        func reason(_ state: RequestState, _ environment: PushEnvironment = .production, age: UInt64 = 0) -> Reason? {
            dice.rule(for: FaultSubject(request: state, environment: environment), age: age * 1_000_000_000)?
                .rejections.first?.reason
        }
        #expect(reason(request(token: "ABCD")) == .badDeviceToken)
        #expect(reason(request(topic: "com.other", type: .voip)) == .topicDisallowed)
        #expect(reason(request(topic: "com.other")) == nil)
        #expect(reason(request(), .development) == .forbidden)
        for (age, isOn) in [(9, false), (10, true), (11, true), (12, false), (15, true), (17, false)]
            as [(UInt64, Bool)]
        {
            #expect((reason(request(), age: age) == .shutdown) == isOn, "\(age) s")
        }
    }

    @Test("Requests beside a rule's share are not counted by it, and use nothing of it up")
    func beside() throws {
        for (rule, expected) in [
            ("next: 2, reject: 503", 2), ("then: [503, 200, 503]", 2), ("times: 3, reject: 503", 3),
        ] {
            let plan = try FaultFile.parse("{seed: 5, rules: [{share: 10%, \(rule)}]}", file: "f")
            var dice = FaultDice(plan, worker: 0)
            let subject = FaultSubject(request: request(), environment: .production)
            // Of so many the rule is for none once in 10^45.
            let fates = (0..<1000).compactMap { _ in dice.choose(subject, now: 0)?.fate }
            #expect(fates.count { $0 == .rejected(.serviceUnavailable) } == expected, "\(rule): \(fates)")
        }
    }

    @Test("Shares are what was asked for, the same for the same seed")
    func shares() throws {
        let plan = try FaultFile.parse(
            "{seed: 9, rules: [{reject: {ServiceUnavailable: 2%, TooManyRequests: 10%}, silent: 5%, reset: 3%}]}",
            file: "f")
        func draw(_ worker: Int) -> [String: Int] {
            var dice = FaultDice(plan, worker: worker)
            var counts: [String: Int] = [:]
            for _ in 0..<100_000 { counts["\(dice.fate(plan.rules[0]))", default: 0] += 1 }
            return counts
        }
        let counts = draw(0)
        #expect(counts == draw(0) && counts != draw(1))
        for (fate, expected) in [
            ("rejected(Payloads.Reason.serviceUnavailable)", 2000),
            ("rejected(Payloads.Reason.tooManyRequests)", 10_000),
            ("silent", 5000), ("reset", 3000), ("normal", 80_000),
        ] {
            let spread = 5 * Double(expected).squareRoot()
            #expect(abs(Double(counts[fate] ?? 0) - Double(expected)) < spread, "\(fate): \(counts)")
        }
    }

    @Test("Latencies have the moments they were asked for")
    func latencies() throws {
        func samples(_ text: String) throws -> [Double] {
            let latency = try AnswerLatency(parsing: text)
            var random = SeededRandom(seed: 3)
            return (0..<50_000).map { _ in Double(latency.sample(&random)) / 1e6 }.sorted()
        }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        #expect(try samples("80ms").allSatisfy { $0 == 80 })
        let uniform = try samples("uniform 10ms 20ms")
        #expect(uniform.first! >= 10 && uniform.last! <= 20.001 && abs(mean(uniform) - 15) < 0.1)
        let normal = try samples("normal 20ms 5ms")
        let deviation = (normal.map { ($0 - 20) * ($0 - 20) }.reduce(0, +) / Double(normal.count)).squareRoot()
        #expect(abs(mean(normal) - 20) < 0.1 && abs(deviation - 5) < 0.1)
        let logNormal = try samples("lognormal 20ms 0.5")
        #expect(abs(logNormal[25_000] - 20) < 0.5 && abs(logNormal[42_067] - 20 * 1.6487) < 0.7)
        let percentiles =
            "       Value     Percentile TotalCount 1/(1-Percentile)\n\n 1.0 0.5 5 2.00\n 4.0 0.9 9 10.00\n 9.0 1.0 10 inf\n#[Mean = 2]\n"
        let recorded = try RecordedLatencies.parse(percentiles, file: "f")
        // Of another system.
        #expect(try RecordedLatencies.parse(percentiles.replacing("\n", with: "\r\n"), file: "f") == recorded)
        #expect(throws: SettingsError("f:3: percentiles and values must not fall")) {
            try RecordedLatencies.parse("2 0.5 1\r\n3 0.6 2\r\n1 1.0 3\r\n", file: "f")
        }
        var random = SeededRandom(seed: 4)
        let values = (0..<10_000).map { _ in recorded.value(at: random.unit()) }
        #expect(Set(values) == [1_000_000, 4_000_000, 9_000_000])
        #expect(
            abs(values.count { $0 == 1_000_000 } - 5000) < 250 && abs(values.count { $0 == 9_000_000 } - 1000) < 150)
        var histogram = LatencyHistogram()
        for _ in 0..<9 { histogram.record(1_000_000) }
        histogram.record(50_000_000)
        let log =
            HistogramLog.header(startTime: 0)
            + HistogramLog.line(.init(start: 0, length: 1, tag: "total", histogram: histogram))
        let logged = try RecordedLatencies.parseLog(log, file: "f")
        #expect(try RecordedLatencies.parseLog(log.replacing("\n", with: "\r\n"), file: "f") == logged)
        #expect(
            abs(Double(logged.value(at: 0.5)) / 1e6 - 1) < 0.001
                && abs(Double(logged.value(at: 0.95)) / 5e7 - 1) < 0.001)
        #expect(throws: SettingsError("f: no histogram in it; expected an .hlog file")) {
            try RecordedLatencies.parseLog("x\n", file: "f")
        }
        #expect(throws: SettingsError("f:1: expected value, percentile (0 to 1) and count, as an .hgrm file has them"))
        {
            try RecordedLatencies.parse("soon\n", file: "f")
        }
    }

    @Test("The fault files among the examples can be used")
    func examples() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("mock-apns/examples")
        // The other is a device model.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".yaml") && $0 != "test-device.yaml"
        }
        #expect(names.count >= 2)
        for name in names { #expect(try !FaultFile.read(folder.appendingPathComponent(name).path).isEmpty) }
    }

    @Test("Things due come out in the order of their times, whatever order they went in; of the same time, in that")
    func dueQueue() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        var queue = DueQueue<(due: UInt64, number: Int)>()
        for number in 0..<2000 {
            let due = random.next() % 1000
            queue.add((due, number), due: due)
        }
        var last: (due: UInt64, number: Int) = (0, -1)
        var taken = 0
        for now in stride(from: UInt64(0), to: 1000, by: 50) {
            while let next = queue.take(now: now) {
                #expect(next > last && next.due <= now, "seed \(seed)")
                last = next
                taken += 1
            }
            #expect(queue.nextDue.map { $0 > now } ?? true, "seed \(seed)")
        }
        #expect(taken + queue.count == 2000)
    }
}
