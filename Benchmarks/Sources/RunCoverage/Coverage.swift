import Foundation
import Measurement
import Statistics

/// How often the 95 % intervals of a run's percentiles hold the true ones: runs are drawn from latencies whose percentiles are known,
/// go through the recorder, the blocks and the figures that runs have, and are counted. Prints the table of docs/judging.md.
///
///     coverage [DRAWS]
@main struct Coverage {
    /// Pushes a second of a drawn run, and pushes between two looks of its watcher.
    private static let rate: UInt64 = 20_000
    private static let look: UInt64 = 50_000_000
    /// Of a run of a given length, seconds.
    private static let seconds = 10
    private static let figures: [(name: String, percentile: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9),
    ]

    private struct Tally {
        var held = 0
        var intervals = 0
        var seconds = 0.0

        /// `94.8 %`, and how many runs had no interval; only that, where too few had one to say more.
        func text(of draws: Int) -> String {
            let without = String(format: "none in %.1f %%", 100 * Double(draws - intervals) / Double(draws))
            guard intervals >= 100 else { return without }
            let share = String(format: "%.1f %%", 100 * Double(held) / Double(intervals))
            return draws == intervals ? share : "\(share) (\(without))"
        }
    }

    static func main() {
        let draws = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000
        print("| latencies | " + figures.map(\.name).joined(separator: " | ") + " | `--until \"p99 +- 5 %\"` |")
        print("| --- |" + figures.map { _ in " ---: |" }.joined() + " ---: |")
        for noise in Noise.allCases {
            var tallies = [Tally](repeating: Tally(), count: figures.count)
            var ended = Tally()
            for draw in 0..<draws {
                whole(noise, seed: UInt64(draw), &tallies)
                // What wanders so slowly would take minutes.
                if noise != .slow { untilKnown(noise, seed: UInt64(draw), &ended) }
            }
            let cells = tallies.map { $0.text(of: draws) } + (noise == .slow ? ["-"] : [ended.text(of: draws)])
            let length = ended.intervals > 0 ? String(format: ", %.1f s", ended.seconds / Double(ended.intervals)) : ""
            print("| \(noise.rawValue) | " + cells.joined(separator: " | ") + length + " |")
        }
    }

    /// One look after the other.
    private static func play(
        _ noise: Noise, seed: UInt64, looks: Int, _ look: (_ blocks: LatencyBlocks, _ time: UInt64) -> Bool
    ) -> LatencyBlocks {
        var source = Noise.Source(noise, seed: seed)
        let recorder = Recorder(causes: 1)
        var (blocks, totals) = (LatencyBlocks(), TotalLatencies())
        var time: UInt64 = 0
        for _ in 0..<looks {
            for _ in 0..<(rate * Self.look / 1_000_000_000) {
                recorder.accepted(total: source.next(), isMeasured: true)
            }
            time += Self.look
            recorder.handOver(&totals)
            blocks.add(totals)
            totals.removeAll()
            blocks.look(at: time, begin: 0)
            if look(blocks, time) { break }
        }
        blocks.finish(at: time, begin: 0, end: time)
        return blocks
    }

    /// A run of a given length.
    private static func whole(_ noise: Noise, seed: UInt64, _ tallies: inout [Tally]) {
        let looks = seconds * Int(1_000_000_000 / look)
        let blocks = play(noise, seed: 2 * seed + 1, looks: looks) { _, _ in false }.blocks
        for (place, figure) in figures.enumerated() { count(figure.percentile, blocks, noise, &tallies[place]) }
    }

    /// A run that ends when p99 is known to 5 %, at the latest after a minute.
    private static func untilKnown(_ noise: Noise, seed: UInt64, _ tally: inout Tally) {
        var goal = PrecisionGoal(99, within: 0.05)
        var isReached = false
        var last: UInt64 = 0
        let blocks = play(noise, seed: 2 * seed + 2, looks: 1200) { blocks, time in
            last = time
            isReached = goal.isReached(blocks.blocks, at: time)
            return isReached
        }.blocks
        guard isReached else { return }
        let before = tally.intervals
        count(99, blocks, noise, &tally, isSought: true)
        if tally.intervals > before { tally.seconds += Double(last) / 1e9 }
    }

    private static func count(
        _ percentile: Double, _ blocks: [LatencyBlock], _ noise: Noise, _ tally: inout Tally, isSought: Bool = false
    ) {
        guard let figure = BlockFigure(percentile, blocks, isSought: isSought), let low = figure.low,
            let high = figure.high
        else { return }
        let truth = noise.percentile(percentile / 100)
        tally.intervals += 1
        if Double(low) <= truth, truth <= Double(high) { tally.held += 1 }
    }
}
