import Foundation
import Networking
import Results
import Testing

@Suite(.serialized, .waitsForPrograms) struct MetricsTests {
    @Test("A run answers GET /metrics while it goes on, with counts that grow to its result")
    func metrics() throws {
        // A port that was free a moment ago.
        let port = try Listener(host: "127.0.0.1", port: 0, shared: false).address.port
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload", ["run", "-D", "10m", "--rate", "500", "--metrics-port", String(port), "--output", output.path])
        func scrape() throws -> String {
            try Programs.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/metrics"]).output
        }
        func accepted(_ text: String) -> Int {
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("pushload_pushes_total{outcome=\"accepted\"} ")
            }
            return line.flatMap { Int($0.split(separator: " ").last!) } ?? -1
        }
        var counts: [Int] = []
        for _ in 0..<2000 where counts.count < 5 {
            let count = accepted(try scrape())
            if count > (counts.last ?? 0) { counts.append(count) }
            usleep(20_000)
        }
        let text = try scrape()
        for part in [
            "# TYPE pushload_latency_seconds histogram",
            "pushload_latency_seconds_bucket{outcome=\"accepted\",le=\"+Inf\"} ",
            "pushload_planned_pushes 300000", "pushload_target_pushes_per_second 500\n",
            "pushload_in_flight ",
        ] { #expect(text.contains(part), "\(text)") }
        #expect(counts.count == 5 && counts.allSatisfy { $0 <= 300_000 }, "\(counts)")
        kill(run.process.processIdentifier, SIGINT)
        let finished = try run.wait()
        #expect(finished.status == 1, "\(finished.error)")
        let folder = try #require(try FileManager.default.contentsOfDirectory(atPath: output.path).first)
        let result = try ResultFile.read("\(output.path)/\(folder)/result.json")
        #expect(result.run.interrupted && Int(result.pushes.accepted) >= counts.last ?? 0, "\(result.pushes) \(counts)")
    }

    @Test("Connections to the metrics port that say nothing hold up neither a scrape nor the run's end")
    func idleConnections() throws {
        let port = String(try Listener(host: "127.0.0.1", port: 0, shared: false).address.port)
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload", ["run", "-D", "10m", "--rate", "500", "--metrics-port", port, "--output", output.path])
        let url = "http://127.0.0.1:\(port)/metrics"
        var text = ""
        for _ in 0..<6000 where !text.contains("pushload_in_flight ") {
            text = try Programs.run("/usr/bin/curl", ["-s", url]).output
            usleep(20_000)
        }
        let idle = try (0..<5).map { _ in try RawClient(port: port, preface: false) }
        #expect(try Programs.run("/usr/bin/curl", ["-s", url]).output.contains("pushload_in_flight "))
        // Nobody had to be let go for that.
        #expect(idle.allSatisfy { !$0.isOver })
        let refused = try Programs.run("/usr/bin/curl", ["-s", "-H", "Host: evil.example", url]).output
        #expect(refused.hasPrefix("Host \"evil.example\": expected an IP address, localhost"), "\(refused)")
        kill(run.process.processIdentifier, SIGINT)
        #expect(try run.wait().status == 1)
    }
}
