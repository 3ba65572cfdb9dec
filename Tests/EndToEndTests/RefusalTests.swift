import Foundation
import Testing

@Suite(.waitsForPrograms) struct RefusalTests {
    /// What is typed, and what has to be said of it.
    static let cases: [(arguments: [String], part: String)] = [
        (["run", "-n", "5", "--rtt", "80"], "--rtt: \"80\" has no unit; write 80ms"),
        (["run", "-D", "5"], "--duration: \"5\" has no unit"),
        (["run", "-n", "5", "--threshold", "p99 < 50"], "\"p99 < 50\": \"50\" has no unit; write 50ms"),
        (["run", "-n", "5", "--threshold", "rss < 100"], "\"100\" has no unit; write 100B"),
        (["run", "-n", "5", "--set", "timeout=5"], "--set timeout: \"5\" has no unit"),
        (["run", "-n", "5", "--mock-flags", "--latency 20"], "\"20\" has no unit; write 20ms"),
        (["run", "-n", "5", "--mock-flags", "--stall 5/10s"], "\"5\" has no unit"),
        (["search", "--goal", "p99 < 50ms", "--probe", "5"], "\"5\" has no unit"),
        (["sweep", "-n", "5", "--vary", "rtt=20,80ms"], "--vary rtt: \"20\" has no unit"),
        (["plan", "--devices", "1M", "--within", "60", "--rtt", "0"], "--within: \"60\" has no unit"),
        (["run", "-n", "5", "--expect-reasons", "Unregisterd"], "did you mean \"Unregistered\"?"),
        (["history", ".", "--level", "2"], "level"),
        (["report", "nowhere", "-o", "r.pdf"], "--output r.pdf: expected a name that ends in .html"),
        (["sweep", "-n", "5", "--vary", "streams=1", "--report", "r.pdf"], "--report r.pdf: expected a name"),
        (["history", ".", "-o", "r.pdf"], "--output r.pdf: expected a name that ends in .html"),
        (["run", "-n", "5", "--target", "https://api.push.apple.com", "--no-auth"], "that is Apple's"),
        (["run", "-n", "5", "--target", "https://192.0.2.1", "--no-auth"], "--allow-target 192.0.2.1"),
        (["search", "--goal", "p99 < 1s", "--target", "http://192.0.2.1:1", "--no-auth"], "--allow-target 192.0.2.1"),
        (["ab", "-n", "5", "--self", "--target", "http://192.0.2.1:1", "--no-auth"], "--allow-target 192.0.2.1"),
        (["sweep", "-n", "5", "--vary", "streams=1", "--target", "http://192.0.2.1:1", "--no-auth"], "--allow-target"),
        (
            [
                "gate", "--update", "--baseline", "/nowhere/b.json", "--reason", "x", "-n", "5", "--target",
                "http://192.0.2.1:1", "--no-auth",
            ], "--allow-target 192.0.2.1"
        ),
    ]

    @Test("What is mistyped is refused in a line that says what would be right", arguments: cases.indices)
    func refused(_ index: Int) throws {
        let (arguments, part) = Self.cases[index]
        let finished = try Programs.run("pushload", arguments)
        #expect(finished.status != 0 && finished.output.isEmpty, "\(arguments): \(finished)")
        #expect(finished.error.contains(part), "\(arguments): \(finished.error)")
    }

    @Test("A variable that is no setting is refused")
    func variable() throws {
        let finished = try Programs.start(
            "pushload", ["run", "-n", "5"], environment: ["PUSHLOAD_CONECTIONS": "3"]
        ).wait()
        #expect(
            finished.status == 64
                && finished.error
                    == "pushload: PUSHLOAD_CONECTIONS: no such setting; did you mean PUSHLOAD_CONNECTIONS?\n",
            "\(finished)")
    }
}
