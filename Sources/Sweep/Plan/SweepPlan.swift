import Scenarios
import Settings

/// A sweep: what all its runs have in common, what is varied, and how it is searched. As `sweep.json` it lies beside the runs.
///
/// A point has one value of each axis. Points are numbered from 0, the last axis counting fastest.
struct SweepPlan: Sendable, Equatable, Codable {
    /// What this version writes.
    static let currentSchema = "pushload.sweep/1"
    /// Points of a grid that are all run.
    static let mostPoints = 10_000

    var schema = SweepPlan.currentSchema
    /// Of pushload.
    var version: String
    /// ISO 8601, UTC.
    var startedAt: String
    /// Its `seed` is also that of the order of the runs.
    var scenario: Scenario
    var axes: [SweepAxis]
    var search: SweepSearch

    /// - Throws: what is wrong with the whole: nothing varied, a setting varied twice, too many points, lengths that cannot
    ///   grow.
    init(
        version: String, startedAt: String, scenario: Scenario, axes: [SweepAxis], search: SweepSearch
    ) throws(SettingsError) {
        self.version = version
        self.startedAt = startedAt
        self.scenario = scenario
        self.axes = axes
        self.search = search
        try check()
    }

    private func check() throws(SettingsError) {
        guard !axes.isEmpty else {
            throw SettingsError("nothing is varied: give --vary KEY=VALUES, or a sweep file with vary:")
        }
        var names: [String: String] = [:]
        for axis in axes {
            for key in axis.keysVaried {
                if let other = names.updateValue(axis.name, forKey: key) {
                    let twice = other == axis.name ? "" : " (in \"\(other)\" and in \"\(axis.name)\")"
                    throw SettingsError("\"\(key)\" is varied twice\(twice)")
                }
            }
        }
        guard let count = gridCount else { throw SettingsError("the grid has too many points to be counted") }
        let run = min(count, search.method == .grid ? count : search.points ?? count)
        guard run <= Self.mostPoints else {
            throw SettingsError(
                "\(Units.grouped(UInt64(run))) points: expected at most \(Units.grouped(UInt64(Self.mostPoints))); "
                    + "give fewer values, or --search random --points N")
        }
        if search.method == .grid, search.points != nil {
            throw SettingsError("points are for search random or halving; a grid runs every point")
        }
        if search.method == .random, search.points == nil {
            throw SettingsError("search random needs a number of points (--points)")
        }
        guard search.method == .halving else { return }
        guard scenario.stages.isEmpty, scenario.trace == nil, names["stages"] == nil, names["trace"] == nil else {
            throw SettingsError(
                "search halving doubles the length of runs: give pushes or a duration, no stages or trace")
        }
        guard scenario.replay == nil, names["replay"] == nil else {
            throw SettingsError("search halving doubles the length of runs: give pushes or a duration, no replay")
        }
        for key in ["pushes", "duration"] where names[key] != nil {
            throw SettingsError("search halving doubles the length of runs: \"\(key)\" cannot be varied as well")
        }
    }

    /// Points of the whole grid; nil when there are more than 10¹⁵.
    var gridCount: Int? {
        var count = 1
        for axis in axes {
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: axis.values.count)
            guard !isTooLarge, product <= 1_000_000_000_000_000 else { return nil }
            count = product
        }
        return count
    }

    /// Which value of each axis a point has.
    func place(of point: Int) -> [Int] {
        var rest = point
        var place = [Int](repeating: 0, count: axes.count)
        for (index, axis) in axes.enumerated().reversed() {
            place[index] = rest % axis.values.count
            rest /= axis.values.count
        }
        return place
    }

    /// Its values as tables write them, one an axis.
    func labels(of point: Int) -> [String] {
        zip(axes, place(of: point)).map { $0.values[$1].label }
    }

    /// `streams 100, rtt 20ms`.
    func description(of point: Int) -> String {
        zip(axes, labels(of: point)).map { "\($0.name) \($1)" }.joined(separator: ", ")
    }

    /// What a run of a point is asked to do.
    ///
    /// - Parameter rung: of `halving`: how often the length was doubled.
    /// - Throws: what is wrong with a value.
    func scenario(of point: Int, rung: Int = 0) throws(SettingsError) -> Scenario {
        var scenario = scenario
        for (axis, index) in zip(axes, place(of: point)) {
            do throws(SettingsError) { try axis.values[index].apply(to: &scenario) } catch {
                throw SettingsError("\(axis.name): \(error)")
            }
        }
        for _ in 0..<rung {
            scenario.pushes = scenario.pushes.map { $0 &* 2 }
            scenario.duration = scenario.duration.map { $0 &* 2 }
        }
        return scenario
    }

    /// What differs from another plan, one sentence; nil when both are the same but for when they began.
    func difference(from other: SweepPlan) -> String? {
        if version != other.version { return "made by version \(other.version), this is \(version)" }
        if axes.map(\.name) != other.axes.map(\.name) {
            func names(_ plan: SweepPlan) -> String { plan.axes.map(\.name).joined(separator: ", ") }
            return "varies \(names(other)), not \(names(self))"
        }
        for (mine, theirs) in zip(axes, other.axes) where mine != theirs {
            return "other values of \(mine.name): \(theirs.values.map(\.label).joined(separator: ", "))"
        }
        if search != other.search { return "another search, number of points, repetitions or goal" }
        if scenario != other.scenario { return "other settings besides those that are varied" }
        return nil
    }
}
