import Foundation
import Networking
import Testing

/// The Grafana dashboard under `deploy/grafana`, held against what the programs print.
@Suite(.serialized, .waitsForPrograms) struct DashboardTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("deploy/grafana")

    /// What somebody prints or asks for: of each metric, the names of its labels.
    private typealias Labelled = [String: Set<String>]

    private static func printed(_ page: String) -> Labelled {
        var all: Labelled = [:]
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            let name = String(line.prefix { $0 != "{" && $0 != " " })
            all[name, default: []].formUnion(labels(String(line), before: ["=\""]))
        }
        return all
    }

    /// Words that stand before one of these.
    private static func labels(_ text: String, before marks: [String]) -> Set<String> {
        var names: Set<String> = []
        for mark in marks {
            for part in text.components(separatedBy: mark).dropLast() {
                let word = String(part.reversed().prefix { $0.isLetter || $0 == "_" }.reversed())
                if !word.isEmpty { names.insert(word) }
            }
        }
        return names
    }

    /// Metrics of a query, each with every label the query matches, sums by, or names its lines after.
    private static func asked(_ query: String, legend: String = "") -> Labelled {
        var used = labels(query, before: ["=~", "!~", "!=", "="])
        for part in query.components(separatedBy: "by (").dropFirst() {
            for name in part.prefix(while: { $0 != ")" }).split(separator: ",") {
                used.insert(name.trimmingCharacters(in: .whitespaces))
            }
        }
        for part in legend.components(separatedBy: "{{").dropFirst() {
            used.insert(String(part.prefix { $0 != "}" }))
        }
        var all: Labelled = [:]
        let words = query.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
        for word in words where word.hasPrefix("pushload_") || word.hasPrefix("mock_apns_") { all[word] = used }
        return all
    }

    private static func dashboard() throws -> [String: Any] {
        let data = try Data(contentsOf: folder.appendingPathComponent("dashboards/pushload.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private static func queries(_ dashboard: [String: Any]) throws -> [(panel: String, query: String, legend: String)] {
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        return panels.flatMap { panel in
            (panel["targets"] as? [[String: Any]] ?? []).map {
                (panel["title"] as? String ?? "", $0["expr"] as? String ?? "", $0["legendFormat"] as? String ?? "")
            }
        }
    }

    @Test(
        "Every metric and label that the dashboard asks for is printed by the programs, and nothing of a query is unknown"
    )
    func queries() throws {
        let mock = try Mock(["--admin-port", "0", "--reject", "ServiceUnavailable=20%"])
        let port = try Listener(host: "127.0.0.1", port: 0, shared: false).address.port
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload",
            [
                "run", "-D", "10m", "--rate", "500", "--metrics-port", String(port), "--target", mock.url,
                "--credentials", mock.folder, "--output", output.path,
            ])
        func scrape(_ port: String) throws -> String {
            try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/metrics"]).output
        }
        var (ours, theirs) = ("", "")
        let admin = try mock.port(of: "admin")
        for _ in 0..<2000 where !theirs.contains("status=\"503\"") || !theirs.contains("status=\"200\"") || ours.isEmpty
        {
            (ours, theirs) = (try scrape(String(port)), try scrape(admin))
            usleep(20_000)
        }
        kill(run.process.processIdentifier, SIGINT)
        _ = try run.wait()
        _ = try mock.stop()
        let printed = Self.printed(ours).merging(Self.printed(theirs)) { $0.union($1) }
        // Prometheus' own.
        let always: Set<String> = ["instance", "job"]
        let dashboard = try Self.dashboard()
        let queries = try Self.queries(dashboard)
        #expect(queries.count > 30)
        for (panel, query, legend) in queries {
            let asked = Self.asked(query, legend: legend)
            #expect(!asked.isEmpty, "\(panel): \(query)")
            for (name, labels) in asked {
                let known = try #require(printed[name], "\(panel): nobody prints \(name)")
                let unknown = labels.subtracting(known).subtracting(always)
                #expect(unknown.isEmpty, "\(panel): \(name) has no \(unknown.sorted()), only \(known.sorted())")
            }
        }
        let templating = try #require(dashboard["templating"] as? [String: Any])
        let variables = try #require(templating["list"] as? [[String: Any]])
        for variable in variables where variable["type"] as? String == "query" {
            let definition = try #require(variable["definition"] as? String)
            for name in Self.asked(definition).keys { #expect(printed[name] != nil, "\(definition)") }
        }
        // The table of the README names every one of them, and no other.
        let readme = try String(contentsOf: Self.folder.appendingPathComponent("README.md"), encoding: .utf8)
        let table = readme.split(separator: "\n").filter { $0.hasPrefix("| `") }.joined()
        let families = Set(
            printed.keys.map { name in
                ["_bucket", "_sum", "_count"].first { name.hasSuffix("seconds" + $0) }
                    .map { String(name.dropLast($0.count)) } ?? name
            })
        #expect(Set(Self.asked(table).keys) == families)
    }

    @Test("The check of these tests sees a metric and a label that nobody prints")
    func checker() {
        let query =
            "sum by (le, kind) (rate(pushload_x_bucket{instance=~\"$i\",outcome!=\"a\"}[$__rate_interval])) / mock_apns_y"
        let asked = Self.asked(query, legend: "{{colour}}")
        #expect(Set(asked.keys) == ["pushload_x_bucket", "mock_apns_y"])
        #expect(asked["mock_apns_y"] == ["le", "kind", "instance", "outcome", "colour"])
        #expect(Self.printed("# HELP a b\na{x=\"1\",y_z=\"=\"} 3\nb 2\n") == ["a": ["x", "y_z"], "b": []])
    }
}
