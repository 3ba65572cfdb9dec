import Foundation
import Statistics
import Testing

@testable import Plan
@testable import coverage

/// What drawn runs have in common with those measured.
@Suite struct DrawnSamplesTests: MeasuredCosts {
    /// Runs of four settings in turn.
    private func rounds(_ factors: [Double]) -> [CostSample] {
        factors.enumerated().map { place, factor in
            sample("\(place)", connections: 1 << (place % 4), cpu: Double(600 + 100 * (place % 4)) * factor)
        }
    }

    @Test("Neighbours' correlation is that of the noise", arguments: Noise.allCases)
    func correlation(_ noise: Noise) {
        var random = SplitMix(seed: 20_261_126)
        let found = (0..<400).map { _ in
            CostModel.drawn(from: rounds(noise.factors(400, spread: 0.05, &random))).correlation
        }
        // One of 400 runs has a standard error of 0.05, the mean of 400 one of 0.0025; were negative ones taken for 0, it would be 0.02
        // where there is none. Ranks of a correlation of 0.3 have 0.287.
        let mean = found.reduce(0, +) / 400
        #expect(abs(mean - (noise == .correlated ? 0.287 : 0)) < 0.01, "\(mean)")
    }

    @Test(
        "Runs over links of several lengths are no repetitions of each other; drawn ones take as long besides the link")
    func links() {
        // Over no link the answers scatter by half, over a link by 0.1 ms of it.
        let runs = (0..<12).flatMap { round -> [CostSample] in
            let more = Double(round % 3)
            return [
                sample("a\(round)", service: 2e6 * (1 + more / 4)),
                sample("b\(round)", rtt: 20_000_000, service: 20.1e6 + 0.02e6 * more),
                sample("c\(round)", rtt: 80_000_000, service: 80.1e6 + 0.02e6 * more),
            ]
        }
        let drawn = CostModel.drawn(from: runs)
        var random = SplitMix(seed: 3)
        for run in (0..<200).flatMap({ _ in drawn.draw(&random) }) where run.roundTrip > 0 {
            let besides = run.service - Double(run.roundTrip)
            #expect(besides > 0.05e6 && besides < 0.3e6, "\(run)")
        }
    }

    @Test("Of few pairs of neighbours it is the usual one, and it has a largest")
    func bounds() {
        var random = SplitMix(seed: 5)
        #expect(CostModel.drawn(from: rounds(Noise.logNormal.factors(20, spread: 0.05, &random))).correlation == 0.3)
        // A machine that gets slower all the time.
        #expect(CostModel.drawn(from: rounds((0..<400).map { exp(0.002 * Double($0)) })).correlation == 0.7)
        // Neighbours of one setting say nothing: their mean is taken out of both.
        let one = (0..<100).map { sample("\($0)", cpu: 600 + Double($0)) }
        #expect(CostModel.drawn(from: one).correlation == 0.3)
    }

    @Test(
        "Drawn runs scatter as those measured, by Student's t, and resemble their neighbours as much, or less than by chance",
        arguments: [false, true])
    func draws(_ isOpposed: Bool) {
        // Where each second run is turned round, what was like its neighbour is unlike it.
        func samples(_ seed: UInt64) -> [CostSample] {
            var random = SplitMix(seed: seed)
            return rounds(
                Noise.correlated.factors(48, spread: 0.05, &random).enumerated().map {
                    isOpposed && $0.offset % 2 == 1 ? 1 / $0.element : $0.element
                })
        }
        // The first that shows it well.
        let seed = (17...60 as ClosedRange<UInt64>).first {
            let correlation = CostModel.drawn(from: samples($0)).correlation
            return isOpposed ? correlation < -0.2 : correlation > 0.2
        }
        let measured = samples(seed ?? 17)
        let drawn = CostModel.drawn(from: measured)
        #expect(seed != nil)
        var random = SplitMix(seed: 17)
        // Around each setting's median.
        let centre = (0..<4).map { setting in
            Quantile.median(measured.enumerated().filter { $0.offset % 4 == setting }.map(\.element.clientCPU))!
        }
        var (squares, products, count) = (0.0, 0.0, 0)
        for _ in 0..<500 {
            let distances = drawn.draw(&random).enumerated().map { log($1.clientCPU / centre[$0 % 4]) }
            squares += distances.reduce(0) { $0 + $1 * $1 }
            products += zip(distances, distances.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 }
            count += distances.count
        }
        // 44 degrees of freedom; Student's t is that of 47.
        let means = (0..<4).map { setting in
            let own = measured.enumerated().filter { $0.offset % 4 == setting }.map { log($0.element.clientCPU) }
            return own.reduce(0, +) / Double(own.count)
        }
        let own = measured.enumerated().reduce(0.0) { sum, run in
            let distance = log(run.element.clientCPU) - means[run.offset % 4]
            return sum + distance * distance
        }
        let wanted = (own / 44).squareRoot() * StudentDistribution.quantile(0.975, degrees: 47) / 1.96
        #expect(abs((squares / Double(count)).squareRoot() / wanted - 1) < 0.03)
        #expect(abs(products / squares * 48 / 47 - drawn.correlation) < 0.03)
    }
}
