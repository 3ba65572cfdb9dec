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
        for (text, value) in [("500", 500.0), ("20k", 20_000), ("1G", 1e9), ("0.5", 0.5), ("1.5M/s", 1_500_000)] {
            #expect(try Units.rate(text) == value)
        }
        for (text, value) in [
            ("500ms", 500_000_000), ("10s", 10_000_000_000), ("1m30s", 90_000_000_000), ("2h", 7_200_000_000_000),
            ("0", 0), ("0.0", 0), ("0.5s", 500_000_000), ("7us", 7_000), ("7µs", 7_000), ("1ms7\u{3BC}s", 1_007_000),
        ] {
            #expect(try Units.duration(text) == UInt64(value))
        }
        for (text, value) in [
            ("65535B", 65_535), ("64KiB", 65_536), ("1MiB", 1_048_576), ("0.5kib", 512), ("64kB", 64_000),
            ("200MB", 200_000_000), ("2GB", 2_000_000_000), ("0", 0),
        ] { #expect(try Units.bytes(text) == value) }
    }

    @Test("A ratio above 2 is written as a factor, any other as a percentage")
    func changes() {
        for (ratio, text) in [
            (1.081, "slower by 8.1 %"), (0.9, "slower by 10.0 %"), (0, "slower by 100.0 %"), (2, "slower by 100.0 %"),
            (2.04, "slower: 2.0 times"), (3.48, "slower: 3.5 times"), (9.94, "slower: 9.9 times"),
            (9.96, "slower: 10 times"), (13.58, "slower: 14 times"), (1897.4, "slower: 1,897 times"),
        ] { #expect(Units.verdict("slower", ratio) == text) }
    }

    @Test("A number without its unit is refused, with the units it may have")
    func bareNumbers() {
        func message<Value>(_ read: () throws(Units.ParseError) -> Value) -> String {
            do throws(Units.ParseError) { return "\(try read())" } catch { return error.description }
        }
        #expect(
            message { () throws(Units.ParseError) in try Units.duration("50") }
                == "\"50\" has no unit; write 50us, 50ms, 50s or 50m")
        #expect(
            message { () throws(Units.ParseError) in try Units.duration("1.5") }
                == "\"1.5\" has no unit; write 1.5us, 1.5ms, 1.5s or 1.5m")
        #expect(
            message { () throws(Units.ParseError) in try Units.bytes("100") }
                == "\"100\" has no unit; write 100B, 100KiB or 100MiB")
        #expect(
            message { () throws(Units.ParseError) in try Units.bytes("64k") }
                == "\"64k\" has no unit; write 64KiB (powers of 1,024) or 64kB (of 1,000)")
        #expect(message { () throws(Units.ParseError) in try Units.bandwidth("64k/s") }.contains("not a bandwidth"))
    }

    @Test(
        "What is written for a setting is read as the same",
        arguments: [0, 1, 999, 1000, 20_000, 65_535, 65_536, 1_500_000, 3 << 30])
    func written(_ value: UInt64) throws {
        #expect(try Units.count(Units.written(count: value)) == value)
        #expect(try Units.duration(Units.written(duration: value)) == value)
        #expect(try Units.bytes(Units.written(bytes: Int(value))) == Int(value))
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
        #expect(
            Units.clock(seconds: .nan) == "0s" && Units.clock(seconds: -5) == "0s"
                && Units.clock(seconds: 1e300).hasSuffix("h 46m"))
        #expect(Units.fixed(-0.004, places: 2) == "0.00" && Units.fixed(-1.5, places: 1) == "-1.5")
    }

    @Test("One is no plural")
    func counting() {
        let nouns = ["push", "retry", "attempt", "address"]
        #expect(nouns.map { Units.counted(1, $0) } == ["1 push", "1 retry", "1 attempt", "1 address"])
        #expect(nouns.map { Units.counted(0, $0) } == ["0 pushes", "0 retries", "0 attempts", "0 addresses"])
        #expect(Units.counted(1234 as UInt64, "push") == "1,234 pushes" && Units.counted(2, "day") == "2 days")
    }

    @Test("Shares are percent or parts of one, bandwidths bits or bytes a second")
    func sharesAndBandwidths() throws {
        for (text, value) in [("2%", 0.02), ("0.5%", 0.005), ("0.25", 0.25), ("100%", 1), ("1", 1), ("0", 0)] {
            #expect(try Units.share(text) == value)
        }
        for text in ["", "%", "101%", "1.5", "-1%", "2 %", "x"] {
            #expect(throws: Units.ParseError.self) { try Units.share(text) }
        }
        for (text, value) in [
            ("100Mbit/s", 12_500_000.0), ("100Mbit", 12_500_000), ("8bit/s", 1), ("1MiB/s", 1_048_576),
            ("64KiB/s", 65_536),
        ] {
            #expect(try Units.bandwidth(text) == value)
        }
        for text in ["", "100", "100MiB", "0Mbit/s", "/s", "100/s"] {
            #expect(throws: Units.ParseError.self) { try Units.bandwidth(text) }
        }
    }
}
