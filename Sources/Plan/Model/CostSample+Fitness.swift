import Results
import Settings

extension CostSample {
    /// Fewer accepted pushes, or less CPU time of the client (ns), are mostly handshakes and cold caches.
    static let fewestPushes: UInt64 = 10_000
    static let leastCPU = 50e6
    /// Of the pushes that were begun, the share that must have been accepted: others cost something else.
    static let leastAccepted = 0.99

    /// Nothing but the workers set the rate: no link, a core for each thread, and a bundled mock with a tenth of its time to spare. Of
    /// other servers that is not known, unless the workers were busy all the time: what they wait for each other is then at
    /// most a twentieth.
    var showsWorkers: Bool {
        guard pace == nil, roundTrip == 0, isPlain, let cores, perSecond > 0 else { return false }
        guard isBundledMock else { return threads <= cores && workerLoad >= 0.95 }
        guard let mockThreads, let mockCPU, threads + mockThreads <= cores else { return false }
        return perSecond * mockCPU / 1e9 / Double(max(1, mockThreads)) <= 0.9
    }

    /// Share of the machine's cores that client and mock used, as far as is known.
    var coreLoad: Double { perSecond * (clientCPU + (mockCPU ?? 0)) / 1e9 / Double(max(1, cores ?? 1_000_000)) }

    /// No flag of the mock changes how long a push takes, but that each is answered by itself.
    var isPlain: Bool { !isShaped || isSingle && !isSpread }

    /// At a rate at which the client gathers pushes.
    var isDense: Bool { (pace ?? 0) / Double(threads) >= PaceCost.denseFrom }

    /// Connections were made anew all the time, as a server that sends GOAWAY wants it.
    var makesConnections: Bool { pushesPerConnection != nil }

    /// Why a run cannot say what a push costs, one sentence; nil when it can.
    static func problem(_ result: ResultDocument) -> String? {
        let pushes = result.pushes
        let begun = Double(pushes.accepted) + Double(pushes.rejected) + Double(pushes.failed)
        func refusal(_ what: String, _ least: String) -> String { "\(what); a cost takes at least \(least)" }
        guard Double(pushes.accepted) >= leastAccepted * begun else {
            return refusal(
                "\(Units.grouped(pushes.accepted)) of \(Units.grouped(UInt64(exactly: begun) ?? .max)) pushes were accepted",
                "\(Units.fixed(leastAccepted * 100, places: 0)) %")
        }
        guard pushes.accepted >= fewestPushes else {
            return refusal("\(Units.grouped(pushes.accepted)) pushes were accepted", Units.grouped(fewestPushes))
        }
        if let workers = result.workers, workers.count > 1 {
            return "it is of \(workers.count) workers; a cost takes a run of one"
        }
        guard Double(result.retries.attempts) <= (1 - leastAccepted) * begun else {
            return refusal(
                "\(Units.grouped(result.retries.attempts)) attempts were sent again",
                "\(Units.fixed(leastAccepted * 100, places: 0)) % of pushes that are sent once")
        }
        if result.hasSchedule {
            return
                "its rate was given by stages, a trace or a recording; what a push costs at a rate takes one that is held (--rate)"
        }
        guard begun + Double(pushes.notSent) <= Double(pushes.planned) else {
            return
                "its books are wrong: \(Units.grouped(pushes.planned)) pushes were planned, and more are accounted for"
        }
        let all = result.cost.clientCPU * (Double(pushes.accepted) + Double(pushes.rejected))
        let cpu = all - Double(result.cost.clientHandshakes ?? 0)
        guard cpu >= leastCPU else {
            return refusal(
                "the client's CPU time\(all == cpu ? "" : " but for handshakes") was \(Units.duration(nanoseconds: max(0, cpu)))",
                Units.duration(nanoseconds: leastCPU))
        }
        return nil
    }
}
