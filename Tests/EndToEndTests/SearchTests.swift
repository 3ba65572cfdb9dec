import Testing

/// Limits that follow from the setting, not from the machine: no more than streams × connections a round trip.
@Suite(.serialized, .waitsForPrograms) struct SearchTests {
    private func search(_ arguments: [String]) throws -> (answer: Double, output: String) {
        let finished = try Programs.run("pushload", ["search", "--probe", "1s", "--precision", "10%"] + arguments)
        #expect(finished.status == 0, "\(finished.error)")
        let last = finished.output.split(separator: "\n").last.map(String.init) ?? ""
        let digits = last.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "," }.filter { $0 != "," }
        return (Double(digits) ?? 0, finished.output)
    }

    @Test("The highest rate found is not above what the streams allow, and was confirmed")
    func rate() throws {
        let (answer, output) = try search([
            "--goal", "accepted >= 99%", "-m", "200", "--rtt", "50ms", "--from", "2000",
        ])
        // 200 streams / 50 ms = 4,000 a second, of which 98 % are asked for.
        #expect(answer >= 2000 && answer <= 4000 / 0.98, "\(output)")
        #expect(output.contains("missed  at ") && output.contains("(confirmed twice"), "\(output)")
        #expect(output.contains("  tried again: missed  at ") && output.contains(" to try a miss again, "), "\(output)")
    }

    @Test("The fewest connections found are not below what the streams need")
    func connections() throws {
        let (answer, output) = try search(["--goal", "accepted >= 99%", "--rate", "4000", "-m", "50", "--rtt", "50ms"])
        // 50 streams / 50 ms = 1,000 a second each.
        #expect(answer >= 4 && answer <= 16, "\(output)")
    }

    @Test("A goal that cannot be reached ends with 99")
    func never() throws {
        let finished = try Programs.run(
            "pushload", ["search", "--probe", "500ms", "--goal", "p50 < 1us", "--from", "100", "--most", "200"])
        #expect(finished.status == 99 && finished.output.contains("the goal was never reached"), "\(finished)")
    }
}
