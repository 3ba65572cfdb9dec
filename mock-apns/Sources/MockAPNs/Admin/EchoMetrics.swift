import Devices
import Echo
import Measurement
import PlainHTTP

/// What devices asked of their backend, as `GET /metrics` shows it.
enum EchoMetrics {
    static func add(_ echo: EchoFigures, to page: inout MetricsText) {
        let books = echo.books
        func byKind(_ count: (EchoBooks.Endings) -> UInt64) -> [String: UInt64] {
            Dictionary(uniqueKeysWithValues: EchoRequest.Kind.allCases.map { ($0.rawValue, count(books[$0])) })
        }
        page.add(
            .counter, "echo_requests_total", "Requests that devices made to their backend, by kind.", by: "kind",
            byKind(\.requests))
        page.add(
            .counter, "echo_answered_total", "Requests answered 200, 201 or 204, by kind.", by: "kind",
            byKind(\.answered))
        page.add(.counter, "echo_failed_total", "Requests that failed, by kind.", by: "kind", byKind(\.failed))
        page.add(
            .counter, "echo_given_up_total", "Requests begun and not over at their deadline, by kind.", by: "kind",
            byKind(\.givenUp))
        page.add(
            .counter, "echo_not_begun_total", "Requests that had no place in the pool until their deadline, by kind.",
            by: "kind", byKind(\.notBegun))
        page.add(
            .gauge, "echo_under_way", "Requests that have not ended, by kind.", by: "kind", byKind(\.underWay))
        page.add(.counter, "echo_failures_total", "Requests that failed, by cause.", by: "cause", books.failures)
        page.add(.counter, "echo_responses_total", "Answers, by HTTP status.", by: "status", echo.statuses)
        page.add(.counter, "echo_retries_total", "Attempts after a request's first.", Double(books.retries))
        page.add(.counter, "echo_received_bytes_total", "Bodies of answers.", Double(books.bytes))
        page.add(
            .counter, "echo_connections_opened_total", "Connections made for requests.", Double(books.connections))
        page.add(
            "echo_latency_seconds", "A device making a request to its answer being complete.",
            [([], metrics(books.latency))])
    }

    private static func metrics(_ latencies: LatencyHistogram) -> MetricsText.Histogram {
        let summary = latencies.summary
        return .init(
            below: latencies.counts(upTo: MetricsText.latencyBounds), count: summary.count,
            sum: summary.mean * Double(summary.count) / 1e9)
    }
}
