extension LoadOutcome {
    /// How workers waited, as shares of the run's time, which is known and not 0.
    mutating func addWaits(of workers: [RunWorker]) {
        func share(_ time: UInt64) -> Double { min(1, Double(time) / 1e9 / run.durationSeconds) }
        generator.runQueueDelay = workers.compactMap(\.runQueueDelay).max()
        for worker in workers { holdUps.add(worker.engine.holdUps) }
        generator.spin = workers.reduce(0) { $0 + share($1.spinTime) } / Double(max(1, workers.count))
    }
}
