import Scenarios
import Statistics

/// Which runs a sweep makes, and in which order. Everything follows from the plan (its seed above all) and the runs made so
/// far, so that an interrupted sweep goes on as it would have.
///
/// Each repetition goes through all points in an order of its own: what changes on the machine over time meets every point
/// alike.
struct SweepSchedule: Sendable {
    private let plan: SweepPlan
    /// Numbers of the points that take part, ascending.
    let points: [Int]
    /// Points that take part in each rung; one rung but for `halving`.
    let sizes: [Int]

    init(_ plan: SweepPlan) {
        self.plan = plan
        let all = plan.gridCount ?? 0
        points =
            plan.search.method == .grid
            ? Array(0..<all) : Self.draw(min(plan.search.points ?? all, all), of: all, seed: plan.scenario.seed)
        sizes = plan.search.method == .halving ? Self.halvings(points.count) : [points.count]
    }

    var runCount: Int { sizes.reduce(0, +) * plan.search.repeats }
    /// The same, counted in the time of runs of the first rung.
    var length: Double {
        sizes.enumerated().reduce(0) { $0 + Double($1.element * plan.search.repeats) * Double(1 << $1.offset) }
    }

    /// Half of the points (the larger one), then half of these, as long as there are two to be told apart.
    static func halvings(_ count: Int) -> [Int] {
        var sizes = [count]
        while let last = sizes.last, last > 2 { sizes.append((last + 1) / 2) }
        return sizes
    }

    /// The runs of a rung, in their order.
    ///
    /// - Parameter points: those that take part in it.
    func jobs(rung: Int, points: [Int]) -> [SweepJob] {
        var jobs: [SweepJob] = []
        for repetition in 1...plan.search.repeats {
            var random = SplitMix(seed: plan.scenario.seed &+ UInt64(rung) << 32 &+ UInt64(repetition))
            jobs += points.shuffled(using: &random).map { SweepJob(point: $0, repetition: repetition, rung: rung) }
        }
        return jobs
    }

    /// Those that go on to the next rung: the best by the goal. Points without a value (they failed, or it is not known of a run) are dropped.
    ///
    /// - Parameter values: the goal's value of each point of this rung.
    func survivors(of rung: Int, _ values: [(point: Int, value: Double?)]) -> [Int] {
        guard rung + 1 < sizes.count else { return [] }
        let sign = plan.search.goal.isHigherBetter ? -1.0 : 1.0
        let ranked = values.compactMap { entry in entry.value.map { (point: entry.point, cost: sign * $0) } }
            .sorted { ($0.cost, $0.point) < ($1.cost, $1.point) }
        return ranked.prefix(sizes[rung + 1]).map(\.point).sorted()
    }

    /// So many different numbers below `bound`, ascending (Floyd's algorithm: Bentley, Programming Pearls, 1987).
    static func draw(_ count: Int, of bound: Int, seed: UInt64) -> [Int] {
        guard count < bound else { return Array(0..<bound) }
        var random = SplitMix(seed: seed)
        var drawn: Set<Int> = []
        for last in bound - count..<bound {
            let number = Int.random(in: 0...last, using: &random)
            drawn.insert(drawn.contains(number) ? last : number)
        }
        return drawn.sorted()
    }
}
