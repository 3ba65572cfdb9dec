import Foundation
import Settings

/// A run while it goes on, as charts over its time that fill a terminal: throughput against target, latency, what is in
/// flight, errors.
package struct LiveView: Sendable {
    private struct Sample {
        /// Seconds since the start, at its end.
        var end: Double
        var perSecond: Double
        var target: Double?
        var p50: Double?
        var p99: Double?
        var inFlight: Double
        var errorsPerSecond: Double

        /// With the next one; rates are means over the time, latencies the larger ones.
        ///
        /// - Parameter begin: of the first, seconds.
        func merged(_ next: Sample, begin: Double) -> Sample {
            let share = (end - begin) / max(next.end - begin, 1e-9)
            func mean(_ x: Double, _ y: Double) -> Double { x * share + y * (1 - share) }
            return Sample(
                end: next.end, perSecond: mean(perSecond, next.perSecond),
                target: target.flatMap { x in next.target.map { mean(x, $0) } },
                p50: [p50, next.p50].compactMap { $0 }.max(), p99: [p99, next.p99].compactMap { $0 }.max(),
                inFlight: mean(inFlight, next.inFlight),
                errorsPerSecond: mean(errorsPerSecond, next.errorsPerSecond))
        }
    }

    /// Kept; when there are more, neighbours are merged, and each is of twice as many calls from then on.
    private static let mostSamples = 512
    /// Shorter runs begin at the left and leave the rest free.
    private static let shortest = 10.0

    private let name: String
    private var samples: [Sample] = []
    /// Calls of `add` that are one sample, and those that the last one is of.
    private var callsPerSample = 1
    private var callsInLast = 0
    private var now = Progress(
        done: 0, planned: nil, perSecond: 0, inFlight: 0, p50: 0, p99: 0, errors: 0, secondsLeft: nil)

    package init(name: String) { self.name = name }

    /// Whether a terminal of so many columns and rows holds it.
    package static func fits(columns: Int, rows: Int) -> Bool { columns >= 40 && rows >= 16 }

    /// What has happened since the last call.
    package mutating func add(_ progress: Progress) {
        let seconds = progress.elapsed - (samples.last?.end ?? 0)
        guard seconds > 0 else { return }
        let errors = progress.errors - min(progress.errors, now.errors)
        let sample = Sample(
            end: progress.elapsed, perSecond: progress.perSecond, target: progress.target,
            p50: progress.p50 > 0 ? Double(progress.p50) : nil, p99: progress.p99 > 0 ? Double(progress.p99) : nil,
            inFlight: Double(progress.inFlight), errorsPerSecond: Double(errors) / seconds)
        if let last = samples.last, callsInLast < callsPerSample {
            samples[samples.count - 1] = last.merged(sample, begin: samples.dropLast().last?.end ?? 0)
            callsInLast += 1
        } else {
            samples.append(sample)
            callsInLast = 1
        }
        now = progress
        if samples.count == Self.mostSamples, callsInLast == callsPerSample { mergePairs() }
    }

    /// As many lines as there are rows but one, none wider than `picture`.
    ///
    /// - Parameter message: the last line; empty: none.
    package func lines(rows: Int, message: String = "", _ picture: TextPicture) -> [String] {
        let columns = picture.width - TextChart.margin
        // A title a chart; the head, the axis and the message.
        let height = min(12, max(2, (rows - 1 - 3) / 4 - 1))
        let slots = slots(columns)
        let rates = TextChart(
            bars: slots.map { Self.mean($0, \.perSecond) }, marks: slots.map { Self.most($0, \.target) },
            high: TextChart.edge(above: (samples.map(\.perSecond) + samples.compactMap(\.target)).max() ?? 0),
            mark: ("─", "-"), label: Self.short)
        let times = samples.compactMap(\.p50) + samples.compactMap(\.p99)
        let low = pow(10, floor(log10(max(1, (times.min() ?? 1e6) * 0.999))))
        let latency = TextChart(
            bars: slots.map { Self.most($0, \.p50) }, marks: slots.map { Self.most($0, \.p99) }, low: low,
            high: TextChart.edge(above: max(times.max() ?? 0, low * 10)), isLogarithmic: true,
            label: { Units.duration(nanoseconds: $0) })
        let open = TextChart(
            bars: slots.map { Self.mean($0, \.inFlight) },
            high: TextChart.edge(above: samples.map(\.inFlight).max() ?? 0), label: Self.short)
        let errors = TextChart(
            bars: slots.map { Self.most($0, \.errorsPerSecond) },
            high: TextChart.edge(above: samples.map(\.errorsPerSecond).max() ?? 0), label: Self.short)
        let (bar, dot, line) = picture.isUnicode ? ("█", "•", "─") : ("#", "o", "-")
        let target = now.target.map { ", \(line) target \(Units.perSecond($0.rounded()))" } ?? ""
        let unknown = "nothing answered"
        let p50 = now.p50 > 0 ? Units.duration(nanoseconds: Double(now.p50)) : unknown
        let p99 = now.p99 > 0 ? ", \(dot) p99 \(Units.duration(nanoseconds: Double(now.p99)))" : ""
        let charts: [(title: String, chart: TextChart)] = [
            ("\(bar) throughput \(Units.perSecond(now.perSecond.rounded()))\(target)", rates),
            ("latency, log scale: \(bar) p50 \(p50)\(p99)", latency),
            ("\(bar) in flight \(Units.counted(max(0, now.inFlight), "push"))", open),
            ("\(bar) errors a second; \(Units.grouped(now.errors)) in all", errors),
        ]
        var lines = [head(picture.width)]
        for (title, chart) in charts {
            lines.append(String(title.prefix(picture.width)))
            lines += chart.lines(height: height, picture)
        }
        let end = "\(Units.fixed(max(samples.last?.end ?? 0, Self.shortest), places: 0)) s"
        lines.append(
            String(repeating: " ", count: TextChart.margin) + "0 s"
                + String(repeating: " ", count: max(1, columns - 3 - end.count)) + end)
        lines.append(String((now.outage.isEmpty ? message : now.outage).prefix(picture.width)))
        return lines
    }

    /// `steady  12.3 s  41% of 1,000,000  ETA 18s`.
    private func head(_ width: Int) -> String {
        var parts = ["\(Units.fixed(now.elapsed, places: 1)) s", now.share ?? "\(Units.counted(now.done, "push"))"]
        if let left = now.left { parts.append(left) }
        let rest = parts.joined(separator: "  ")
        return String("\(name.prefix(max(0, width - rest.count - 2)))  \(rest)".prefix(width))
    }

    /// The samples of each column; one that lasts longer than a column is in several.
    private func slots(_ columns: Int) -> [ArraySlice<Sample>] {
        let span = max(samples.last?.end ?? 0, Self.shortest)
        var first = 0
        return (0..<columns).map { column in
            let (from, to) = (span * Double(column) / Double(columns), span * Double(column + 1) / Double(columns))
            while first < samples.count, samples[first].end <= from { first += 1 }
            var last = first
            // Those that begin before the column ends.
            while last < samples.count, (last == 0 ? 0 : samples[last - 1].end) < to { last += 1 }
            return samples[first..<last]
        }
    }

    private static func mean(_ part: ArraySlice<Sample>, _ value: (Sample) -> Double) -> Double? {
        part.isEmpty ? nil : part.map(value).reduce(0, +) / Double(part.count)
    }

    private static func most(_ part: ArraySlice<Sample>, _ value: (Sample) -> Double?) -> Double? {
        part.compactMap(value).max()
    }

    /// Three digits: `1.13M`, `412k`, `85`.
    private static func short(_ value: Double) -> String {
        func three(_ value: Double) -> String {
            let text = Units.fixed(value, places: value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)
            guard text.contains(".") else { return text }
            let cut = text.reversed().drop { $0 == "0" }
            return String((cut.first == "." ? cut.dropFirst() : cut).reversed())
        }
        switch value {
        case 999_500...: return three(value / 1e6) + "M"
        case 999.5...: return three(value / 1e3) + "k"
        default: return three(value)
        }
    }

    private mutating func mergePairs() {
        samples = stride(from: 0, to: samples.count, by: 2).map { index in
            samples[index].merged(samples[index + 1], begin: index > 0 ? samples[index - 1].end : 0)
        }
        callsPerSample *= 2
        callsInLast = callsPerSample
    }
}
