import Devices
import Foundation
import Payloads
import Scenarios
import Testing

@testable import Plan

@Suite struct EchoModelTests {
    private static let silent = #"{"aps":{"content-available":1}}"#
    private static let alert = #"{"aps":{"alert":"a"}}"#
    private static let rich =
        #"{"aps":{"content-available":1,"sound":""},"richId":"17","richMessage":"m","richType":"img"}"#

    /// Phones that are online, unlocked and allow everything, whose users leave alone what they see.
    ///
    /// - Parameter further: of the model's file, one key a line.
    private func model(_ further: String = "") throws -> DeviceModel {
        let given = Set(further.split(separator: "\n").map { $0.prefix { $0 != ":" } })
        let usual = """
            platforms: {phone: 100%}
            hours: [\([String](repeating: "1", count: 24).joined(separator: ", "))]
            online: {share: 100%}
            unlocked: {share: 100%}
            foreground: {share: 0%}
            authorization: {never_asked: 0%, alert: 100%, sound: 100%, badge: 100%, changed: {share: 0%}}
            reaction: {opens: 0%, dismisses: 0%}
            categories: {}
            """
        let kept = usual.split(separator: "\n").filter { !given.contains($0.prefix { $0 != ":" }) }
        return try DeviceModelFile.parse(kept.joined(separator: "\n") + "\n" + further, file: "model")
    }

    /// Users who open what they see after exactly so long.
    private func opening(_ delay: String, sigma: Double = 0) -> String {
        "reaction: {opens: 100%, dismisses: 0%, delay: {median: \(delay), sigma: \(sigma)}}"
    }

    /// - Parameter payload: of every push.
    private func question(
        _ payload: String, _ model: DeviceModel, count: UInt64 = 1_000_000, seed: UInt64 = 1
    ) -> EchoQuestion {
        let devices = SyntheticDevices(seed: 7, count: count)
        let pushes = EchoPushes(count: count) { sequence, _, body in
            Array(devices.token(sequence).utf8).withUnsafeBytes { token in
                Array(payload.utf8).withUnsafeBytes { payload in
                    body(
                        DevicePush(
                            device: DeviceKey(token), number: sequence, ticket: sequence,
                            type: payload.count == Self.alert.utf8.count ? .alert : .background, priority: 5,
                            collapseID: UnsafeRawBufferPointer(start: nil, count: 0), expiration: nil, payload: payload)
                    )
                }
            }
        }
        var question = EchoQuestion(name: "on", model: model, pushes: pushes)
        question.seed = seed
        question.fewest = 5000
        question.most = 20_000
        return question
    }

    private func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1, abs(other)) } ?? false
    }

    private func echo(
        _ question: EchoQuestion, pushes: UInt64 = 1_000_000, spread: Double = 50e9, goals: [Threshold] = []
    ) -> PlanDocument.Echo {
        EchoModel(question, pushes: pushes, spread: spread).document(goals, edges: 1e9)
    }

    @Test("Devices that are online and fetch at once: D requests, D / T a second, exactly")
    func allFetch() throws {
        let echo = echo(question(Self.silent, try model()))
        #expect(echo.requests == .init(1e6, low: 1e6, high: 1e6) && isClose(echo.peak.value, 2e4))
        #expect(isClose(echo.peak.low, 2e4) && isClose(echo.peak.high, 2e4) && echo.peakAfter == 0)
        #expect(isClose(echo.mean, 2e4) && echo.laterThanHour.value == 0 && echo.open == nil && echo.bandwidth == nil)
        #expect(echo.byKind.keys.sorted() == ["fetch"] && echo.byKind["fetch"]?.most == 0)
        #expect(echo.sampledDevices == 5000 && echo.sampledRequests == 5000)
    }

    @Test("Users who all come after 10 s: the same, 10 s later")
    func allOpen() throws {
        let echo = echo(question(Self.alert, try model(opening("10s"))))
        #expect(isClose(echo.requests.value, 1e6) && isClose(echo.peak.value, 2e4) && isClose(echo.peakAfter, 10e9))
        #expect(echo.byKind["action"]?.half == 10e9 && echo.byKind["action"]?.most == 10e9)
        #expect(echo.response.first { $0.within == 5e9 }?.perPush == 0)
        #expect(echo.response.first { $0.within == 10e9 }?.perPush == 1)
        #expect(isClose(echo.mean, 2e4 * 0.8))
        #expect(echo.wave.count == 61 && isClose(echo.wave.last?.at, 150e9))
        #expect(echo.wave.allSatisfy { isClose($0.requests, 2e4 * min(max($0.at / 1e9 - 10, 0), 50), 1e-6) })
    }

    @Test("Of devices of which half never fetch, half the requests come, within what the sample says it may be off by")
    func half() throws {
        let model = try model("silent: {fetches: 50%}")
        let echo = echo(question(Self.silent, model, seed: 3))
        let error = 1.96 * (0.25 / Double(echo.sampledDevices)).squareRoot() * 1e6
        #expect(isClose((echo.requests.high ?? 0) - echo.requests.value, error, 0.01), "\(echo)")
        // Three times what 95 % lie within: seed 3 is one.
        #expect(abs(echo.requests.value - 5e5) < 3 * error, "\(echo)")
        #expect(isClose(echo.peak.value, echo.requests.value / 50) && echo.sampledDevices >= 10_000, "\(echo)")
    }

    @Test("A rich push: fetched at once, and what the user does with it 5 s after the answer and as long as users take")
    func richPush() throws {
        let model = try model(
            "categories: {richPush: {opens: 100%, dismisses: 0%, delay: {median: 3s, sigma: 0}}}")
        var question = question(Self.rich, model)
        question.backendTime = .constant(2e9)
        question.body = 20_000
        let echo = echo(question)
        #expect(echo.byKind["rich"]?.half == 0 && echo.byKind["action"]?.half == 10e9, "\(echo)")
        #expect(isClose(echo.requests.value, 2e6) && isClose(echo.peak.value, 4e4) && isClose(echo.peakAfter, 10e9))
        // Two seconds of both, and the bodies of the one.
        #expect(isClose(echo.open?.value, 8e4) && isClose(echo.bandwidth, 2e4 * 20_000))
        #expect(echo.backendTime == 2e9)
    }

    @Test("Devices that come back online ask then, and those after more than an hour are said apart")
    func comeBack() throws {
        let model = try model("online: {share: 50%, dwell: 4h}")
        let echo = echo(question(Self.silent, model))
        // Slots of 2 h: half are there at once, half of the others in the next slot, which begins within 2 h.
        #expect(isClose(echo.requests.value, 1e6), "\(echo)")
        #expect(isClose(echo.response[0].perPush, 0.5, 0.03), "\(echo)")
        #expect(isClose(echo.laterThanHour.value, 0.375e6, 0.05), "\(echo)")
        #expect(isClose(echo.response.first { $0.within == 3600e9 }?.perPush, 0.625, 0.03))
    }

    @Test("Log-normal users: the response is the distribution")
    func logNormal() throws {
        let model = try model(opening("60s", sigma: 1.5))
        let echo = echo(question(Self.alert, model), spread: 1e9)
        for point in echo.response where point.within >= 1e9 && point.within <= 3600e9 {
            let share = 0.5 * erfc(-log(point.within / 60e9) / 1.5 / 2.0.squareRoot())
            #expect(abs(point.perPush - share) < 0.02, "\(point), \(share)")
        }
        // One second of pushes: the peak is the steepest part, at the mode of 60 s × e^−2.25. The best second of a sample
        // is chosen for being high.
        let density = exp(1.125) / (60 * 1.5 * (2 * Double.pi).squareRoot())
        #expect(echo.peak.value > 0.9e6 * density && echo.peak.value < 1.3e6 * density, "\(echo.peak), \(density)")
    }

    @Test("A limit of the peak: what is left, or the time it takes, the first one that keeps it")
    func goals() throws {
        func goal(_ text: String) throws -> PlanDocument.Echo.EchoGoal {
            let document = echo(question(Self.silent, try model()), goals: [try Threshold(parsing: text)])
            return try #require(document.goals.first)
        }
        let kept = try goal("echo.peak < 25k")
        #expect(kept.held && isClose(kept.headroom, 0.2) && kept.shortest == nil)
        let missed = try goal("echo.peak < 5k")
        // 200 s and the second besides, to a ten-thousandth.
        #expect(!missed.held && isClose(missed.shortest, 201e9, 1.1e-4) && isClose(missed.perSecond, 5000, 1.1e-4))
        let exact = try goal("echo.peak <= 5k")
        #expect(isClose(exact.shortest, 201e9, 1.1e-4))
        let never = try goal("echo.peak < 0.0001")
        #expect(!never.held && never.shortest == nil)
    }

    @Test("A sample grows until the peak is known, or all devices are simulated; it takes none twice")
    func growth() throws {
        let model = try model("silent: {fetches: 1%}")
        #expect(echo(question(Self.silent, model)).sampledDevices == 20_000)
        #expect(echo(question(Self.silent, model, count: 7000), pushes: 7000).sampledDevices == 7000)
        for count in [1, 2, 3, 4, 10, 97, 1000, 4096] as [UInt64] {
            let pushes = EchoPushes(count: count) { _, _, _ in }
            #expect(Set((0..<Int(count)).map(pushes.sequence)) == Set(0..<count))
        }
        let many = EchoPushes(count: 1 << 40) { _, _, _ in }
        let places = (0..<1000).map { Double(many.sequence($0)) / 0x1p40 }.sorted()
        #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 > 0.0003 && $1 - $0 < 0.003 })
        #expect(EchoPushes(count: .max) { _, _, _ in }.sequence(.max) < .max)
    }

    @Test("Absurd fan-outs give numbers")
    func absurd() throws {
        for (pushes, spread) in [(1 << 40, 1), (.max, 0), (1, 1e300), (0, 1e9)] as [(UInt64, Double)] {
            var question = question(Self.silent, try model())
            question.backendTime = .constant(1e300)
            question.body = 1e300
            let echo = echo(question, pushes: pushes, spread: spread)
            #expect(echo.peak.value >= 0 && echo.requests.value <= Double(pushes) * 1.000_001)
            #expect(EchoSections.of(echo).count == 2 && !EchoSections.remarks(echo).isEmpty)
        }
        #expect(isClose(echo(question(Self.silent, try model()), pushes: 1 << 40, spread: 1).peak.value, 0x1p40))
    }

    @Test("A backend that is slower than devices are patient is warned of")
    func slowBackend() throws {
        for (time, warnings) in [
            (30e9, []),
            (
                45e9,
                [
                    "the backend takes 45.0 s on average: devices give up after 30.0 s, so that most never have an answer"
                ]
            ),
        ] {
            var question = question(Self.silent, try model())
            question.backendTime = .constant(time)
            #expect(PlanWarnings.of(EchoModel(question, pushes: 1_000_000, spread: 50e9)) == warnings)
        }
    }

    @Test("The same seed gives the same echo; others differ")
    func seeds() {
        var model = DeviceModel()
        model.silent.fetches = 0.5
        let first = echo(question(Self.silent, model))
        #expect(first == echo(question(Self.silent, model)))
        #expect(first.requests != echo(question(Self.silent, model, seed: 2)).requests)
    }
}
