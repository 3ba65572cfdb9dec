/// One run of a sweep.
struct SweepJob: Sendable, Hashable {
    /// The point's number.
    let point: Int
    /// From 1.
    let repetition: Int
    /// Of `halving`: how often the length was doubled; else 0.
    var rung = 0

    /// The folder of the run.
    var folder: String {
        func digits(_ value: Int, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(value).count)) + String(value)
        }
        return "point-\(digits(point, 4))\(rung > 0 ? "-length-\(1 << rung)" : "")-run-\(digits(repetition, 2))"
    }

    /// How long it takes, in runs of the first rung.
    var length: Double { Double(1 << rung) }
}
