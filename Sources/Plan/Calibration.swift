import Analysis
import Flags
import Foundation
import Harness
import Results
import Scenarios
import Settings

/// Short runs against the bundled mock from which the cost of a push can be known: few and many connections and streams, one
/// worker and several, with and without a link.
enum Calibration {
    static let rounds = 3
    /// Enough that the start of the mock and the handshakes of 200 connections, which count as CPU time too, weigh little.
    private static let pushes: UInt64 = 1_500_000

    private struct Setting {
        var threads = 1
        var connections: Int
        var streams: Int
        /// Over a link of this round-trip time, for so long.
        var rtt: String?
        var duration: UInt64?
    }

    /// With the fewest connections first: memory counts up to its peak.
    private static var settings: [Setting] {
        var settings = [
            Setting(connections: 1, streams: 100), Setting(connections: 1, streams: 1000),
            // Idle workers: what a push waits besides the link.
            Setting(connections: 1, streams: 100, rtt: "10ms", duration: 1_000_000_000),
        ]
        var threads = 2
        while threads <= min(16, ProcessInfo.processInfo.activeProcessorCount) {
            settings.append(Setting(threads: threads, connections: threads, streams: 1000))
            threads *= 2
        }
        settings += [
            Setting(connections: 4, streams: 300), Setting(connections: 16, streams: 100),
            Setting(connections: 16, streams: 1000),
            Setting(connections: 32, streams: 1000, rtt: "10ms"),
            Setting(connections: 200, streams: 100), Setting(connections: 200, streams: 500),
        ]
        return settings
    }

    static func measure(_ base: Scenario) async throws -> CalibrationDocument {
        let settings = settings
        Console.diagnostic(
            "calibrating: \(settings.count) settings, \(rounds) rounds, against the bundled mock (about a minute)\n")
        let series = RunSeries()
        let signals = StopSignals { series.stop() }
        defer { signals.cancel() }
        var samples: [CostSample] = []
        for round in 1...rounds {
            for setting in settings {
                var scenario = base
                scenario.name = "calibration"
                scenario.threads = setting.threads
                scenario.mockThreads = setting.threads
                scenario.connections = setting.connections
                scenario.streams = setting.streams
                scenario.rtt = setting.rtt
                scenario.pushes = setting.duration == nil ? pushes : nil
                scenario.duration = setting.duration
                scenario.warmupPushes = setting.duration == nil ? pushes / 5 : 0
                guard let result = try await series.execute(try Run(scenario, identity: try scenario.identity())) else {
                    throw HarnessError("interrupted: there is no plan from a part of the runs", .failed)
                }
                let problems = RunVerdict(result).problems
                guard problems.isEmpty else {
                    throw HarnessError(
                        "calibration: a run with -c \(setting.connections) -m \(setting.streams) -t \(setting.threads) went "
                            + "wrong: \((problems + result.notes).joined(separator: "; "))", .failed)
                }
                // All runs share a process, whose peak is that of the largest run so far.
                let sample = CostSample(
                    result, roundTrip: PlanSamples.roundTrip(result), keepsMemory: round == 1 && setting.rtt == nil)
                samples.append(sample)
                Console.diagnostic(
                    "round \(round) of \(rounds), -c \(setting.connections) -m \(setting.streams) -t \(setting.threads)"
                        + "\(setting.rtt.map { " --rtt \($0)" } ?? ""): "
                        + "\(Units.fixed(sample.clientCPU, places: 0)) ns CPU a push, "
                        + "\(Units.perSecond(sample.perSecond)) answered\n")
            }
        }
        return CalibrationDocument(
            madeAt: ISO8601DateFormatter().string(from: Date()), samples: samples)
    }
}
