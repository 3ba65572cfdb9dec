import Measurement

extension ResultDocument {
    /// Under which a label's total latencies are among `histograms`.
    package static func histogramKey(_ dimension: String, _ label: String) -> String { "total{\(dimension)=\(label)}" }

    /// Under which the waits of the pushes without an answer are that belong to `key`; nil for what only answers have.
    package static func unansweredKey(_ key: String) -> String? {
        if [echoKey, echoWaitKey].contains(key) || Stage.ofDevices.contains(where: { $0.key == key }) {
            return key + "_unanswered"
        }
        return key == "total" || key.hasPrefix("total{") ? "total_unanswered" + key.dropFirst("total".count) : nil
    }

    /// The latencies `histograms` holds under `key`: for `total` and its parts with the pushes that got no answer. Empty when
    /// there are none.
    package func censoredHistogram(_ key: String) throws(HistogramCodec.Failure) -> CensoredHistogram {
        func histogram(_ key: String) throws(HistogramCodec.Failure) -> LatencyHistogram {
            guard let text = histograms[key] else { return LatencyHistogram() }
            return try HistogramCodec.decodeFromLog(text)
        }
        // Where nothing was rejected, all answers are accepted ones, and stand once.
        let isAll = key == "total_accepted" && histograms["total_rejected"] == nil
        return CensoredHistogram(
            answered: try histogram(isAll ? "total" : key),
            unanswered: try Self.unansweredKey(key).map(histogram) ?? LatencyHistogram())
    }
}

extension ResultDocument.Latency {
    package init(_ summary: LatencySummary) {
        self.init(
            count: summary.count, min: summary.min, mean: summary.mean, p50: summary.p50, p90: summary.p90,
            p99: summary.p99, p999: summary.p999, max: summary.max)
    }

    package init(_ histogram: CensoredHistogram) {
        let summary = histogram.summary
        self.init(summary.figures)
        unanswered = summary.unanswered
        censored = LatencyFigure.allCases.map(\.rawValue).filter(summary.censored.contains)
    }
}

extension ResultDocument.Latencies {
    /// Accepted, rejected and unanswered pushes are not all the same: their latencies are worth a look apart.
    package var isWorthTakingApart: Bool { self[.totalRejected].count > 0 || self[.total].unanswered > 0 }

    /// Mean of `total` over the pushes that were answered, nanoseconds.
    package var answeredMean: Double {
        guard self[.total].unanswered > 0 else { return self[.total].mean }
        let (accepted, rejected) = (Double(self[.totalAccepted].count), Double(self[.totalRejected].count))
        let answered = accepted + rejected
        return answered > 0
            ? (self[.totalAccepted].mean * accepted + self[.totalRejected].mean * rejected) / answered : 0
    }
}
