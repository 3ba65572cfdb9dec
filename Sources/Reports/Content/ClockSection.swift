import Results
import Settings

/// How the clocks of workers and mocks agree.
enum ClockSection {
    static let header = ["clock of", "beside", "ahead by", "give or take", "pushes", "drift"]
    private static let mostShown = 8

    static func make(_ run: ReportedRun) -> ReportSection? {
        guard let clocks = run.result.clocks, !clocks.isEmpty else { return nil }
        var table = ReportTable(header)
        for row in rows(clocks) { table.add(row) }
        return ReportSection(
            title: "Clocks", blocks: [.table(table)] + (leftOut(clocks).map { [.text($0 + ".")] } ?? []))
    }

    /// Those furthest apart first.
    static func rows(_ clocks: [ResultDocument.Clock]) -> [[String]] {
        clocks.sorted { ($0.offset.magnitude, $1.worker, $1.mock) > ($1.offset.magnitude, $0.worker, $0.mock) }
            .prefix(mostShown).map { clock in
                let size = Units.duration(nanoseconds: Double(clock.offset.magnitude))
                return [
                    clock.mock, "worker \(clock.worker)", clock.offset < 0 ? "-\(size)" : size,
                    Units.duration(nanoseconds: Double(clock.bound)),
                    Units.grouped(UInt64(clamping: clock.samples)),
                    clock.drift.map { Units.fixed($0, places: 2) + " ppm" } ?? "-",
                ]
            }
    }

    /// nil: all are shown.
    static func leftOut(_ clocks: [ResultDocument.Clock]) -> String? {
        clocks.count > mostShown
            ? "and \(Units.counted(clocks.count - mostShown, "pair")) that are less apart, in the result" : nil
    }
}
