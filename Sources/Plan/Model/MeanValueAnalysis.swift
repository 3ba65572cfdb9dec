/// A closed network with a delay and queues, exactly: mean value analysis (Reiser and Lavenberg: Mean-Value Analysis of Closed
/// Multichain Queuing Networks, JACM 27, 1980), for service times that are exponentially distributed. Near the knee, where the
/// bounds meet, it says how far below them the rate lies.
enum MeanValueAnalysis {
    /// - Parameters:
    ///   - population: customers that go round, at least 1.
    ///   - delay: what each spends in a round without queueing, ns.
    ///   - demands: what each needs of every station in a round on average, ns; stations that are alike are given each by itself.
    /// - Returns: rounds a second of all customers; nil when a round takes no time.
    static func throughput(population: Int, delay: Double, demands: [Double]) -> Double? {
        // Stations that are alike have queues that are alike: one of each kind is kept.
        let kinds = Dictionary(grouping: demands.filter { $0 > 0 }) { $0 }.map {
            (demand: $0.key, stations: Double($0.value.count))
        }
        .sorted { $0.demand < $1.demand }
        guard population > 0, delay > 0 || !kinds.isEmpty else { return nil }
        var queues = [Double](repeating: 0, count: kinds.count)
        var rate = 0.0
        for customers in 1...population {
            // A customer that comes finds the queue that one customer fewer would have.
            var round = delay
            for (place, kind) in kinds.enumerated() { round += kind.stations * kind.demand * (1 + queues[place]) }
            rate = Double(customers) / round
            for (place, kind) in kinds.enumerated() { queues[place] = rate * kind.demand * (1 + queues[place]) }
        }
        return rate * 1e9
    }
}
