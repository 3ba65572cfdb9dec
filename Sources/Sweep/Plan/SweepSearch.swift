import Settings

/// Which points of a sweep are run, how often, and what makes one the best.
struct SweepSearch: Sendable, Equatable, Codable {
    enum Method: String, Sendable, Codable, CaseIterable {
        /// Every point.
        case grid
        /// So many points drawn from the grid.
        case random
        /// All points for a short time, the better half for twice as long, and so on.
        case halving
    }

    enum Goal: String, Sendable, Codable, CaseIterable {
        /// Pushes a second, the more the better.
        case rate
        /// Total latency, the less the better.
        case p50, p99
        /// The client's CPU time a push, the less the better.
        case cpu

        var isHigherBetter: Bool { self == .rate }
    }

    var method = Method.grid
    /// How many points `random` draws, or `halving` begins with; nil: all there are.
    var points: Int?
    /// Runs of each point.
    var repeats = 3
    var goal = Goal.rate

    init() {}

    static let mostRepeats = 100

    /// Sets what is not nil.
    ///
    /// - Throws: what is wrong, and what would be right.
    mutating func apply(
        method: String? = nil, points: String? = nil, repeats: String? = nil, goal: String? = nil
    ) throws(SettingsError) {
        if let method { self.method = try Self.choice(method, "search") }
        if let goal { self.goal = try Self.choice(goal, "goal") }
        if let points { self.points = try Self.count(points, "points", most: SweepPlan.mostPoints) }
        if let repeats { self.repeats = try Self.count(repeats, "repeat", most: Self.mostRepeats) }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String
    ) throws(SettingsError) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            throw SettingsError(
                "\(name) \"\(text)\"" + NearestName.hint(text, among: Choice.allCases.map(\.rawValue)))
        }
        return choice
    }

    private static func count(_ text: String, _ name: String, most: Int) throws(SettingsError) -> Int {
        guard let count = (try? Units.count(text)).flatMap(Int.init(exactly:)), (1...most).contains(count) else {
            throw SettingsError("\(name) \"\(text)\": expected a whole number from 1 to \(most)")
        }
        return count
    }
}
