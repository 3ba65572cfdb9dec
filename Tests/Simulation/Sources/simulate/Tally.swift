/// What some seeds came to; as text, from one process to another.
struct Tally {
    var seeds = 0
    var failures = 0
    var steps = 0
    var calls = 0
    /// Runs in which each kind of event happened.
    var runs: [Happening: Int] = [:]

    mutating func add(_ other: Tally) {
        seeds += other.seeds
        failures += other.failures
        steps += other.steps
        calls += other.calls
        runs.merge(other.runs, uniquingKeysWith: +)
    }

    private static let mark = "tally"

    var text: String {
        let counts = [seeds, failures, steps, calls] + Happening.allCases.map { runs[$0] ?? 0 }
        return "\(Self.mark) " + counts.map(String.init).joined(separator: " ")
    }

    init() {}

    /// - Returns: nil when it is another text.
    init?(_ text: String) {
        guard text.hasPrefix(Self.mark) else { return nil }
        let counts = text.split(separator: " ").dropFirst().compactMap { Int($0) }
        guard counts.count == 4 + Happening.allCases.count else { return nil }
        (seeds, failures, steps, calls) = (counts[0], counts[1], counts[2], counts[3])
        for (happening, count) in zip(Happening.allCases, counts[4...]) where count > 0 { runs[happening] = count }
    }
}
