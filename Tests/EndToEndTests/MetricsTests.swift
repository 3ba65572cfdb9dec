import Foundation
import Networking
import Testing

@Suite(.serialized) struct MetricsTests {
    @Test("A run answers GET /metrics while it goes on, with counts that grow to its result")
    func metrics() throws {
        // A port that was free a moment ago.
        let port = try Listener(host: "127.0.0.1", port: 0, shared: false).address.port
        let output = OutputFolder()
        let run = try Programs.start(
            "pushload", ["run", "-D", "4s", "--rate", "500", "--metrics-port", String(port), "--output", output.path])
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
        for _ in 0..<400 where counts.count < 5 {
            let count = accepted(try scrape())
            if count > (counts.last ?? 0) { counts.append(count) }
            usleep(20_000)
        }
        let text = try scrape()
        for part in [
            "# TYPE pushload_total_seconds summary", "pushload_total_seconds{quantile=\"0.99\"} ",
            "pushload_planned 2000",
            "pushload_in_flight ",
        ] { #expect(text.contains(part), "\(text)") }
        #expect(counts.count == 5 && counts.allSatisfy { $0 <= 2000 }, "\(counts)")
        let finished = try run.wait()
        #expect(finished.status == 0, "\(finished.error)")
    }
}
