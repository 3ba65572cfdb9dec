import PlainHTTP
import Testing

@Suite struct MetricsTextTests {
    @Test("Families have HELP and TYPE once, names their prefix, and values no point where they are whole")
    func families() {
        var page = MetricsText(prefix: "x_")
        page.add(.gauge, "heat_celsius", "How hot.", 36.6)
        page.add(.counter, "seen_total", "Seen, by kind.", by: "kind", ["b": 2, "a": 12_000_000])
        page.add(.counter, "never_total", "Nothing of it.", by: "kind", [:])
        #expect(
            page.text == """
                # HELP x_heat_celsius How hot.
                # TYPE x_heat_celsius gauge
                x_heat_celsius 36.6
                # HELP x_seen_total Seen, by kind.
                # TYPE x_seen_total counter
                x_seen_total{kind="a"} 12000000
                x_seen_total{kind="b"} 2

                """)
    }

    @Test("What strangers put into a label's value stays in it: backslash, quote and line end are escaped")
    func escaped() {
        var page = MetricsText(prefix: "")
        page.add(.gauge, "g", "One\nline, one \\.", [([("l", "a\\b\"c\nd"), ("m", "ü")], 1)])
        #expect(
            page.text == """
                # HELP g One\\nline, one \\\\.
                # TYPE g gauge
                g{l="a\\\\b\\"c\\nd",m="ü"} 1

                """)
    }

    @Test("A histogram is cumulative over ascending bounds in seconds, ends with +Inf, and has sum and count")
    func histogram() throws {
        let bounds = MetricsText.latencyBounds
        for (low, high) in zip(bounds, bounds.dropFirst()) { #expect(low < high && high <= low * 17 / 10) }
        #expect(bounds.first == 10_000 && bounds.last == 100_000_000_000)
        var page = MetricsText(prefix: "p_")
        let below: [UInt64] = bounds.map { bound in bound < 1_000_000 ? 0 : bound < 2_000_000_000 ? 3 : 4 }
        page.add("wait_seconds", "W.", [([("o", "k")], .init(below: below, count: 5, sum: 2.5))])
        let lines = page.text.split(separator: "\n").map(String.init)
        #expect(lines[1] == "# TYPE p_wait_seconds histogram")
        #expect(lines.contains("p_wait_seconds_bucket{o=\"k\",le=\"0.0007\"} 0"))
        #expect(lines.contains("p_wait_seconds_bucket{o=\"k\",le=\"0.001\"} 3"))
        #expect(lines.contains("p_wait_seconds_bucket{o=\"k\",le=\"2\"} 4"))
        #expect(
            lines.suffix(3) == [
                "p_wait_seconds_bucket{o=\"k\",le=\"+Inf\"} 5", "p_wait_seconds_sum{o=\"k\"} 2.5",
                "p_wait_seconds_count{o=\"k\"} 5",
            ])
        let values = try lines.filter { $0.contains("_bucket") }.map {
            try #require(Double($0.split(separator: " ")[1]))
        }
        #expect(values.count == bounds.count + 1 && values == values.sorted())
    }
}
