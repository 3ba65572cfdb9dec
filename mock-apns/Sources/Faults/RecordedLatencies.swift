import Foundation
import Measurement
import Settings

/// Latencies as a histogram recorded them: an HdrHistogram percentile file (`.hgrm`), as `HistogramLogProcessor` and every
/// port's `outputPercentileDistribution` write it, or an interval log (`.hlog`) of pushload.
public struct RecordedLatencies: Sendable, Equatable {
    /// Ascending: up to which share of all the value reaches.
    private let steps: [Step]

    private struct Step: Sendable, Equatable {
        let share: Double
        let nanoseconds: UInt64
    }

    /// - Throws: what is wrong with the file, with the line; also when it is no regular file of at most 16 MiB, because
    ///   whoever sends a fault plan to the admin listener may name any.
    public init(file: String) throws(SettingsError) {
        let text = try FileContents.text(file, "latency file", limit: 16 << 20)
        self = try file.hasSuffix(".hlog") ? Self.parseLog(text, file: file) : Self.parse(text, file: file)
    }

    /// - Parameter unit: nanoseconds of one unit of the file's values: 1 ms unless the file says `unit: us` or `ns`.
    static func parse(_ text: String, file: String) throws(SettingsError) -> RecordedLatencies {
        var steps: [Step] = []
        var unit = 1e6
        for (number, line) in Self.lines(text) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "," })
            if line.hasPrefix("#"), line.contains("unit: ns") { unit = 1 }
            if line.hasPrefix("#"), line.contains("unit: us") { unit = 1e3 }
            guard let first = words.first, !line.hasPrefix("#"), !line.contains("Value") else { continue }
            guard let value = Double(first), words.count >= 3, let share = Double(words[1]), value >= 0, share <= 1,
                value * unit < 3.6e12
            else {
                throw SettingsError(
                    "\(file):\(number + 1): expected value, percentile (0 to 1) and count, as an .hgrm file has them")
            }
            if let last = steps.last, share < last.share || UInt64(value * unit) < last.nanoseconds {
                throw SettingsError("\(file):\(number + 1): percentiles and values must not fall")
            }
            steps.append(Step(share: share, nanoseconds: UInt64(value * unit)))
        }
        guard let last = steps.last, last.share > 0.999 else {
            throw SettingsError("\(file): no percentiles up to 1.0 in it; expected an .hgrm file")
        }
        return RecordedLatencies(steps: steps)
    }

    /// All intervals of a log together; its values are nanoseconds.
    static func parseLog(_ text: String, file: String) throws(SettingsError) -> RecordedLatencies {
        var all = LatencyHistogram()
        for (number, line) in Self.lines(text) {
            guard let encoded = line.split(separator: ",").last, encoded.hasPrefix("HISTF") else { continue }
            do throws(HistogramCodec.Failure) { all.add(try HistogramCodec.decodeFromLog(String(encoded))) } catch {
                throw SettingsError("\(file):\(number + 1): \(error)")
            }
        }
        guard all.count > 0 else { throw SettingsError("\(file): no histogram in it; expected an .hlog file") }
        var steps: [Step] = []
        var before: UInt64 = 0
        for counter in all.counters {
            before += counter.count
            steps.append(Step(share: Double(before) / Double(all.count), nanoseconds: counter.value))
        }
        return RecordedLatencies(steps: steps)
    }

    /// From 0; the end of a line may be one character, \r\n.
    private static func lines(_ text: String) -> some Sequence<(offset: Int, element: Substring)> {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
    }

    private init(steps: [Step]) { self.steps = steps }

    /// The value below which `share` of all lie.
    func value(at share: Double) -> UInt64 {
        var low = 0
        var high = steps.count - 1
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].share < share { low = middle + 1 } else { high = middle }
        }
        return steps[low].nanoseconds
    }
}
