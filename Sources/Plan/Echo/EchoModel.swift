import Devices
import Scenarios

/// The echo of a plan's fan-out: as many devices simulated as it takes to know its peak, and the figures that follow
/// (docs/planning.md).
struct EchoModel {
    let question: EchoQuestion
    let sample: EchoSample
    let response: EchoResponse
    /// D, and T in nanoseconds.
    let pushes: Double
    let spread: Double

    /// The interval of the peak is to be within this share of it on either side.
    static let precision = 0.02
    /// Of the normal distribution: 95 % lie within so many standard errors.
    private static let normal = 1.96
    static let hour: UInt64 = 3_600_000_000_000
    /// A fan-out is not made slower than this: ten years.
    static let longest = 10 * 365 * 24 * 3600e9
    /// How long an app may wait for an answer.
    private static let limit = Double(DeviceModel.workLimit)

    /// - Parameter spread: over which the pushes are sent at equal distances, ns.
    init(_ question: EchoQuestion, pushes: UInt64, spread: Double) {
        var sample = EchoSample(seed: question.seed)
        var size = question.fewest
        var model: EchoModel
        repeat {
            let before = sample.devices
            sample.extend(to: size, question)
            model = EchoModel(question, sample, pushes: Double(pushes), spread: spread)
            if sample.devices == before { break }
            size = size > question.most / 2 ? question.most : 2 * size
        } while model.sample.devices < question.most && model.isVague
        self = model
    }

    init(_ question: EchoQuestion, _ sample: EchoSample, pushes: Double, spread: Double) {
        (self.question, self.sample, self.pushes, self.spread) = (question, sample, pushes, max(spread, 1))
        response = EchoResponse(sample.requests.lazy.map(\.delay), devices: sample.devices)
    }

    /// The sample says too little of the peak.
    var isVague: Bool {
        guard let high = peak.high else { return false }
        return high - peak.value > Self.precision * peak.value
    }

    // MARK: Figures

    /// D times the mean of what a device's requests are worth.
    private func figure(_ worth: (EchoSample.Request) -> Double) -> PlanDocument.Figure {
        var byDevice = [Double](repeating: 0, count: max(1, sample.devices))
        for request in sample.requests { byDevice[Int(request.device)] += worth(request) }
        let count = Double(byDevice.count)
        let mean = byDevice.reduce(0, +) / count
        let variance = byDevice.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / max(1, count - 1)
        let error = Self.normal * (variance / count).squareRoot()
        return PlanDocument.Figure(
            pushes * mean, low: pushes * max(0, mean - error), high: pushes * (mean + error))
    }

    private var busiest: (perPush: Double, after: Double) {
        response.busiest(spread: spread, window: EchoResponse.second)
    }

    /// Requests within the busiest second.
    var peak: PlanDocument.Figure { within(EchoResponse.second, busiest.after) { _ in true } }

    private func within(
        _ window: Double, _ after: Double, _ counts: (EchoSample.Request) -> Bool
    ) -> PlanDocument.Figure {
        figure { request in
            counts(request)
                ? EchoResponse.overlap(Double(request.delay), spread: spread, window: window, after: after) / spread : 0
        }
    }

    /// As many as are made in the busiest time of the mean length of an answer: exact where all answers take as long, else Little's law.
    private var open: PlanDocument.Figure? {
        let time = min(question.backendTime.mean, Self.limit)
        guard time >= 1 else { return nil }
        return within(time, response.busiest(spread: spread, window: time).after) { _ in true }
    }

    /// - Parameters:
    ///   - goals: limits of the peak, < or <=.
    ///   - edges: what a fan-out takes besides sending, ns.
    func document(_ goals: [Threshold], edges: Double) -> PlanDocument.Echo {
        let busiest = busiest
        let peak = peak
        let bandwidth = question.body.map { body in
            body * within(EchoResponse.second, busiest.after) { $0.kind != .action }.value
        }
        return PlanDocument.Echo(
            deviceModel: question.name, timeOfDay: question.timeOfDay, seed: question.seed,
            sampledDevices: sample.devices, sampledRequests: sample.requests.count, spread: spread,
            requests: figure { _ in 1 }, laterThanHour: figure { $0.delay > Self.hour ? 1 : 0 }, peak: peak,
            peakAfter: busiest.after, mean: pushes * response.perPush(by: spread, spread: spread) / spread * 1e9,
            byKind: byKind, response: Self.times.map { .init(within: $0, perPush: response.perPush(within: $0)) },
            wave: (0...60).map { step in
                let time = spread / 20 * Double(step)
                return .init(at: time, requests: pushes * response.perPush(by: time, spread: spread))
            },
            backendTime: question.backendTime.mean, open: open, body: question.body, bandwidth: bandwidth,
            goals: goals.map { goal($0, peak.value, edges: edges) })
    }

    private static let times = [0.1, 1, 5, 10, 30, 60, 300, 600, 3600, 21_600, 86_400, 2_592_000].map { $0 * 1e9 }

    private var byKind: [String: PlanDocument.Echo.Kind] {
        var kinds: [String: PlanDocument.Echo.Kind] = [:]
        for kind in EchoRequest.Kind.allCases {
            let delays = sample.requests.filter { $0.kind == kind }.map(\.delay).sorted()
            guard !delays.isEmpty else { continue }
            func within(_ share: Double) -> Double {
                Double(delays[min(delays.count - 1, Int((share * Double(delays.count)).rounded(.up)) - 1)])
            }
            kinds[kind.rawValue] = .init(
                requests: figure { $0.kind == kind ? 1 : 0 }, half: within(0.5), most: within(0.99))
        }
        return kinds
    }

    private func goal(_ goal: Threshold, _ peak: Double, edges: Double) -> PlanDocument.Echo.EchoGoal {
        let comparison = goal.comparison
        guard !comparison.holds(peak, goal.limit) else {
            return .init(
                text: goal.text, held: true, headroom: goal.limit > 0 ? 1 - peak / goal.limit : nil, shortest: nil,
                perSecond: nil)
        }
        let shortest = response.shortest(
            pushes: pushes, from: spread, limit: goal.limit, longest: Self.longest
        ) { comparison.holds($0, goal.limit) }
        return .init(
            text: goal.text, held: false, headroom: nil, shortest: shortest.map { $0 + edges },
            perSecond: shortest.map { pushes / $0 * 1e9 })
    }
}
