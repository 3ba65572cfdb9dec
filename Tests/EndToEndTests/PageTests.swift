import Foundation
import Results
import Settings
import Testing

@Suite(
    .serialized, .waitsForPrograms,
    .enabled(if: Chromium.path != nil, "Chromium is not installed: make test-deps, or apt install chromium"))
struct PageTests {
    @Test("Chromium shows the figures of result.json, each chart and every section, and has nothing to complain about")
    func page() throws {
        let output = OutputFolder()
        let finished = try Programs.run(
            "pushload",
            [
                "run", "--output", output.path, "-n", "3000", "--rate", "6k", "--threshold", "p99 < 1m", "--report",
                "page.html", "-q", "--expect-reasons", "BadPriority", "--mock-flags",
                // So that at each look some are in flight.
                "--reject BadPriority=5% --latency 20ms",
            ])
        #expect(finished.status == 0, "\(finished.error)")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: output.path).first)
        let result = try ResultFile.read("\(output.path)/\(name)/result.json")
        let (document, console) = try Chromium.load("\(output.path)/\(name)/page.html")
        #expect(console.isEmpty, "\(console)")

        let total = result.latency[.total]
        func time(_ value: UInt64) -> String { Units.duration(nanoseconds: Double(value)) }
        let mockCPU = try #require(result.cost.mockCPU)
        let mockMemory = try #require(result.cost.mockMemory)
        let tls = try #require(result.run.tls)
        var figures = [result.pushes.planned, result.pushes.accepted, result.pushes.rejected].map {
            "\(Units.grouped($0)) pushes"
        }
        figures += [total.p50, total.p90, total.p99, total.p999, total.max, result.latency[.toMock].p99].map(time)
        figures += [
            "\(Units.grouped(UInt64(result.throughput.answered.rounded()))) pushes/s", "6,000 pushes/s",
            "\(Units.duration(nanoseconds: result.cost.clientCPU)) a push",
            "\(Units.duration(nanoseconds: mockCPU)) a push",
            Units.bytes(result.cost.clientMemory), Units.bytes(mockMemory),
            "\(Units.fixed(result.run.durationSeconds, places: 2)) s", result.run.id, result.environment.cpu,
            tls, "BadPriority", " &lt; 1 m",
        ]
        for figure in figures { #expect(document.contains(figure), "\(figure) is not on the page") }
        for part in [
            "Verdict and thresholds", "Throughput (pushes/s)", "Waiting (pushes)", "in flight",
            "By percentile (log scale)", "Over time, due to answered (log scale)", "Latency by stage",
            "CPU of the client a push", "Outcomes", "Environment", "Settings",
        ] { #expect(document.contains(part), "\(part) is not on the page") }
        // As drawn: each line has its points.
        #expect(document.components(separatedBy: "<polyline").count > 6)
        #expect(!document.contains("NaN") && !document.contains("points=\"\""))
    }

    @Test("Several results share one page with their comparison, and a history is a page too")
    func several() throws {
        let output = OutputFolder()
        for streams in ["20", "10"] {
            #expect(
                try Programs.run("pushload", ["run", "--output", output.path, "-n", "500", "-m", streams, "-q"]).status
                    == 0)
        }
        let folders = try FileManager.default.contentsOfDirectory(atPath: output.path).sorted().map {
            "\(output.path)/\($0)"
        }
        let page = output.path + "/both.html"
        #expect(try Programs.run("pushload", ["report", "-o", page] + folders).status == 0)
        let both = try Chromium.load(page)
        #expect(both.console.isEmpty, "\(both.console)")
        for part in ["Figures side by side", "run #2 against run #1", "A keeps 20 pushes open and B 10"] {
            #expect(both.document.contains(part), "\(part)")
        }
        #expect(try Programs.run("pushload", ["history", "--across", "streams", "-o", page] + folders).status == 0)
        let history = try Chromium.load(page)
        #expect(history.console.isEmpty && history.document.contains("client CPU a push"), "\(history.console)")
    }

    @Test("A page that is wrong is seen to be")
    func wrong() throws {
        let output = try OutputFolder.made()
        let page = output.path + "/wrong.html"
        try "<!DOCTYPE html><html><body><p>x</p><script>throw new Error('broken')</script></body></html>".write(
            toFile: page, atomically: true, encoding: .utf8)
        #expect(try Chromium.load(page).console.count == 1)
    }
}
