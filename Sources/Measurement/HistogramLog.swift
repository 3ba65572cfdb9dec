/// HdrHistogram's files: interval logs (`.hlog`, version 1.3) and percentile texts (`.hgrm`).
public enum HistogramLog {
    /// One interval of a log.
    public struct Interval: Sendable {
        /// Seconds since the log's start.
        public let start: Double
        /// Seconds.
        public let length: Double
        /// What was measured, such as `total`; no comma, space or line end.
        public let tag: String
        public let histogram: LatencyHistogram

        package init(start: Double, length: Double, tag: String, histogram: LatencyHistogram) {
            self.start = start
            self.length = length
            self.tag = tag
            self.histogram = histogram
        }
    }

    /// What a log begins with, four lines.
    ///
    /// - Parameter startTime: UNIX seconds.
    public static func header(startTime: Double) -> String {
        "#[Histogram log format version 1.3]\n#[Values are nanoseconds; Interval_Max is in milliseconds]\n"
            + "#[StartTime: \(fixed(startTime)) (seconds since epoch)]\n"
            + "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    }

    /// An interval's line.
    public static func line(_ interval: Interval) -> String {
        let highest = Double(interval.histogram.summary.max) / 1e6
        return "Tag=\(interval.tag),\(fixed(interval.start)),\(fixed(interval.length)),\(fixed(highest)),"
            + HistogramCodec.encodeForLog(interval.histogram) + "\n"
    }

    /// Values in milliseconds, five lines each halving of what is left of the percentiles.
    package static func percentiles(_ histogram: LatencyHistogram) -> String {
        var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        let total = histogram.count
        for step in histogram.percentileSteps(ticksPerHalfDistance: 5) {
            let share = step.percentile / 100
            let inverse = share < 1 ? column(fixed(1 / (1 - share), places: 2), 14) : ""
            text +=
                "\(column(fixed(Double(step.value) / 1e6, places: 6), 12)) \(column(fixed(share, places: 12), 14)) "
                + "\(column(String(step.count), 10)) \(inverse)\n"
        }
        let summary = histogram.summary
        text += "#[Mean    = \(column(fixed(summary.mean / 1e6, places: 6), 12)), StdDeviation   = "
        text += "\(column(fixed(histogram.standardDeviation / 1e6, places: 6), 12))]\n"
        text +=
            "#[Max     = \(column(fixed(Double(summary.max) / 1e6, places: 6), 12)), Total count    = \(column(String(total), 12))]\n"
        text += "#[Buckets =           32, SubBuckets     =         2048]\n"
        return text
    }

    private static func column(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func fixed(_ value: Double, places: Int = 3) -> String {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        let scaled = UInt64((value * factor).rounded())
        guard places > 0 else { return String(scaled) }
        let rest = String(scaled % UInt64(factor))
        return "\(scaled / UInt64(factor)).\(String(repeating: "0", count: places - rest.count))\(rest)"
    }
}
