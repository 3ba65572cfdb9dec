@testable import Plan

/// What suites plan with: runs whose costs are known to the last digit, and a question whose answer is.
protocol MeasuredCosts {}

extension MeasuredCosts {
    func sample(
        _ run: String, threads: Int = 1, connections: Int = 1, streams: Int = 1000, cpu: Double = 1000,
        mock: Double? = 500, memory: UInt64? = 40_000_000, rtt: UInt64 = 0, service: Double = 0, rate: Double = 800_000,
        engine: String = "wire", version: String = "1", mockThreads: Int? = nil, cores: Int? = nil,
        pace: Double? = nil, answers: CostSample.Answers? = nil, totals: [Double]? = nil,
        pushesPerConnection: Double? = nil, handshake: Double? = nil
    ) -> CostSample {
        CostSample(
            run: run, engine: engine, version: version, machine: "m", threads: threads, connections: connections,
            streams: streams, roundTrip: rtt, isShaped: false, isBundledMock: true, perSecond: rate, clientCPU: cpu,
            mockCPU: mock, clientMemory: memory, workerLoad: rtt > 0 ? 0.1 : 0.9, service: service, serverTime: nil,
            mockThreads: mockThreads, cores: cores, pace: pace, answers: answers, totals: totals,
            pushesPerConnection: pushesPerConnection, handshake: handshake)
    }

    var samples: [CostSample] { [sample("a"), sample("b")] }

    /// 100,000 devices in 10 s over 100 ms, half of every bound used.
    var question: PlanQuestion {
        var question = PlanQuestion()
        question.pushes = 100_000
        question.within = 10e9
        question.roundTrip = 100e6
        question.cores = 4
        question.utilisation = 0.5
        question.payloadBytes = 300
        question.largestPayload = 400
        question.requestBytes = 400
        question.answerBytes = 50
        // Where it is not the simulation that is looked at.
        question.simulated = 2000
        return question
    }

    /// What TCP's slow start takes of it, seconds: five rounds of 10 × (1, 2, 4, 8, 16) segments of 1,448 bytes, of the 400 KB and
    /// TLS's 22 bytes in 16 KB that 1,000 streams hold.
    static var slowStart: Double { 0.1 * (5 - 31 * 14_480 / (400_000 * (1 + 22.0 / 16_384))) }
    /// Connecting takes 4 round trips, the last answers one.
    static var left: Double { 9.5 - slowStart }

    func isClose(_ one: Double?, _ other: Double, _ within: Double = 1e-9) -> Bool {
        one.map { abs($0 - other) <= within * max(1, abs(other)) } ?? false
    }
}
