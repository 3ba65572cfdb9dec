import Foundation
import Statistics

/// Runs as they might have come out as well: each setting's medians, times how far some run was from its own setting's mean. What runs
/// differ by is taken from all settings together, as the two or three runs of one say little about it.
struct DrawnSamples {
    /// Logarithms of a run's figures less their means over its setting.
    private struct Residual {
        var client = 0.0
        var mock = 0.0
        var rate = 0.0
        var service = 0.0
    }

    private struct Group {
        var runs: [CostSample]
        var memories: [UInt64]
        var client: Double
        var mock: Double?
        var rate: Double
        var service: Double
        var isPaced: Bool { runs[0].pace != nil }
    }

    private var groups: [Group] = []
    /// Of runs as fast as they go, and of runs at a rate, which scatter more.
    private var residuals: [Bool: [Residual]] = [:]

    /// - Parameter groups: the runs of each setting.
    init(_ groups: [[CostSample]]) {
        for runs in groups where !runs.isEmpty {
            // Runs of one process have one peak of memory: those without are no draw of it.
            self.groups.append(
                Group(
                    runs: runs, memories: runs.compactMap(\.clientMemory), client: Self.median(runs.map(\.clientCPU)),
                    mock: runs.allSatisfy { $0.mockCPU != nil } ? Self.median(runs.compactMap(\.mockCPU)) : nil,
                    rate: Self.median(runs.map(\.perSecond)), service: Self.median(runs.map(\.service))))
            guard runs.count > 1 else { continue }
            let client = Self.residuals(runs.map(\.clientCPU))
            let mock = Self.residuals(runs.map { $0.mockCPU ?? 0 })
            let rate = Self.residuals(runs.map(\.perSecond))
            let service = Self.residuals(runs.map(\.service))
            residuals[runs[0].pace != nil, default: []] += runs.indices.map {
                Residual(client: client[$0], mock: mock[$0], rate: rate[$0], service: service[$0])
            }
        }
    }

    /// All of them, drawn anew.
    func draw(_ random: inout SplitMix) -> [CostSample] {
        groups.flatMap { group -> [CostSample] in
            let pool = residuals[group.isPaced] ?? residuals[!group.isPaced] ?? []
            return group.runs.map { run in
                var drawn = group.runs[random.below(group.runs.count)]
                drawn.clientMemory =
                    run.clientMemory == nil ? nil : group.memories[random.below(group.memories.count)]
                guard !pool.isEmpty else { return drawn }
                let residual = pool[random.below(pool.count)]
                drawn.clientCPU = group.client * exp(residual.client)
                if let mock = group.mock { drawn.mockCPU = mock * exp(residual.mock) }
                drawn.perSecond = group.rate * exp(residual.rate)
                drawn.service = group.service * exp(residual.service)
                return drawn
            }
        }
    }

    private static func median(_ values: [Double]) -> Double { Quantile.median(values) ?? 0 }

    /// Runs resemble those before and after them, which are of other settings: means of several settings deviate further for it.
    private static let stretch = SerialCorrelation.stretch(RunOrder.correlation)

    /// Of so few values the distances from their mean are too small by √((n − 1) / n), which is put back; none where a value has no
    /// logarithm.
    private static func residuals(_ values: [Double]) -> [Double] {
        guard values.allSatisfy({ $0 > 0 && $0.isFinite }) else { return values.map { _ in 0 } }
        let logarithms = values.map { log($0) }
        let count = Double(values.count)
        let mean = logarithms.reduce(0, +) / count
        return logarithms.map { ($0 - mean) * (count / (count - 1)).squareRoot() * stretch }
    }
}
