import Faults
import Settings
import Testing

@testable import Backend

@Suite struct BackendFaultsTests {
    @Test("The first rule that is for a request decides, and only while its burst is on")
    func rules() throws {
        let faults = try BackendFaults(
            parsing: """
                seed: 7
                rules:
                  - {kind: [fetch, attachment], reject: {503: 50%, 429: 25%}, silent: 25%, start: 10s, for: 5s}
                  - {kind: create, reject: 500}
                  - {latency: 80ms, reset: 1%}
                """, file: "f.yaml")
        #expect(faults.seed == 7 && faults.rules.count == 3)
        #expect(faults.rule(for: .fetch, age: 12_000_000_000) == faults.rules[0])
        #expect(faults.rule(for: .fetch, age: 15_000_000_000) == faults.rules[2])
        #expect(faults.rule(for: .create, age: 0)?.rejections == [.init(status: 500, share: 1)])
        #expect(faults.rule(for: .action, age: 0)?.latency == .fixed(80_000_000))
        var random = SeededRandom(seed: faults.seed)
        var found: Set<String> = []
        for _ in 0..<1000 { found.insert("\(faults.rules[0].fate(&random))") }
        #expect(found == ["rejected(503)", "rejected(429)", "silent"])
    }

    @Test(
        "A rule that cannot be is told with its place and what would be right",
        arguments: [
            (
                "rules:\n  - kind: fecth",
                "f.yaml:2:11: rules[0].kind: \"fecth\" is not a kind of request; did you mean \"fetch\"?"
            ),
            (
                "rules:\n  - reject: 200",
                "f.yaml:2:13: rules[0].reject: \"200\" is not a status of an error; expected 400 to 599, as in 503"
            ),
            (
                "rules:\n  - {silent: 60%, reset: 60%}",
                "f.yaml:2:5: rules[0]: the shares of this rule add up to more than 100%"
            ),
            (
                "rules:\n  - {silent: 60%, every: 1s}",
                "f.yaml:2:5: rules[0]: \"start\" and \"every\" need \"for\": how long the rule holds"
            ),
            (
                "rules:\n  - {kind: create, empty: 10%}",
                "f.yaml:2:27: rules[0].empty: goes with kind content, which alone can be empty"
            ),
            ("rule: []", "f.yaml:1:1: unknown key \"rule\"; did you mean \"rules\"?"),
        ])
    func wrong(_ text: String, _ message: String) {
        #expect { try BackendFaults(parsing: text, file: "f.yaml") } throws: { "\($0)" == message }
    }
}
