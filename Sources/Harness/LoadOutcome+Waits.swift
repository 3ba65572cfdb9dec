extension LoadOutcome {
    /// How workers waited, as shares of the run's time, which is known and not 0, and for whom.
    mutating func addWaits(of workers: [RunWorker]) {
        func share(_ time: UInt64) -> Double { min(1, Double(time) / 1e9 / duration) }
        runQueueDelay = workers.compactMap(\.runQueueDelay).max()
        let looks = workers.reduce((limited: UInt64(0), all: UInt64(0))) {
            ($0.limited + $1.engine.windowLooks.limited, $0.all + $1.engine.windowLooks.all)
        }
        windowLimited = looks.all > 0 ? Double(looks.limited) / Double(looks.all) : nil
        spin = workers.reduce(0) { $0 + share($1.spinTime) } / Double(max(1, workers.count))
    }
}
