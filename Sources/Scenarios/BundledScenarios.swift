import Foundation
import Settings

/// Scenarios that come with pushload, by name.
public enum BundledScenarios {
    public struct Entry: Sendable {
        public let name: String
        /// One line.
        public let summary: String
        /// YAML.
        public let text: String
        /// Where files that it names are looked for.
        package let folder: String

        package init(name: String, summary: String, text: String, folder: String = ".") {
            self.name = name
            self.summary = summary
            self.text = text
            self.folder = folder
        }
    }

    /// Applies a scenario file, or the bundled scenario of this name when there is no such file.
    ///
    /// - Parameter leftOut: a key of the file that is passed over.
    public static func apply(
        _ nameOrPath: String, leavingOut leftOut: String? = nil, to scenario: inout Scenario
    ) throws(ScenarioFile.Problems) {
        if !FileManager.default.fileExists(atPath: nameOrPath), let entry = all.first(where: { $0.name == nameOrPath })
        {
            try ScenarioFile.apply(
                entry.text, file: entry.name, folder: entry.folder, depth: 0, leavingOut: leftOut, to: &scenario)
            return
        }
        guard FileManager.default.fileExists(atPath: nameOrPath) else {
            let names = all.map(\.name)
            let near = NearestName.of(nameOrPath, among: names).map { "; did you mean \"\($0)\"?" }
            throw ScenarioFile.Problems(lines: [
                "no scenario file \(nameOrPath), and no bundled scenario of that name"
                    + (near ?? ": there are \(names.joined(separator: ", "))")
            ])
        }
        try ScenarioFile.apply(nameOrPath, leavingOut: leftOut, to: &scenario)
    }

    public static let all: [Entry] = texts + ScenarioFolder.entries

    private static let texts: [Entry] = [
        Entry(
            name: "smoke", summary: "10,000 pushes, everything accepted: does it work at all?",
            text: """
                name: smoke
                pushes: 10k
                streams: 100
                threshold: [accepted == 100%]
                """),
        Entry(
            name: "breaking-news", summary: "one burst to a million devices, all due at once",
            text: """
                name: breaking-news
                devices: 1M
                stages: burst 1M
                connections: 4
                threads: 1
                threshold: [accepted == 100%]
                """),
        Entry(
            name: "steady", summary: "20,000 pushes a second for 30 s, Poisson arrivals",
            text: """
                name: steady
                rate: 20k
                duration: 30s
                arrivals: poisson
                warmup: 2s
                threshold: [p99 < 50ms, rate >= 0.98 * target, accepted >= 99.99%]
                """),
        Entry(
            name: "ramp-to-breaking", summary: "an ordinary day that ends in breaking news",
            text: """
                name: ramp-to-breaking
                stages:
                  - ramp 1k 10k 20s
                  - hold 10k 20s
                  - burst 200k
                  - hold 10k 10s
                  - ramp 10k 1k 10s
                connections: 2
                threshold: [accepted >= 99.99%, "p99{stage=hold} < 50ms"]
                """),
        Entry(
            name: "soak", summary: "5,000 pushes a second for an hour, all kinds of payloads",
            text: """
                name: soak
                rate: 5k
                duration: 1h
                arrivals: poisson
                profile: alert:70,silent:20,rich:5,live-activity:5
                threshold: [p99.9 < 200ms, accepted >= 99.99%, rss < 200MB]
                """),
        Entry(
            name: "bad-tokens", summary: "every tenth device is no longer registered, or never was",
            text: """
                name: bad-tokens
                rate: 10k
                duration: 10s
                mock_flags: --reject BadDeviceToken=5% --reject Unregistered=5%
                expect_reasons: BadDeviceToken,Unregistered
                threshold: [accepted >= 89%, failed == 0]
                """),
        Entry(
            name: "slow-apns", summary: "answers take 5 to 500 ms, and the whole server stalls now and then",
            text: """
                name: slow-apns
                rate: 5k
                duration: 20s
                connections: 4
                mock_flags: --latency "lognormal 20ms 1" --stall 500ms/5s
                threshold: [accepted == 100%, p99 < 2s]
                """),
        Entry(
            name: "goaway-storm", summary: "connections are told to go away every 5,000 pushes, and some are reset",
            text: """
                name: goaway-storm
                rate: 20k
                duration: 15s
                connections: 4
                mock_flags: --goaway-after 5k --tcp-reset-every 4s
                threshold: [accepted >= 99%]
                """),
        Entry(
            name: "far-away", summary: "as fast as 10 connections allow over a link of 80 ms round trip",
            text: """
                name: far-away
                duration: 15s
                connections: 10
                rtt: 80ms
                warmup: 1s
                threshold: [accepted == 100%, p99 < 200ms]
                """),
    ]
}
