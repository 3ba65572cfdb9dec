import Testing

@testable import Plan

@Suite struct MeanValueAnalysisTests {
    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 / other - 1) <= within } ?? false
    }

    @Test("Stations that are alike: N / (D (N + K − 1))")
    func balanced() {
        for (customers, stations) in [(1, 1), (1, 7), (5, 3), (200, 2)] {
            let rate = MeanValueAnalysis.throughput(
                population: customers, delay: 0, demands: [Double](repeating: 500, count: stations))
            #expect(isClose(rate, Double(customers) / (500e-9 * Double(customers + stations - 1))))
        }
    }

    @Test("One station and a delay: the machine repairman, (1 − p₀) / D with p₀ = 1 / Σ N! / (N − k)! (D / Z)ᵏ")
    func repairman() {
        let (demand, delay) = (1000.0, 40_000.0)
        for customers in [1, 10, 40, 80] {
            var (sum, term) = (1.0, 1.0)
            for k in 1...customers {
                term *= Double(customers - k + 1) * demand / delay
                sum += term
            }
            let rate = MeanValueAnalysis.throughput(population: customers, delay: delay, demands: [demand])
            #expect(isClose(rate, (1 - 1 / sum) / demand * 1e9), "\(customers)")
        }
    }

    @Test("Client and server threads as Buzen's convolution has them, computed in Python with fractions")
    func convolution() {
        // g[n] = Zⁿ / n!, then g[n] += D g[n − 1] for each station; X = g[N − 1] / g[N].
        #expect(
            isClose(
                MeanValueAnalysis.throughput(population: 30, delay: 20_000, demands: [1000, 400, 400]),
                983_628.1719232793, 1e-12))
        #expect(
            isClose(
                MeanValueAnalysis.throughput(population: 200, delay: 80_000, demands: [300, 300, 500, 500]),
                1_947_517.0691015697, 1e-12))
        #expect(MeanValueAnalysis.throughput(population: 3, delay: 0, demands: [0]) == nil)
        #expect(isClose(MeanValueAnalysis.throughput(population: 3, delay: 1e9, demands: []), 3))
    }
}
