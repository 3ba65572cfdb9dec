import Foundation
import Results
import Statistics

/// What a push costs by the settings of a run, from measured runs: medians of repeated runs, and between measured settings their
/// mean weighted by 1 / distance² (Shepard: A two-dimensional interpolation function for irregularly-spaced data, 1968) over the
/// logarithms of connections a worker and of streams. At a measured setting it is what was measured there.
struct CostModel: Sendable {
    private struct Setting: Hashable {
        let numbers: [Double]

        init(_ sample: CostSample) {
            numbers = [
                Double(sample.threads), Double(sample.connections), Double(sample.streams),
                Double(sample.roundTrip), sample.isPlain ? 1 : 0, sample.isSingle ? 1 : 0, sample.isSpread ? 1 : 0,
                sample.makesConnections ? 1 : 0,
                ((sample.pace ?? 0) / 100).rounded(), Double(sample.mockThreads ?? 0),
            ]
        }
    }

    private struct Point {
        /// ln of connections a worker, ln of streams, and whether the mock emulated a link.
        let place: (Double, Double, Double)
        /// CPU time a push of a busy worker, ns.
        let client: Double
        let server: Double?
    }

    /// How a server answers, and whether there is a link: over one, answers come when their pushes have long been sent, and wake the
    /// client once more. Those that are spread over time wake it each.
    private struct Paced: Hashable {
        let answers: CostSample.Answers
        let hasLink: Bool
        var isSpread = false
        /// The plan's link is the mock's, as the runs' is: what emulating it costs a busy client is in both.
        var isEmulated = false
    }

    /// Of a server that answers what came together, together; and of one that answers each push by itself.
    private let points: [CostSample.Answers: [Point]]
    private let paced: [Paced: PaceCost]
    /// How workers get in each other's way; its rate is not used. nil: `lawProblem` says why it was not measured.
    let law: ScalabilityLaw?
    let lawProblem: String
    /// What a push takes from being put on a stream to its answer besides the link, ns.
    let overhead: Double
    /// CPU time of a connection that is made anew, ns: of runs with many of them, else of the handshakes of all; nil when no run says so.
    let handshake: Double?
    /// The same for the client and the bundled mock one after the other, of the runs with the fewest connections: a handshake that is made
    /// alone takes longer than one of many.
    let handshakeAlone: Double?
    /// Bytes of a client without connections; of one more, and of one more with another stream; nil where connections were not varied.
    let memoryBase: Double
    private let memoryOfConnections: (connection: Double, stream: Double)?
    /// Connections a worker, and streams, that were measured.
    let connectionRange: ClosedRange<Double>
    let streamRange: ClosedRange<Double>
    let settings: Int
    /// Nothing is known of how the server answers but what it cost the client.
    let isOfOtherServers: Bool
    /// How the server of the runs mostly answered, of which they know everything.
    let answers: CostSample.Answers
    /// False: no run kept client or mock busy, and busy threads, whose batches are full, spend less on a push.
    let isOfBusyRuns: Bool

    /// A further connection, when it was not measured (docs/performance.md), bytes.
    static let usualMemoryPerConnection = 20_000.0

    /// nil when there is no sample with a cost.
    init?(_ samples: [CostSample]) {
        let samples = samples.filter { $0.clientCPU > 0 && $0.threads > 0 }
        guard !samples.isEmpty else { return nil }
        isOfOtherServers = !samples.contains(where: \.isBundledMock)
        answers = samples.allSatisfy(\.isSingle) ? .single : .batched
        let closed = samples.filter { $0.pace == nil && !$0.makesConnections }
        // Of a server whose way of answering is the usual one; where there is none of these, of what there is.
        let usual = closed.filter { !$0.isSingle }
        let busy = usual.filter(Self.isBusy)
        isOfBusyRuns = !busy.isEmpty || usual.isEmpty && closed.contains(where: Self.isBusy)
        let costly = [busy, usual, closed].first { !$0.isEmpty } ?? samples
        var points: [CostSample.Answers: [Point]] = [
            .batched: Self.points(costly, areBusy: isOfBusyRuns)
        ]
        let single = closed.filter(\.isSingle)
        let others = samples.filter { $0.pace != nil || $0.makesConnections || $0.isSingle }
        settings = Set((costly + others).map(Setting.init)).count
        if !single.isEmpty { points[.single] = Self.points(single, areBusy: single.contains(where: Self.isBusy)) }
        self.points = points
        var paced: [Paced: PaceCost] = [:]
        for answers in CostSample.Answers.allCases {
            let closedPoints = points[answers] ?? points[.batched]!
            for (hasLink, isEmulated) in [(false, false), (true, false), (true, true)] {
                let own = samples.filter {
                    $0.pace != nil && $0.isSingle == (answers == .single) && $0.hasLink == hasLink
                }
                for isSpread in [false, true] {
                    // Thin pushes have an answer each anyhow.
                    let alike = own.filter { $0.isSpread == isSpread || isSpread && !$0.isDense }
                    guard !isSpread || alike.contains(where: { $0.isSpread && $0.isDense }) else { continue }
                    let kind = Paced(answers: answers, hasLink: hasLink, isSpread: isSpread, isEmulated: isEmulated)
                    paced[kind] = PaceCost(alike) { sample in
                        Self.mean(
                            Self.place(
                                Double(sample.connections) / Double(sample.threads), Double(sample.streams),
                                hasLink: isEmulated), closedPoints.map { ($0.place, $0.client) })!
                    }
                }
            }
        }
        self.paced = paced
        let own = usual.isEmpty ? closed : usual
        (law, lawProblem) = Self.law(own)
        // Of runs whose workers had time, and a core when they needed one: what is waited for is then the way, not a thread.
        let idle = own.filter { $0.hasLink && $0.isPlain && $0.workerLoad < 0.5 && $0.coreLoad < 0.5 }
        // Of the setting that waits least: of one run the least is what chance made of it.
        let waits = Dictionary(grouping: idle, by: Setting.init).values.compactMap { runs in
            Quantile.median(runs.map { $0.service - Double($0.roundTrip) }.filter { $0 > 0 })
        }
        overhead = waits.min() ?? 0
        let batched = points[.batched]!
        let made = samples.filter(\.makesConnections).map { sample in
            let cost = Self.mean(Self.place(sample), batched.map { ($0.place, $0.client) })!
            return (sample.handshake ?? 0) + max(0, sample.clientCPU - cost) * (sample.pushesPerConnection ?? 0)
        }
        handshake = Quantile.median(made) ?? Quantile.median(samples.compactMap(\.handshake))
        let both = samples.filter { $0.handshake != nil && $0.mockHandshake != nil }
        let fewest = both.map(\.connections).min()
        handshakeAlone = Quantile.median(
            both.filter { $0.connections == fewest }.map { $0.handshake! + $0.mockHandshake! })
        (memoryBase, memoryOfConnections) = Self.memory(samples)
        let perWorker = costly.map { Double($0.connections) / Double($0.threads) }
        connectionRange = perWorker.min()!...perWorker.max()!
        let streams = costly.map { Double($0.streams) }
        streamRange = streams.min()!...streams.max()!
    }

    /// The runs of one place, those with the fewest workers: more of them get in each other's way, which the law says.
    ///
    /// - Parameter areBusy: else the cheapest run of a place is the nearest to what a push costs there.
    private static func points(_ samples: [CostSample], areBusy: Bool) -> [Point] {
        var groups: [[Double]: [CostSample]] = [:]
        for sample in samples {
            let place = place(sample)
            groups[[place.0, place.1, place.2], default: []].append(sample)
        }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { _, runs in
            let fewest = runs.map(\.threads).min()!
            let chosen = runs.filter { $0.threads == fewest }
            let costs = chosen.map(\.clientCPU)
            return Point(
                place: place(chosen[0]), client: areBusy ? Quantile.median(costs)! : costs.min()!,
                server: Quantile.median(chosen.compactMap(\.mockCPU)))
        }
    }

    /// Client and mock together use at least half a core a client thread.
    private static func isBusy(_ sample: CostSample) -> Bool {
        sample.perSecond * (sample.clientCPU + (sample.mockCPU ?? 0)) / 1e9 / Double(sample.threads) >= 0.5
    }

    private static func place(_ sample: CostSample) -> (Double, Double, Double) {
        place(
            Double(sample.connections) / Double(sample.threads), Double(sample.streams), hasLink: sample.hasLink)
    }

    private static func place(_ connections: Double, _ streams: Double, hasLink: Bool) -> (Double, Double, Double) {
        // An emulated link is as far away as a factor of 50.
        // What is asked for may be any number, and need not be finite.
        (log(min(connections, 1e300)), log(streams), hasLink ? 4 : 0)
    }

    /// Whether runs against a server that answers each push by itself say what that costs.
    var knowsSingle: Bool { points[.single] != nil }

    /// What pacing costs with such a server and link; where that was not measured, without a link, or as with the usual server. A server
    /// that answers one by one wakes the client no more often when its answers are spread.
    ///
    /// - Parameter isSpread: answers take times of their own.
    func pace(
        _ answers: CostSample.Answers, hasLink: Bool, isEmulated: Bool = false, isSpread: Bool = false
    ) -> PaceCost {
        paced[paceKind(answers, hasLink: hasLink, isEmulated: isEmulated, isSpread: isSpread)]!
    }

    /// Whether runs at a rate say what answers cost that take times of their own, and those that do not.
    func knowsPace(_ answers: CostSample.Answers, hasLink: Bool, isSpread: Bool) -> Bool {
        paceKind(answers, hasLink: hasLink, isSpread: isSpread).isSpread == isSpread
    }

    private func paceKind(
        _ answers: CostSample.Answers, hasLink: Bool, isEmulated: Bool = false, isSpread: Bool
    ) -> Paced {
        func kind(_ answers: CostSample.Answers, _ hasLink: Bool, _ isSpread: Bool) -> Paced {
            Paced(answers: answers, hasLink: hasLink, isSpread: isSpread, isEmulated: hasLink && isEmulated)
        }
        let spread = [kind(answers, hasLink, true), kind(answers, !hasLink, true)]
        let wanted = [kind(answers, hasLink, false), kind(answers, false, false), kind(.batched, hasLink, false)]
        return (isSpread ? spread + wanted : wanted + spread).first { paced[$0]?.isMeasured == true }
            ?? Paced(answers: .batched, hasLink: false)
    }

    /// Client CPU time a push of a busy worker alone, ns.
    ///
    /// - Parameter answers: of the server; where that was not measured, as the usual one.
    func client(
        connectionsPerWorker: Double, streams: Double, hasLink: Bool, answers: CostSample.Answers = .batched
    ) -> Double {
        let points = points[answers] ?? points[.batched]!
        return Self.mean(
            Self.place(connectionsPerWorker, streams, hasLink: hasLink), points.map { ($0.place, $0.client) })!
    }

    /// CPU time of the mock a push, ns; nil when it was not measured.
    func server(connectionsPerWorker: Double, streams: Double, hasLink: Bool) -> Double? {
        Self.mean(
            Self.place(connectionsPerWorker, streams, hasLink: hasLink),
            points[.batched]!.compactMap { point in point.server.map { (point.place, $0) } })
    }

    private static func mean(
        _ place: (Double, Double, Double), _ values: [((Double, Double, Double), Double)]
    ) -> Double? {
        var (sum, weights) = (0.0, 0.0)
        for (other, value) in values {
            let (x, y, z) = (place.0 - other.0, place.1 - other.1, place.2 - other.2)
            let distance = x * x + y * y + z * z
            if distance < 1e-12 { return value }
            sum += value / distance
            weights += 1 / distance
        }
        return weights > 0 ? sum / weights : nil
    }

    /// The law of runs of which nothing but the workers was the limit; else why there are none. How much CPU time a push takes shows
    /// no waiting, so that only rates count.
    private static func law(_ samples: [CostSample]) -> (ScalabilityLaw?, String) {
        guard Set(samples.map(\.threads)).count > 1 else {
            return (nil, "runs with one number of workers cannot show it")
        }
        let limited = samples.filter(\.showsWorkers)
        // Only numbers of workers that were measured at the same connections a worker and streams are comparable.
        let groups = Dictionary(grouping: limited) { [$0.connections / $0.threads, $0.streams] }
        func counts(_ runs: [CostSample]) -> Int { Set(runs.map(\.threads)).count }
        let best = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .max { (counts($0.value), $0.value.count) < (counts($1.value), $1.value.count) }?.value
        guard let best, counts(best) > 1,
            let law = ScalabilityLaw(fitting: best.map { (Double($0.threads), $0.perSecond) })
        else {
            return (
                nil,
                "no runs with several numbers of workers, all else alike, had a core for each thread and a server with time to spare"
            )
        }
        return (law, "")
    }

    /// Bytes of a connection with so many streams; nil where connections were not varied.
    func memoryPerConnection(streams: Double) -> Double? {
        memoryOfConnections.map { $0.connection + streams * $0.stream }
    }

    /// A client's memory by connections and by streams of all connections: least squares. Where streams were not varied, or do not show,
    /// by connections alone; where neither does, the smallest.
    private static func memory(_ samples: [CostSample]) -> (base: Double, connections: (Double, Double)?) {
        let known = samples.compactMap { sample in
            sample.clientMemory.map { (Double(sample.connections), Double(sample.streams), Double($0)) }
        }
        guard let smallest = known.map(\.2).min() else { return (0, nil) }
        // Of less than twice as many, chance would say too much.
        if known.map(\.1).max()! >= 2 * known.map(\.1).min()!,
            let fit = fit(known.map { ([1, $0.0, $0.0 * $0.1], $0.2) }), fit.allSatisfy({ $0 > 0 })
        {
            return (fit[0], (fit[1], fit[2]))
        }
        if let fit = fit(known.map { ([1, $0.0], $0.2) }), fit[1] > 0 { return (max(0, fit[0]), (fit[1], 0)) }
        return (smallest, nil)
    }

    /// Least squares; nil where the places do not tell all coefficients apart.
    private static func fit(_ points: [(x: [Double], y: Double)]) -> [Double]? {
        guard let first = points.first else { return nil }
        // Of the same size, so that what cannot be told apart shows.
        let scales = first.x.indices.map { place in max(1e-300, points.map { abs($0.x[place]) }.max()!) }
        let scaled = points.map { point in (x: zip(point.x, scales).map { $0 / $1 }, y: point.y) }
        let matrix = scales.indices.map { row in
            scales.indices.map { column in scaled.reduce(0) { $0 + $1.x[row] * $1.x[column] } }
        }
        let right = scales.indices.map { row in scaled.reduce(0) { $0 + $1.x[row] * $1.y } }
        return LinearSystem.solve(matrix, right, least: 1e-6).map { zip($0, scales).map { $0 / $1 } }
    }

    /// The runs as they might have come out as well.
    ///
    /// - Parameter samples: in the order in which they were made.
    static func drawn(from samples: [CostSample]) -> DrawnSamples {
        var places: [Setting: Int] = [:]
        for setting in samples.map(Setting.init) where places[setting] == nil { places[setting] = places.count }
        return DrawnSamples(samples, settings: samples.map { places[Setting($0)]! })
    }

    /// Whether any setting was run more than once.
    static func hasRepeats(_ samples: [CostSample]) -> Bool {
        Set(samples.map(Setting.init)).count < samples.count
    }
}
