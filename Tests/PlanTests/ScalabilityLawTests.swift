import Testing

@testable import Plan

@Suite struct ScalabilityLawTests {
    private func isClose(_ one: Double, _ other: Double, _ within: Double = 1e-6) -> Bool {
        abs(one - other) <= within * max(1e-9, abs(other))
    }

    @Test("The fit gives back the law its points were made from, over σ and κ from none to much")
    func knownLaws() throws {
        for (contention, crosstalk) in [(0.0, 0.0), (0.05, 0), (0, 0.002), (0.02, 0.0005), (0.3, 0.01)] {
            let law = ScalabilityLaw(rate: 812_345, contention: contention, crosstalk: crosstalk)
            let points = [1, 2, 3, 4, 8, 16, 32].map { (workers: Double($0), rate: law.rate(of: Double($0))) }
            let fitted = try #require(ScalabilityLaw(fitting: points))
            #expect(isClose(fitted.rate, law.rate), "\(fitted)")
            #expect(abs(fitted.contention - contention) < 1e-8, "\(fitted)")
            #expect(abs(fitted.crosstalk - crosstalk) < 1e-8, "\(fitted)")
            #expect(fitted.points == 7)
        }
    }

    @Test("Noisy points give SciPy's λ, σ and κ within 1e-6")
    func againstSciPy() throws {
        // curve_fit(lambda n, l, s, k: l*n/(1 + s*(n - 1) + k*n*(n - 1)), n, y/1e6, p0=[.2, .01, .0005], ftol=1e-15, …), SciPy 1.17.1
        let rates = [20.1, 38.9, 72.2, 124.5, 158.0, 180.2, 199.7, 198.3].map { $0 * 1e4 }
        let points = zip([1, 2, 4, 8, 12, 16, 24, 32], rates).map { (workers: Double($0), rate: $1) }
        let fitted = try #require(ScalabilityLaw(fitting: points))
        #expect(isClose(fitted.rate, 200_400.91238387994), "\(fitted)")
        #expect(isClose(fitted.contention, 0.03180976452233427), "\(fitted)")
        #expect(isClose(fitted.crosstalk, 0.0012489697642353557), "\(fitted)")
        // √((1 − σ) / κ)
        #expect(isClose(try #require(fitted.peak), 27.84238, 1e-5))
    }

    @Test(
        "One number of workers gives a straight line, two give no crosstalk, better than linear gives neither, nothing nil"
    )
    func fewPoints() throws {
        let one = try #require(ScalabilityLaw(fitting: [(2, 100), (2, 110)]))
        #expect(isClose(one.rate, 52.5) && one.contention == 0 && one.crosstalk == 0 && one.points == 1)
        #expect(one.peak == nil)
        let two = try #require(ScalabilityLaw(fitting: [(1, 100), (4, 200)]))
        #expect(isClose(two.rate(of: 4), 200) && isClose(two.contention, 1 / 3) && two.crosstalk == 0)
        let more = try #require(ScalabilityLaw(fitting: [(1, 100), (2, 210), (4, 430)]))
        #expect(more.contention == 0 && more.crosstalk == 0 && more.rate > 100)
        #expect(ScalabilityLaw(fitting: []) == nil && ScalabilityLaw(fitting: [(1, 0)]) == nil)
    }
}
