import Settings
import Testing

@testable import Scenarios

@Suite struct ThresholdTests {
    @Test("Thresholds are read as people write them")
    func reading() throws {
        func read(_ text: String) throws -> Threshold { try Threshold(parsing: text) }
        let plain = try read("p99 < 50ms")
        #expect(plain.metric == .latency(stage: "total", statistic: .percentile(99), part: nil))
        #expect(plain.comparison == .below && plain.limit == 50_000_000 && plain.text == "p99 < 50ms")
        #expect(
            try read("round_trip.p99.9<=200ms").metric
                == .latency(stage: "round_trip", statistic: .percentile(99.9), part: nil))
        #expect(try read("round_trip.p99.9<=200ms").comparison == .atMost)
        #expect(try read("p99.9 < 1s").metric == .latency(stage: "total", statistic: .percentile(99.9), part: nil))
        #expect(
            try read("total.max{stage=hold} < 1s").metric
                == .latency(stage: "total", statistic: .max, part: .init(dimension: "stage", label: "hold")))
        #expect(try read("accepted >= 99.99%").metric == .count("accepted", isShare: true))
        #expect(abs(try read("accepted >= 99.99%").limit - 0.9999) < 1e-12)
        #expect(try read("failed == 0").limit == 0 && read("rejected < 1k").limit == 1000)
        #expect(try read("rate >= 0.95 * target").metric == .rate(.answered, ofTarget: true))
        #expect(try read("goodput > 20k").metric == .rate(.accepted, ofTarget: false))
        #expect(try read("sent_rate <= 1.01 * target").metric == .rate(.sent, ofTarget: true))
        #expect(try read("offered >= 1k").metric == .rate(.offered, ofTarget: false))
        #expect(try read("not_sent == 0").metric == .count("not_sent", isShare: false))
        #expect(
            try read("total_accepted.p99 < 1s").metric
                == .latency(stage: "total_accepted", statistic: .percentile(99), part: nil))
        #expect(try read("rate >= 95% * target").limit == 0.95 && read("rate > 20k").limit == 20_000)
        #expect(try read("rss < 200MB").limit == 200_000_000 && read("cpu < 2us").limit == 2000)
        #expect(
            try read("time_to_content p99 < 10s").metric
                == .latency(stage: "time_to_content", statistic: .percentile(99), part: nil))
        #expect(try read("time_to_screen.max < 1m").metric == read("time_to_screen max < 1m").metric)
        #expect(
            try read("echo.p99.9 < 1s").metric == .latency(stage: "echo", statistic: .percentile(99.9), part: nil))
        #expect(try read("echo.peak < 50k").metric == .echo("peak", isShare: false))
        #expect(try read("echo.peak < 50k").limit == 50_000 && read("echo.failed < 1%").limit == 0.01)
        #expect(try read("echo.not_begun <= 0.1%").metric == .echo("not_begun", isShare: true))
        let both = try Threshold.list(parsing: "p99 < 50ms && accepted >= 99.9%")
        #expect(both.count == 2 && both[1].text == "accepted >= 99.9%")
    }

    @Test("What stands in braces is a name as it is")
    func names() throws {
        for name in ["breaking news", "a < b", "a >= b && c", "a&&b", "p99"] {
            let list = try Threshold.list(parsing: "failed == 0 && p9 9 { send = \(name) } < = 1 s&&rate > 2 k")
            #expect(list.map(\.limit) == [0, 1_000_000_000, 2000])
            let part = Threshold.Part(dimension: "send", label: name)
            #expect(list[1].metric == .latency(stage: "total", statistic: .percentile(99), part: part), "\(name)")
        }
        for text in ["p99{send=} < 1s", "p99{send= } < 1s", "p99{send=a < 1s", "p99{=a} < 1s"] {
            let message = "\"\(text)\": expected a part in braces, as in p99{stage=hold}"
            #expect(throws: SettingsError(message)) { try Threshold(parsing: text) }
        }
        for text in ["p99{send=a < 1s}", "p99 {", "{a}{b}"] {
            let message = "\"\(text)\": expected a comparison (<, <=, >, >=, ==), as in p99 < 50ms"
            #expect(throws: SettingsError(message)) { try Threshold(parsing: text) }
        }
    }

    @Test("A condition that is missing beside && is told with all that was written")
    func missing() {
        for text in ["p99 < 50ms &&", "&& p99 < 50ms", "p99 < 1s && && failed == 0", "&&"] {
            let message = "\"\(text)\": expected a condition on either side of &&, as in p99 < 50ms && rejected == 0"
            #expect(throws: SettingsError(message)) { try Threshold.list(parsing: text) }
        }
    }

    @Test("Conditions that more load reaches are told from those that it misses")
    func load() throws {
        for text in ["p99 > 50ms", "queue.mean >= 1ms", "failed > 0", "rejected >= 1%", "rss > 1MB", "goodput > 20k"] {
            #expect(try Threshold(parsing: text).isHelpedByLoad, "\(text)")
        }
        for text in [
            "p99 < 50ms", "p99 == 50ms", "accepted >= 99%", "accepted > 1", "failed == 0", "rejected <= 1%",
            "rate >= 0.95 * target", "rss < 200MB", "cpu < 2us",
        ] {
            #expect(try !Threshold(parsing: text).isHelpedByLoad, "\(text)")
        }
    }

    @Test(
        "What is no threshold is refused with what would be one",
        arguments: [
            ("p99 50ms", "\"p99 50ms\": expected a comparison (<, <=, >, >=, ==), as in p99 < 50ms"),
            ("p99 < 50", "\"p99 < 50\": \"50\" has no unit; write 50us, 50ms, 50s or 50m"),
            ("rss < 100", "\"rss < 100\": \"100\" has no unit; write 100B, 100KiB or 100MiB"),
            ("cpu < 50%", "\"cpu < 50%\": cpu is CPU time a push, as in cpu < 2us"),
            (
                "p99 < 50ms and rejected == 0",
                "\"p99 < 50ms and rejected == 0\": join conditions with &&, as in p99 < 50ms && rejected == 0"
            ),
            (
                "p50 < 5ms, p99{stage=hold} < 9ms",
                "\"p50 < 5ms, p99{stage=hold} < 9ms\": join conditions with &&, as in p99 < 50ms && rejected == 0"
            ),
            ("p99 <", "\"p99 <\": nothing to compare with"),
            ("p5O < 1s", "\"p5O < 1s\": \"p5O\" is not a figure; did you mean \"p50\"?"),
            ("p999 < 1s", "\"p999 < 1s\": \"p999\" is not a figure; did you mean \"p99.9\"?"),
            ("p9999 < 1s", "\"p9999 < 1s\": \"p9999\" is not a figure; did you mean \"p99.99\"?"),
            ("acepted > 1", "\"acepted > 1\": \"acepted\" is not a figure; did you mean \"accepted\"?"),
            ("godput > 1", "\"godput > 1\": \"godput\" is not a figure; did you mean \"goodput\"?"),
            ("sent_rat > 1", "\"sent_rat > 1\": \"sent_rat\" is not a figure; did you mean \"sent_rate\"?"),
            ("notsent > 1", "\"notsent > 1\": \"notsent\" is not a figure; did you mean \"not_sent\"?"),
            (
                "offered >= 0.9 * target",
                "\"offered >= 0.9 * target\": the target is what is offered; expected a rate, as in offered >= 20k"
            ),
            ("totl.p99 < 1s", "\"totl.p99 < 1s\": \"totl\" is not a stage; did you mean \"total\"?"),
            ("p99 < fast", "\"p99 < fast\": \"fast\" is not a duration; expected for example 500ms, 10s, 1m30s or 2h"),
            ("queue.p99{stage=a} < 1s", "\"queue.p99{stage=a} < 1s\": only total is kept apart by stage"),
            ("echo.peek < 1", "\"echo.peek < 1\": \"peek\" is not a figure; did you mean \"peak\"?"),
            (
                "time_to_contnet p99 < 10s",
                "\"time_to_contnet p99 < 10s\": \"time_to_contnet\" is not a stage; did you mean \"time_to_content\"?"
            ),
            (
                "time-to-content p99 < 10s",
                "\"time-to-content p99 < 10s\": \"time-to-content\" is not a stage; did you mean \"time_to_content\"?"
            ),
            (
                "round trip p99 < 10s",
                "\"round trip p99 < 10s\": \"round trip\" is not a stage; did you mean \"round_trip\"?"
            ),
            (
                "p99 time_to_content < 10s",
                "\"p99 time_to_content < 10s\": the stage stands first; did you mean \"time_to_content p99\"?"
            ),
            (
                "p99 time_to_contnet < 10s",
                "\"p99 time_to_contnet < 10s\": \"time_to_contnet\" is not a stage; did you mean \"time_to_content\"?"
            ),
            (
                "time_to_content < 10s",
                "\"time_to_content < 10s\": a statistic of time_to_content is missing; expected for example time_to_content p99"
            ),
            (
                "time_to_contnet < 10s",
                "\"time_to_contnet < 10s\": \"time_to_contnet\" is not a figure; did you mean \"time_to_content p99\"?"
            ),
            (
                "echo < 1",
                "\"echo < 1\": a statistic of echo is missing; expected for example echo p99, or echo.peak"
            ),
            ("p99{hold} < 1s", "\"p99{hold} < 1s\": expected a part in braces, as in p99{stage=hold}"),
            (
                "rate > x * target",
                "\"rate > x * target\": expected a number before * target, as in rate >= 0.95 * target"
            ),
        ])
    func refused(_ text: String, _ message: String) {
        #expect(throws: SettingsError(message)) { try Threshold(parsing: text) }
    }
}
