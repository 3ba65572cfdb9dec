import Devices
import Measurement

/// What became of the requests of devices (docs/devices.md): `echo` in `/stats` and in the mock's report.
package struct EchoFigures: Encodable, Sendable {
    /// Of the backend, without credentials.
    package let url: String
    package let books: EchoBooks

    private enum Key: String, CodingKey {
        case url, requests, answered, failed, retries, bytes, statuses, failures, series, histograms
        case givenUp = "given_up"
        case notBegun = "not_begun"
        case underWay = "under_way"
        case connections = "connections_opened"
        case byKind = "by_kind"
    }

    private struct Counts: Encodable {
        let endings: EchoBooks.Endings

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try EchoFigures.encode(endings, in: &container)
        }
    }

    private struct Series: Encodable {
        let startNanoseconds: UInt64
        let intervalMilliseconds: UInt64
        let requests: [UInt64]
        let answered: [UInt64]

        enum CodingKeys: String, CodingKey {
            case requests, answered
            case startNanoseconds = "start_ns"
            case intervalMilliseconds = "interval_ms"
        }
    }

    private static func encode(_ endings: EchoBooks.Endings, in container: inout KeyedEncodingContainer<Key>) throws {
        try container.encode(endings.requests, forKey: .requests)
        try container.encode(endings.answered, forKey: .answered)
        try container.encode(endings.failed, forKey: .failed)
        try container.encode(endings.givenUp, forKey: .givenUp)
        try container.encode(endings.notBegun, forKey: .notBegun)
        try container.encode(endings.underWay, forKey: .underWay)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(url, forKey: .url)
        try Self.encode(books.total, in: &container)
        try container.encode(books.retries, forKey: .retries)
        try container.encode(books.bytes, forKey: .bytes)
        try container.encode(books.connections, forKey: .connections)
        try container.encode(
            Dictionary(
                uniqueKeysWithValues: EchoRequest.Kind.allCases.map { ($0.rawValue, Counts(endings: books[$0])) }),
            forKey: .byKind)
        try container.encode(statuses, forKey: .statuses)
        try container.encode(books.failures, forKey: .failures)
        let series = books.series
        try container.encode(
            Series(
                startNanoseconds: series.start, intervalMilliseconds: series.interval / 1_000_000,
                requests: series.requests, answered: series.answered), forKey: .series)
        try container.encode(
            [
                "latency": HistogramCodec.encodeForLog(books.latency),
                "unanswered": HistogramCodec.encodeForLog(books.unanswered),
                "wait": HistogramCodec.encodeForLog(books.wait),
                "wait_unanswered": HistogramCodec.encodeForLog(books.waitUnanswered),
            ], forKey: .histograms)
    }

    /// Answers by status, as text.
    package var statuses: [String: UInt64] {
        Dictionary(uniqueKeysWithValues: books.statuses.map { (String($0.key), $0.value) })
    }
}
