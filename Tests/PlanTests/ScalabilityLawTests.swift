import Foundation
import Statistics
import Testing

@testable import Plan
@testable import coverage

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
        // least_squares(lambda p: log(p[0]*n/(1 + p[1]*(n - 1) + p[2]*n*(n - 1))) - log(y), p0, xtol=1e-15, …), SciPy 1.17.1
        let rates = [20.1, 38.9, 72.2, 124.5, 158.0, 180.2, 199.7, 198.3].map { $0 * 1e4 }
        let points = zip([1, 2, 4, 8, 12, 16, 24, 32], rates).map { (workers: Double($0), rate: $1) }
        let fitted = try #require(ScalabilityLaw(fitting: points))
        #expect(isClose(fitted.rate, 201_044.33523427387), "\(fitted)")
        #expect(isClose(fitted.contention, 0.032383133818110955), "\(fitted)")
        #expect(isClose(fitted.crosstalk, 0.0012408627117673917), "\(fitted)")
        // ± t(0.975, 5 degrees) × the roots of the diagonal of s² (JᵀJ)⁻¹.
        let contention = try #require(fitted.contentionRange)
        let crosstalk = try #require(fitted.crosstalkRange)
        #expect(isClose(contention.lowerBound, 0.03032379981936984, 1e-5), "\(contention)")
        #expect(isClose(contention.upperBound, 0.03444246781685207, 1e-5), "\(contention)")
        #expect(isClose(crosstalk.lowerBound, 0.0011717472790742315, 1e-5), "\(crosstalk)")
        #expect(isClose(crosstalk.upperBound, 0.0013099781444605519, 1e-5), "\(crosstalk)")
        // √((1 − σ) / κ)
        #expect(isClose(try #require(fitted.peak), 27.924785629202795, 1e-5))
    }

    @Test("The benchmark of R's package usl, specsdm91, gives SciPy's σ and κ and their intervals")
    func benchmark() throws {
        // Its data (Gunther 2007, SPEC SDM 91), fitted as above; `usl` itself fits rates, not logarithms.
        let points = zip([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
            .map { (workers: Double($0), rate: $1) }
        let fitted = try #require(ScalabilityLaw(fitting: points))
        #expect(
            isClose(fitted.rate, 67.94232306261588) && isClose(fitted.contention, 0.013452473159836852), "\(fitted)")
        #expect(isClose(fitted.crosstalk, 0.00011511007816084824), "\(fitted)")
        let range = try #require(fitted.contentionRange)
        #expect(isClose(range.lowerBound, 0.002229555244568051, 1e-4), "\(range)")
        #expect(isClose(range.upperBound, 0.024675391075105652, 1e-4), "\(range)")
    }

    @Test(
        "Of fits to noisy rates about 95 % of the intervals hold the σ and κ that the rates were drawn from",
        arguments: Noise.allCases)
    func coverage(_ noise: Noise) throws {
        let draws = ProcessInfo.processInfo.environment["PLAN_DRAWS"].flatMap(Int.init) ?? 400
        let law = ScalabilityLaw(rate: 1e6, contention: 0.04, crosstalk: 0.002)
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = SplitMix(seed: seed)
        var held = (contention: 0, crosstalk: 0)
        for _ in 0..<draws {
            // Three rounds of five numbers of workers; runs differ by 3 %, and resemble the one before where they are correlated.
            let points = noise.factors(15, spread: 0.03, &random).enumerated().map { place, factor in
                let workers = Double(1 << (place % 5))
                return (workers: workers, rate: law.rate(of: workers) * factor)
            }
            let fitted = try #require(ScalabilityLaw(fitting: points))
            if fitted.contentionRange?.contains(0.04) == true { held.contention += 1 }
            if fitted.crosstalkRange?.contains(0.002) == true { held.crosstalk += 1 }
        }
        if draws > 400 { print("\(noise.rawValue), \(draws) fits: \(held)") }
        // Five standard deviations.
        let reach = 5 * (Double(draws) * 0.95 * 0.05).squareRoot()
        for count in [held.contention, held.crosstalk] {
            #expect(abs(Double(count) - 0.95 * Double(draws)) <= reach, "\(noise): \(held), seed \(seed)")
        }
    }

    @Test(
        "One number of workers gives a straight line, two give no crosstalk, better than linear gives neither, nothing nil"
    )
    func fewPoints() throws {
        let one = try #require(ScalabilityLaw(fitting: [(2, 100), (2, 110)]))
        // The geometric mean of 50 and 55.
        #expect(isClose(one.rate, 2750.0.squareRoot()) && one.contention == 0 && one.crosstalk == 0 && one.points == 1)
        #expect(one.peak == nil && one.contentionRange == nil && one.crosstalkRange == nil)
        let two = try #require(ScalabilityLaw(fitting: [(1, 100), (4, 200)]))
        #expect(isClose(two.rate(of: 4), 200) && isClose(two.contention, 1 / 3) && two.crosstalk == 0)
        // As many rates as unknowns.
        #expect(two.contentionRange == nil)
        let three = try #require(ScalabilityLaw(fitting: [(1, 100), (1, 101), (4, 390), (4, 396)]))
        #expect(three.contentionRange?.contains(three.contention) == true && three.crosstalkRange == nil)
        let more = try #require(ScalabilityLaw(fitting: [(1, 100), (2, 210), (4, 430)]))
        #expect(more.contention == 0 && more.crosstalk == 0 && more.rate > 100)
        #expect(ScalabilityLaw(fitting: []) == nil && ScalabilityLaw(fitting: [(1, 0)]) == nil)
    }
}
