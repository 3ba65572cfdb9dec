import Settings
import Testing

@Suite struct UnitsTests {
    @Test("Counts, rates, durations and sizes are read as load testers write them")
    func reading() throws {
        for (text, value) in [
            ("5000", 5000), ("10k", 10_000), ("1M", 1_000_000), ("2.5M", 2_500_000), ("1_000", 1000), ("0", 0),
            ("1G", 1_000_000_000),
        ] {
            #expect(try Units.count(text) == UInt64(value))
        }
        for (text, value) in [("500", 500.0), ("20k", 20_000), ("0.5", 0.5), ("1.5M/s", 1_500_000)] {
            #expect(try Units.rate(text) == value)
        }
        for (text, value) in [
            ("500ms", 500_000_000), ("10s", 10_000_000_000), ("1m30s", 90_000_000_000), ("2h", 7_200_000_000_000),
            ("3", 3_000_000_000), ("0.5s", 500_000_000), ("7us", 7_000),
        ] {
            #expect(try Units.duration(text) == UInt64(value))
        }
        for (text, value) in [
            ("65535", 65_535), ("64k", 65_536), ("64KiB", 65_536), ("1MiB", 1_048_576), ("0.5k", 512),
        ] { #expect(try Units.bytes(text) == value) }
    }

    @Test(
        "What is no number is refused",
        arguments: ["", "x", "-1", "1.5", "1e3", "10kk", "0x10", " 5", "k", "9999999999999999999999"])
    func badCounts(_ text: String) { #expect(throws: Units.ParseError.self) { try Units.count(text) } }

    @Test("What is no duration is refused", arguments: ["", "s", "10x", "1m30", "-1s", "1s2"])
    func badDurations(_ text: String) { #expect(throws: Units.ParseError.self) { try Units.duration(text) } }

    @Test("Figures are written for people")
    func writing() {
        #expect(Units.grouped(1_234_567) == "1,234,567" && Units.grouped(0) == "0" && Units.grouped(999) == "999")
        #expect(Units.duration(nanoseconds: 870) == "870 ns" && Units.duration(nanoseconds: 1_234_000) == "1.23 ms")
        #expect(Units.duration(nanoseconds: 25.04) == "25.0 ns" && Units.duration(nanoseconds: 2.5e9) == "2.50 s")
        #expect(Units.bytes(12_345_678) == "12.3 MB" && Units.clock(seconds: 65) == "1m 05s")
        #expect(Units.fixed(-0.004, places: 2) == "0.00" && Units.fixed(-1.5, places: 1) == "-1.5")
    }

    @Test("Shares are percent or parts of one, bandwidths bits or bytes a second")
    func sharesAndBandwidths() throws {
        for (text, value) in [("2%", 0.02), ("0.5%", 0.005), ("0.25", 0.25), ("100%", 1), ("1", 1), ("0", 0)] {
            #expect(try Units.share(text) == value)
        }
        for text in ["", "%", "101%", "1.5", "-1%", "2 %", "x"] {
            #expect(throws: Units.ParseError.self) { try Units.share(text) }
        }
        for (text, value) in [("100Mbit/s", 12_500_000.0), ("8bit/s", 1), ("1MiB/s", 1_048_576), ("64k/s", 65_536)] {
            #expect(try Units.bandwidth(text) == value)
        }
        for text in ["", "100", "100Mbit", "0Mbit/s", "/s"] {
            #expect(throws: Units.ParseError.self) { try Units.bandwidth(text) }
        }
    }
}
