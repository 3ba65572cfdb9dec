/// A page of metrics in Prometheus' text format (version 0.0.4): one family after the other, each with `# HELP` and `# TYPE`.
/// Names follow its conventions: a prefix for the program, base units (seconds, bytes), `_total` for counters alone.
package struct MetricsText {
    package enum Kind: String, Sendable {
        case counter, gauge
    }

    /// Pairs of name and value, in order.
    package typealias Labels = [(name: String, value: String)]

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// Upper bounds of the buckets of latencies, ns: 1, 1.5, 2, 3, 5 and 7 times each power of ten from 10 us to 70 s and 100 s,
    /// so that a quantile taken from them is at most a third off.
    package static let latencyBounds: [UInt64] =
        [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000].flatMap { power in
            [10, 15, 20, 30, 50, 70].map { power / 10 * $0 }
        } + [100_000_000_000]

    package private(set) var text = ""
    private let prefix: String

    /// - Parameter prefix: what every name begins with, such as `pushload_`.
    package init(prefix: String) { self.prefix = prefix }

    /// One family; nothing when it has no samples.
    package mutating func add(
        _ kind: Kind, _ name: String, _ help: String, _ samples: [(labels: Labels, value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        begin(name, kind.rawValue, help)
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    /// One family of one sample without labels.
    package mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
        add(kind, name, help, [([], value)])
    }

    /// A counter or gauge apart by one label, in the order of its values.
    package mutating func add(
        _ kind: Kind, _ name: String, _ help: String, by label: String, _ values: [String: UInt64]
    ) {
        add(kind, name, help, values.sorted { $0.key < $1.key }.map { ([(label, $0.key)], Double($0.value)) })
    }

    /// What one histogram holds.
    package struct Histogram: Sendable {
        /// Of each of `latencyBounds`, how many observations lie at or below it.
        package var below: [UInt64]
        package var count: UInt64
        /// Of all observations, seconds.
        package var sum: Double

        package init(below: [UInt64], count: UInt64, sum: Double) {
            self.below = below
            self.count = count
            self.sum = sum
        }
    }

    /// A classic histogram of latencies in seconds: cumulative `_bucket`s, `_sum` and `_count`.
    package mutating func add(_ name: String, _ help: String, _ samples: [(labels: Labels, histogram: Histogram)]) {
        begin(name, "histogram", help)
        for (labels, histogram) in samples {
            for (bound, count) in zip(Self.latencyBounds, histogram.below) {
                line(name + "_bucket", labels + [("le", Self.number(Double(bound) / 1e9))], Double(count))
            }
            line(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
            line(name + "_sum", labels, histogram.sum)
            line(name + "_count", labels, Double(histogram.count))
        }
    }

    private mutating func begin(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(prefix)\(name) \(Self.escaped(help, quotes: false))\n# TYPE \(prefix)\(name) \(kind)\n"
    }

    private mutating func line(_ name: String, _ labels: Labels, _ value: Double) {
        text += prefix + name
        if !labels.isEmpty {
            text +=
                "{\(labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }.joined(separator: ","))}"
        }
        text += " \(Self.number(value))\n"
    }

    /// Backslash and line end escaped, and in a label's value the quote.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whole numbers without a point, as others write them.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
