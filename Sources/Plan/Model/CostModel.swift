import Foundation
import Results
import Statistics

/// What a push costs by the settings of a run, from measured runs: medians of repeated runs, and between measured settings their
/// mean weighted by 1 / distance² (Shepard: A two-dimensional interpolation function for irregularly-spaced data, 1968) over the
/// logarithms of connections a worker and of streams. At a measured setting it is what was measured there.
struct CostModel: Sendable {
    private struct Setting: Hashable {
        let threads: Int
        let connections: Int
        let streams: Int
        let hasLink: Bool
    }

    private struct Point {
        /// ln of connections a worker, ln of streams, and whether the mock emulated a link.
        let place: (Double, Double, Double)
        /// As one worker alone would have it, ns.
        let client: Double
        let server: Double?
    }

    private let points: [Point]
    /// How workers get in each other's way; its rate is not used.
    let law: ScalabilityLaw
    /// What a push takes from being put on a stream to its answer besides the link, ns.
    let overhead: Double
    /// Bytes of a client without connections, and of one more; nil where connections were not varied.
    let memoryBase: Double
    let memoryPerConnection: Double?
    /// Connections a worker, and streams, that were measured.
    let connectionRange: ClosedRange<Double>
    let streamRange: ClosedRange<Double>
    /// Most client threads of a run.
    let mostThreads: Int
    let settings: Int
    /// False: no run kept client or mock busy, and busy threads, whose batches are full, spend less on a push.
    let isOfBusyRuns: Bool

    /// A further connection, when it was not measured (docs/performance.md), bytes.
    static let usualMemoryPerConnection = 55_000.0

    /// nil when there is no sample with a cost.
    init?(_ samples: [CostSample]) {
        let samples = samples.filter { $0.clientCPU > 0 }
        guard !samples.isEmpty else { return nil }
        let busy = samples.filter(Self.isBusy)
        isOfBusyRuns = !busy.isEmpty
        let costly = busy.isEmpty ? samples : busy
        let law = Self.law(costly)
        var groups: [Setting: [CostSample]] = [:]
        for sample in costly {
            let setting = Setting(
                threads: sample.threads, connections: sample.connections, streams: sample.streams,
                hasLink: sample.roundTrip > 0)
            groups[setting, default: []].append(sample)
        }
        let sorted = groups.sorted { Self.isBefore($0.key, $1.key) }
        points = sorted.map { setting, runs in
            Point(
                place: Self.place(
                    Double(setting.connections) / Double(setting.threads), Double(setting.streams),
                    hasLink: setting.hasLink),
                client: Quantile.median(runs.map(\.clientCPU))! * law.efficiency(of: Double(setting.threads)),
                server: Quantile.median(runs.compactMap(\.mockCPU)))
        }
        self.law = law
        settings = groups.count
        // Of runs whose workers had time: what is waited for is then the way, not a thread.
        let idle = samples.filter { $0.roundTrip > 0 && !$0.isShaped && $0.workerLoad < 0.5 }
        let waits = idle.map { $0.service - Double($0.roundTrip) }.filter { $0 > 0 }
        overhead = waits.min() ?? 0
        let memory = samples.compactMap { sample in
            sample.clientMemory.map { (Double(sample.connections), Double($0)) }
        }
        (memoryBase, memoryPerConnection) = Self.line(memory)
        mostThreads = costly.map(\.threads).max()!
        let perWorker = costly.map { Double($0.connections) / Double($0.threads) }
        connectionRange = perWorker.min()!...perWorker.max()!
        let streams = costly.map { Double($0.streams) }
        streamRange = streams.min()!...streams.max()!
    }

    /// Client and mock together use at least half a core a client thread.
    private static func isBusy(_ sample: CostSample) -> Bool {
        sample.perSecond * (sample.clientCPU + (sample.mockCPU ?? 0)) / 1e9 / Double(sample.threads) >= 0.5
    }

    private static func isBefore(_ a: Setting, _ b: Setting) -> Bool {
        (a.threads, a.connections, a.streams, a.hasLink ? 1 : 0) < (
            b.threads, b.connections, b.streams, b.hasLink ? 1 : 0
        )
    }

    private static func place(_ connections: Double, _ streams: Double, hasLink: Bool) -> (Double, Double, Double) {
        // An emulated link is as far away as a factor of 50.
        (log(connections), log(streams), hasLink ? 4 : 0)
    }

    /// Client CPU time a push of one worker alone, ns.
    func client(connectionsPerWorker: Double, streams: Double, hasLink: Bool) -> Double {
        mean(Self.place(connectionsPerWorker, streams, hasLink: hasLink), points.map { ($0.place, $0.client) })!
    }

    /// CPU time of the mock a push, ns; nil when it was not measured.
    func server(connectionsPerWorker: Double, streams: Double, hasLink: Bool) -> Double? {
        mean(
            Self.place(connectionsPerWorker, streams, hasLink: hasLink),
            points.compactMap { point in point.server.map { (point.place, $0) } })
    }

    private func mean(
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

    /// From what one worker could do alone to what several do: rates, where the workers were what limited them and the server
    /// was elsewhere; else, because client and mock share a machine, workers over CPU time a push.
    private static func law(_ samples: [CostSample]) -> ScalabilityLaw {
        let rates = samples.map { sample -> (workers: Double, rate: Double) in
            let isLimit = !sample.isBundledMock && sample.workerLoad >= 0.95
            let workers = Double(sample.threads)
            return (workers, isLimit ? sample.perSecond : workers / sample.clientCPU * 1e9)
        }
        guard Set(rates.map(\.workers)).count > 1 else { return ScalabilityLaw(rate: 1) }
        // Only numbers of workers that were measured at the same connections a worker and streams are comparable.
        func key(_ sample: CostSample) -> [Int] {
            [sample.connections / sample.threads, sample.streams, sample.roundTrip > 0 ? 1 : 0]
        }
        let threads = Dictionary(grouping: samples, by: key).mapValues { Set($0.map(\.threads)).count }
        let most = threads.values.max() ?? 1
        let chosen = zip(samples, rates).filter { threads[key($0.0)] == most }.map(\.1)
        return ScalabilityLaw(fitting: most > 1 ? chosen : rates) ?? ScalabilityLaw(rate: 1)
    }

    /// Least squares; of one place, or a line that falls, the smallest value and no slope.
    private static func line(_ points: [(x: Double, y: Double)]) -> (base: Double, slope: Double?) {
        guard let smallest = points.map(\.y).min() else { return (0, nil) }
        let count = Double(points.count)
        let (x, y) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
        let spread = points.reduce(0) { $0 + ($1.x - x) * ($1.x - x) }
        guard spread > 0 else { return (smallest, nil) }
        let slope = points.reduce(0) { $0 + ($1.x - x) * ($1.y - y) } / spread
        return slope > 0 ? (max(0, y - slope * x), slope) : (smallest, nil)
    }

    /// The samples drawn anew with replacement, each setting by itself.
    static func resampled(_ samples: [CostSample], _ random: inout SplitMix) -> [CostSample] {
        let groups = Dictionary(grouping: samples) {
            Setting(threads: $0.threads, connections: $0.connections, streams: $0.streams, hasLink: $0.roundTrip > 0)
        }
        return groups.sorted { isBefore($0.key, $1.key) }.flatMap { _, runs -> [CostSample] in
            // Runs of one process have one peak of memory: those without are no draw of it.
            let memories = runs.compactMap(\.clientMemory)
            return runs.map { run in
                var drawn = runs[random.below(runs.count)]
                drawn.clientMemory = run.clientMemory == nil ? nil : memories[random.below(memories.count)]
                return drawn
            }
        }
    }

    /// Whether any setting was run more than once.
    static func hasRepeats(_ samples: [CostSample]) -> Bool {
        Set(samples.map { [$0.threads, $0.connections, $0.streams, $0.roundTrip > 0 ? 1 : 0] }).count < samples.count
    }
}
