import Scenarios
import Settings

/// A schedule for people: its stages, and the rate over time as a picture of characters.
package enum ScheduleReport {
    package static func text(_ schedule: LoadSchedule, stages: [LoadStage], width: Int) -> String {
        var lines = [
            "\(Units.counted(schedule.count, "push")) in \(Units.duration(nanoseconds: Double(schedule.duration))), "
                + (stages.isEmpty ? "due as recorded" : "\(schedule.arrivals.description) arrivals")
        ]
        let starts = schedule.stageTimes
        let counts = pushes(schedule, stages: starts.count)
        var table = TextTable()
        table.add(["stage", "begins", "pushes", "what"])
        for (index, name) in schedule.stageNames.enumerated() {
            table.add([
                name, Units.duration(nanoseconds: (index < starts.count ? starts[index] : 0) * 1e9),
                Units.grouped(index < counts.count ? counts[index] : 0),
                index < stages.count ? describe(stages[index].shape) : "as recorded",
            ])
        }
        lines += [""] + table.lines(width: width)
        // What is due at once is no rate over time.
        if schedule.duration > 0 { lines += [""] + plot(schedule, stages: stages, width: width) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `seconds,pushes_per_second`: due pushes in each of `buckets` equal parts of the schedule.
    package static func csv(_ schedule: LoadSchedule, buckets: Int) -> String {
        let seconds = Double(max(schedule.duration, 1)) / 1e9 / Double(buckets)
        var text = "seconds,pushes_per_second\n"
        for (index, count) in due(schedule, buckets: buckets, without: []).counts.enumerated() {
            text +=
                "\(Units.fixed(Double(index) * seconds, places: 3)),\(Units.fixed(Double(count) / seconds, places: 1))\n"
        }
        return text
    }

    private static func describe(_ shape: LoadStage.Shape) -> String {
        func rate(_ value: Double) -> String { "\(Units.grouped(UInt64(value.rounded())))/s" }
        return switch shape {
        case .hold(let value): rate(value)
        case .ramp(let from, let to): "\(rate(from)) to \(rate(to))"
        case .sine(let mean, let amplitude, let period):
            "\(rate(mean)) ± \(rate(amplitude)), a wave every \(Units.duration(nanoseconds: Double(period)))"
        case .burst(let pushes): "\(Units.grouped(pushes)) at once"
        case .pause: "nothing"
        }
    }

    private static func pushes(_ schedule: LoadSchedule, stages: Int) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: max(stages, 1))
        var cursor = schedule.cursor()
        for index in 0..<schedule.count {
            _ = cursor.due(index)
            counts[min(cursor.stage, counts.count - 1)] += 1
        }
        return counts
    }

    /// Pushes due in each of equal parts of the schedule, and the parts in which stages begin that are left out.
    private static func due(
        _ schedule: LoadSchedule, buckets: Int, without left: Set<Int>
    ) -> (counts: [UInt64], marks: Set<Int>) {
        var marks: Set<Int> = []
        var counts = [UInt64](repeating: 0, count: buckets)
        var cursor = schedule.cursor()
        let size = Double(max(schedule.duration, 1)) / Double(buckets)
        for index in 0..<schedule.count {
            let place = min(buckets - 1, Int(Double(cursor.due(index)) / size))
            if left.contains(cursor.stage) { marks.insert(place) } else { counts[place] += 1 }
        }
        return (counts, marks)
    }

    /// What is due at once has no rate: bursts are marked below the axis.
    private static func plot(_ schedule: LoadSchedule, stages: [LoadStage], width: Int) -> [String] {
        let bursts = Set(
            stages.indices.filter { index in
                if case .burst = stages[index].shape { true } else { false }
            })
        var columns = max(20, min(width - 14, 100))
        let height = 8
        var (counts, marks) = due(schedule, buckets: columns, without: bursts)
        var seconds = Double(schedule.duration) / 1e9 / Double(columns)
        func label(_ rate: Double) -> String { Units.grouped(UInt64(min(rate.rounded(), 1e18))) + "/s" }
        // Rates of many digits leave the picture fewer columns.
        let margin = max(12, label(Double(counts.max() ?? 0) / seconds).count)
        if margin > 12 {
            columns = max(20, columns + 12 - margin)
            (counts, marks) = due(schedule, buckets: columns, without: bursts)
            seconds = Double(schedule.duration) / 1e9 / Double(columns)
        }
        // The rate meant; of recorded times, what they come to.
        let rates = counts.indices.map { column in
            stages.isEmpty
                ? Double(counts[column]) / seconds
                : [0.125, 0.375, 0.625, 0.875].reduce(0) {
                    $0 + schedule.rate(at: (Double(column) + $1) * seconds) / 4
                }
        }
        let highest = rates.max() ?? 0
        guard highest > 0 || !marks.isEmpty else { return [] }
        var lines: [String] = []
        var marked: [String] = []
        for row in (1...height).reversed() {
            let level = highest * Double(row) / Double(height)
            let label = highest > 0 && (row == height || row == height / 2) ? label(level) : ""
            let bar = rates.map { rate -> Character in
                let filled = highest > 0 ? rate / highest * Double(height) - Double(row - 1) : 0
                return filled >= 1 ? "█" : filled >= 0.5 ? "▄" : filled > 0.05 ? "▁" : " "
            }
            lines.append(String(repeating: " ", count: max(0, margin - label.count)) + label + " │" + String(bar))
        }
        if !marks.isEmpty {
            let row = (0..<columns).map { marks.contains($0) ? Character("▲") : " " }
            let text = String(row[...(row.lastIndex(of: "▲") ?? 0)])
            marked = [String(repeating: " ", count: margin + 2) + text + " due at once"]
        }
        let end = Units.duration(nanoseconds: Double(schedule.duration))
        lines.append(
            String(repeating: " ", count: margin + 1) + "└" + String(repeating: "─", count: columns))
        lines.append(
            String(repeating: " ", count: margin + 2) + "0"
                + String(repeating: " ", count: max(1, columns - 1 - end.count))
                + end)
        return lines + marked
    }
}
