import Foundation
import Measurement
import Testing

@testable import Devices
@testable import Echo

@Suite struct EchoFiguresTests {
    @Test("Buckets are of 100 ms; beyond 36,000 neighbours are merged, and nothing is lost")
    func series() {
        var series = EchoSeries()
        let start: UInt64 = 5_000_000_050
        series.addRequest(at: start)
        #expect(series.start == 5_000_000_000)
        series.addAnswer(at: start + 100_000_000)
        // Before the first bucket.
        series.addRequest(at: 1)
        #expect(series.requests == [2, 0] && series.answered == [0, 1])
        for second in 0..<3600 { series.addRequest(at: 5_000_000_000 + UInt64(second) * 1_000_000_000) }
        #expect(series.interval == 100_000_000 && series.requests.count == 35_991)
        series.addAnswer(at: 5_000_000_000 + 3_600_000_000_000)
        #expect(series.interval == 200_000_000 && series.requests.count == 18_001)
        #expect(series.requests[..<6] == [3, 0, 0, 0, 0, 1] && series.answered[0] == 1 && series.answered[18_000] == 1)
        #expect(series.requests.reduce(0, +) == 3602)
        series.addRequest(at: .max)
        #expect(series.requests.count <= EchoSeries.mostBuckets && series.requests.reduce(0, +) == 3603)
    }

    @Test("The figures as JSON have the names that others read, and add up in total and by kind")
    func json() throws {
        var books = EchoBooks()
        let ask = Ask(id: 1, device: 2, madeAt: 1000, deadline: 9000, fleet: 0, content: 0, kind: .fetch)
        for kind in EchoRequest.Kind.allCases { for _ in 0..<3 { books.made(kind, at: 1000) } }
        books.begun(ask, at: 1500)
        books.tookAnswer(200)
        books.answered(ask, at: 2000)
        books.failed(.rich, "HTTP 404", madeAt: 1000, at: 3000)
        books.gaveUp(ask, at: 9000)
        books.neverBegan(ask, at: 9000)
        let data = try JSONEncoder().encode(EchoFigures(url: "http://a:1", books: books))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            Set(object.keys) == [
                "url", "requests", "answered", "failed", "given_up", "not_begun", "under_way", "retries", "bytes",
                "connections_opened", "by_kind", "statuses", "failures", "series", "histograms",
            ])
        let names = ["requests", "answered", "failed", "given_up", "not_begun", "under_way"]
        #expect(names.map { object[$0] as? Int } == [12, 1, 1, 1, 1, 8])
        let kinds = try #require(object["by_kind"] as? [String: [String: Int]])
        #expect(
            kinds["fetch"] == [
                "requests": 3, "answered": 1, "failed": 0, "given_up": 1, "not_begun": 1, "under_way": 0,
            ])
        #expect(
            kinds["rich"]?["failed"] == 1 && kinds["attachment"]?["under_way"] == 3 && kinds["action"]?["requests"] == 3
        )
        #expect(
            object["statuses"] as? [String: Int] == ["200": 1]
                && object["failures"] as? [String: Int] == ["HTTP 404": 1])
        let series = try #require(object["series"] as? [String: Any])
        #expect(series["start_ns"] as? Int == 0 && series["interval_ms"] as? Int == 100)
        #expect(series["requests"] as? [Int] == [12] && series["answered"] as? [Int] == [1])
        let histograms = try #require(object["histograms"] as? [String: String])
        let found = try histograms.mapValues { try HistogramCodec.decodeFromLog($0).summary }
        #expect(found["latency"]?.count == 1 && found["latency"]?.max == 1000)
        #expect(found["wait"]?.count == 1 && found["wait"]?.max == 500)
        #expect(found["unanswered"]?.count == 3 && found["unanswered"]?.min == 2000)
    }
}
