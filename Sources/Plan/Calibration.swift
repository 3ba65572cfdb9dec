import Analysis
import Flags
import Foundation
import Harness
import Results
import Scenarios
import Settings

/// Short runs against the bundled mock from which the cost of a push can be known: few and many connections and streams, with and
/// without a link, as fast as they go and at rates, with a mock that answers one by one, with one that ends connections, and several workers where there
/// are cores for them and for the mock.
enum Calibration {
    static let rounds = 3
    /// Enough that starting, which counts as CPU time too, weighs little.
    private static let pushes: UInt64 = 1_500_000
    private static let second: UInt64 = 1_000_000_000

    private struct Setting {
        var threads = 1
        var mockThreads = 1
        var connections: Int
        var streams: Int
        /// Instead of `Calibration.pushes`.
        var pushes: UInt64?
        /// Over a link of this round-trip time, for so long.
        var rtt: String?
        var duration: UInt64?
        /// Pushes a second that are due; 0: a closed loop.
        var rate: UInt64 = 0
        var mockFlags: String?
    }

    /// With the fewest connections first: memory counts up to its peak.
    private static var settings: [Setting] {
        let single = "--answer-batching off"
        let spread = #"--latency="lognormal 10ms 0.3""#
        var settings = [
            Setting(connections: 1, streams: 100), Setting(connections: 1, streams: 1000),
            // Idle workers: what a push waits besides the link.
            Setting(connections: 1, streams: 100, rtt: "10ms", duration: second),
        ]
        // A mock takes twice what a client does: with two threads for one it has time to spare, and each has a core.
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if cores >= 6 {
            var threads = 1
            while threads <= min(16, cores / 3) {
                settings.append(
                    Setting(threads: threads, mockThreads: 2 * threads, connections: 4 * threads, streams: 1000))
                threads *= 2
            }
        }
        settings += [
            Setting(connections: 4, streams: 300), Setting(connections: 16, streams: 100),
            Setting(connections: 16, streams: 1000),
            Setting(connections: 200, streams: 100), Setting(connections: 200, streams: 500),
            Setting(connections: 32, streams: 1000, rtt: "10ms"),
            Setting(connections: 4, streams: 1000, pushes: 500_000, mockFlags: single),
            Setting(connections: 64, streams: 1000, pushes: 500_000, mockFlags: single),
            Setting(connections: 4, streams: 100, pushes: 300_000, mockFlags: "--goaway-after 500"),
        ]
        for rate in [10_000, 25_000, 50_000, 200_000, 500_000] as [UInt64] {
            settings.append(Setting(connections: 4, streams: 1000, duration: 3 * second / 2, rate: rate))
        }
        for rate in [10_000, 25_000, 50_000, 200_000] as [UInt64] {
            settings.append(
                Setting(connections: 4, streams: 1000, rtt: "10ms", duration: 3 * second / 2, rate: rate))
        }
        for rate in [50_000, 100_000, 200_000] as [UInt64] {
            settings.append(
                Setting(
                    connections: 8, streams: 1000, rtt: "10ms", duration: 3 * second / 2, rate: rate, mockFlags: spread)
            )
        }
        for rate in [10_000, 25_000, 50_000] as [UInt64] {
            settings.append(
                Setting(connections: 4, streams: 1000, duration: 3 * second / 2, rate: rate, mockFlags: single))
        }
        return settings
    }

    static func measure(_ base: Scenario) async throws -> CalibrationDocument {
        let settings = settings
        Console.diagnostic(
            "calibrating: \(settings.count) settings, \(rounds) rounds, against the bundled mock (about two minutes)\n"
        )
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        var samples: [CostSample] = []
        var mostOpen = 0
        /// The least that a closed loop of the same kind of mock has answered a second so far.
        var slowest: [String?: Double] = [:]
        var tooFast: Set<Int> = []
        for round in 1...rounds {
            for (place, setting) in settings.enumerated() where !tooFast.contains(place) {
                // A rate that the machine hardly keeps says what being late costs.
                guard Double(setting.rate) <= 0.6 * (slowest[setting.mockFlags] ?? .infinity) else { continue }
                let scenario = scenario(setting, base)
                guard let result = try await series.execute(try Run(scenario, identity: try scenario.identity())) else {
                    throw HarnessError("interrupted: there is no plan from a part of the runs", .failed)
                }
                let isTooFast = RateShortfall(result) != nil
                let problems = RunVerdict(result, thresholds: isTooFast ? anyRate : []).problems
                guard problems.isEmpty else {
                    throw HarnessError(
                        "calibration: a run with \(words(setting)) went wrong: "
                            + "\((problems + result.notes).joined(separator: "; "))", .failed)
                }
                if isTooFast {
                    tooFast.insert(place)
                    Console.diagnostic(
                        "round \(round) of \(rounds), \(words(setting)): \(Units.perSecond(result.throughput.sent)) sent, which is "
                            + "all that this machine does now: left out\n")
                    continue
                }
                // All runs share a process, whose peak is that of the largest run so far.
                let open = setting.connections * setting.streams
                let sample = CostSample(
                    result, roundTrip: PlanSamples.roundTrip(result),
                    keepsMemory: round == 1 && setting.rtt == nil && open >= mostOpen)
                mostOpen = max(mostOpen, open)
                samples.append(sample)
                if setting.rate == 0, setting.rtt == nil, setting.connections <= 4 {
                    slowest[setting.mockFlags] = min(slowest[setting.mockFlags] ?? .infinity, sample.perSecond)
                }
                Console.diagnostic(
                    "round \(round) of \(rounds), \(words(setting)): "
                        + "\(Units.fixed(sample.clientCPU, places: 0)) ns CPU a push, "
                        + "\(Units.perSecond(sample.perSecond)) answered\n")
            }
        }
        return CalibrationDocument(
            madeAt: ISO8601DateFormatter().string(from: Date()), samples: samples)
    }

    /// Of runs that do not keep their rate, which is no problem of theirs.
    private static let anyRate = try! Threshold.list(parsing: "sent_rate >= 0 && not_sent >= 0")

    private static func scenario(_ setting: Setting, _ base: Scenario) -> Scenario {
        var scenario = base
        scenario.name = "calibration"
        scenario.threads = setting.threads
        scenario.mockThreads = setting.mockThreads
        scenario.connections = setting.connections
        scenario.streams = setting.streams
        scenario.rtt = setting.rtt
        let pushes = setting.pushes ?? pushes
        scenario.pushes = setting.duration == nil ? pushes : nil
        scenario.duration = setting.duration
        scenario.warmupPushes = setting.duration == nil ? pushes / 5 : 0
        if setting.rate > 0 {
            scenario.rate = Double(setting.rate)
            scenario.warmup = second / 4
        }
        scenario.mockFlagText = setting.mockFlags
        return scenario
    }

    private static func words(_ setting: Setting) -> String {
        "-c \(setting.connections) -m \(setting.streams) -t \(setting.threads)"
            + (setting.rtt.map { " --rtt \($0)" } ?? "") + (setting.rate > 0 ? " --rate \(setting.rate)" : "")
            + (setting.mockFlags.map { " --mock-flags '\($0)'" } ?? "")
    }
}
