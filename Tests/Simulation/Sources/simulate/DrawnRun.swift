import HTTP2
import MockAPNs
import Networking
import Scenarios

/// What a seed asks of the client, of the mock, and of whoever watches.
struct DrawnRun {
    var scenario = Scenario()
    var mock = MockConfiguration()
    /// When the run is asked to end, and then at once; ns after its begin.
    var drainAfter: UInt64?
    var abortAfter: UInt64?
    var targetGoneAfter: UInt64?
    /// A worker whose connections all break, and are refused from so long after the begin on, ns; the others' are not.
    var cutOff: (worker: Int, after: UInt64)?
    /// When somebody loses patience.
    var patience: UInt64 = 20_000_000_000

    init(seed: UInt64) {
        var random = Random(seed: seed, stream: 1)
        scenario.seed = seed
        scenario.noAuth = true
        scenario.plaintext = true
        drawLoad(&random)
        drawClient(&random)
        drawRetries(&random)
        drawMock(&random)
        drawFaults(&random)
        if random.chance(0.15) { drainAfter = random.spread(1_000_000, 3_000_000_000) }
        if random.chance(0.1) { abortAfter = (drainAfter ?? 0) + random.spread(1_000_000, 3_000_000_000) }
        if random.chance(0.05) { targetGoneAfter = random.spread(1_000_000, 3_000_000_000) }
        if scenario.threads > 1, random.chance(0.5) { drawCutOff(&random) }
    }

    private mutating func drawCutOff(_ random: inout Random) {
        cutOff = (random.below(scenario.threads), random.spread(1_000_000, 500_000_000))
        if random.chance(0.5) { scenario.giveUpAfter = random.spread(50_000_000, 300_000_000) }
        if drainAfter == nil, abortAfter == nil, random.chance(0.5) {
            drainAfter = random.spread(100_000_000, 2_000_000_000)
        }
    }

    // MARK: The client's side

    private mutating func drawLoad(_ random: inout Random) {
        let pushes = random.spread(10, 800)
        scenario.threads = random.chance(0.7) ? 1 : 2 + random.below(2)
        scenario.connections = scenario.threads + (random.chance(0.5) ? 0 : random.below(4))
        scenario.streams = Int(random.spread(1, 1000))
        scenario.pushes = pushes
        if random.chance(0.3) {
            if random.chance(0.3) { scenario.duration = random.spread(1_000_000, 2_000_000_000) }
        } else if random.chance(0.7) {
            scenario.rate = random.scale(100, 50_000)
            if random.chance(0.5) {
                scenario.duration = UInt64(Double(pushes) / scenario.rate! * 1e9) + 1
                if random.chance(0.5) { scenario.pushes = nil }
            }
        } else {
            drawStages(&random)
        }
        if scenario.isOpenLoop {
            scenario.arrivals = random.pick(["constant", "constant", "poisson", "jitter", "jitter:20%"])
            if random.chance(0.6) { scenario.backlog = random.spread(1, 300) }
            // A Poisson process may have no event at all.
            if (try? scenario.makeSchedule())??.count == 0 { scenario.arrivals = "constant" }
        }
        drawWarmup(&random)
        scenario.profile = random.pick([
            "alert", "alert", "silent", "voip", "live-activity", "rich", "alert:3,silent:1,rich:1",
        ])
        if random.chance(0.1) { scenario.by = ["status", "connection"] }
        scenario.devices = random.spread(1, 100_000)
    }

    private mutating func drawStages(_ random: inout Random) {
        scenario.pushes = random.chance(0.5) ? nil : 600
        for number in 0...random.below(3) {
            let duration = random.spread(1_000_000, 400_000_000)
            // Few enough pushes.
            let most = min(50_000, 250 / (Double(duration) / 1e9))
            func rate() -> Double { random.scale(min(20, most / 2), most) }
            let shape: LoadStage.Shape =
                switch random.below(5) {
                case 0: .hold(rate: rate())
                case 1: .ramp(from: random.chance(0.3) ? 0 : rate(), to: rate())
                case 2: .sine(mean: most / 2, amplitude: random.unit() * most / 2, period: max(1000, duration / 3))
                case 3: .burst(pushes: random.spread(1, 200))
                default: number == 0 ? .hold(rate: rate()) : .pause
                }
            scenario.stages.append(LoadStage(name: "part", shape: shape, duration: duration))
        }
    }

    private mutating func drawWarmup(_ random: inout Random) {
        switch random.below(6) {
        case 0: scenario.warmup = random.spread(1_000_000, 300_000_000)
        case 1: scenario.warmupPushes = random.spread(1, 200)
        case 2: scenario.warmupAuto = true
        default: break
        }
    }

    private mutating func drawClient(_ random: inout Random) {
        if random.chance(0.5) { scenario.sendBatch = Int(random.spread(1, 65_536)) }
        if random.chance(0.3) { scenario.streamWindow = Int(random.spread(200, 65_535)) }
        if random.chance(0.3) { scenario.connectionWindow = 65_535 }
        if random.chance(0.3) { scenario.headerTableSize = random.pick([0, 64, 4096]) }
        if random.chance(0.3) { scenario.encoderTableSize = random.pick([0, 64, 200, 4096]) }
        scenario.huffman = random.chance(0.3)
        scenario.apnsID = random.chance(0.3)
        if random.chance(0.2) { scenario.collapseID = "c" }
        if random.chance(0.2) { scenario.expiration = 0 }
        let drain = random.chance(0.1) ? 0 : random.spread(1_000_000, 2_000_000_000)
        if scenario.duration != nil { scenario.drain = drain }
        scenario.pushTimeout = random.spread(5_000_000, 1_500_000_000)
        scenario.connectTimeout = random.spread(20_000_000, 1_000_000_000)
        scenario.pingInterval = random.spread(20_000_000, 5_000_000_000)
        scenario.pingTimeout = random.spread(20_000_000, 1_000_000_000)
        scenario.giveUpAfter = random.spread(50_000_000, 2_000_000_000)
        scenario.retryLimit = random.chance(0.5) ? 10 : random.below(4)
    }

    private mutating func drawRetries(_ random: inout Random) {
        guard random.chance(0.4) else { return }
        scenario.retry = random.pick(["429", "5xx", "connection", "429,5xx,connection"])
        scenario.retryAttempts = random.spread(1, 5)
        scenario.retryBackoff = random.spread(1_000_000, 200_000_000)
        scenario.retryBudget = random.pick([0, 0.05, 0.1, 0.5, 1])
    }

    // MARK: The mock's side

    private mutating func drawMock(_ random: inout Random) {
        mock.ledgerCapacity = 1 << 20
        mock.allStreamsAtOnce = random.chance(0.5)
        if random.chance(0.4) { mock.maxConcurrentStreams = UInt32(random.spread(1, 1000)) }
        if random.chance(0.3) { mock.streamWindow = UInt32(random.spread(50, 65_535)) }
        if random.chance(0.4) { mock.connectionWindow = UInt32(random.spread(65_535, 200_000)) }
        if random.chance(0.3) { mock.headerTableSize = random.pick([0, 64, 200]) }
        if random.chance(0.1) { mock.requestTimeout = random.spread(5_000_000, 500_000_000) }
        if random.chance(0.1) { mock.idleTimeout = random.spread(50_000_000, 500_000_000) }
        if random.chance(0.05) { mock.maxWaitingAnswers = 10 }
        if random.chance(0.2) { mock.environment = .development }
        mock.faults.seed = random.next()
    }

    private mutating func drawFaults(_ random: inout Random) {
        if random.chance(0.7) {
            var rule = FaultRule()
            if random.chance(0.6) {
                let time = random.spread(10_000, 100_000_000)
                rule.latency = random.pick([
                    .fixed(time), .uniform(time / 10, time), .logNormal(time, 0.8), .normal(time, time / 3),
                ])
            }
            if random.chance(0.4) {
                rule.rejections = [
                    .init(.serviceUnavailable, share: random.scale(0.01, 0.4)),
                    .init(.tooManyRequests, share: random.scale(0.01, 0.2)),
                    .init(.badDeviceToken, share: random.scale(0.01, 0.2)),
                ]
            }
            if random.chance(0.2) { rule.silentShare = random.scale(0.002, 0.1) }
            if random.chance(0.2) {
                rule.resetShare = random.scale(0.002, 0.1)
                rule.resetCode = random.pick([.refusedStream, .internalError, .cancel, .enhanceYourCalm])
            }
            if random.chance(0.3) {
                rule.burst = .init(length: random.spread(1_000_000, 200_000_000), period: 300_000_000)
            }
            mock.faults.rules = [rule]
        }
        if random.chance(0.15) { mock.faults.connections.goAwayAfter = random.spread(1, 300) }
        if random.chance(0.1) { mock.faults.connections.goAwayAge = random.spread(5_000_000, 500_000_000) }
        if random.chance(0.1) { mock.faults.connections.tcpResetEvery = random.spread(5_000_000, 500_000_000) }
        if random.chance(0.1) { mock.faults.connections.handshakeFailureShare = random.scale(0.05, 0.9) }
        if random.chance(0.1) { mock.faults.connections.slowReading = random.scale(20_000, 2_000_000) }
        if random.chance(0.15) { drawSettings(&random) }
        if random.chance(0.15) {
            mock.faults.link.roundTrip = random.spread(10_000, 50_000_000)
            if random.chance(0.5) { mock.faults.link.jitter = random.spread(1_000, 10_000_000) }
            if random.chance(0.3) { mock.faults.link.bandwidth = random.scale(50_000, 10_000_000) }
        }
    }

    private mutating func drawSettings(_ random: inout Random) {
        for number in 0...random.below(4) {
            var change = ConnectionFaults.SettingsChange(
                after: UInt64(number + 1) * random.spread(2_000_000, 100_000_000))
            if random.chance(0.5) { change.maxConcurrentStreams = UInt32(random.spread(1, 500)) }
            if random.chance(0.5) { change.streamWindow = random.pick([1, 50, 200, 65_535]) }
            if random.chance(0.3) { change.headerTableSize = random.pick([0, 64, 4096]) }
            if random.chance(0.2) { change.maxFrameSize = 20_000 }
            mock.faults.connections.settings.append(change)
        }
        mock.faults.connections.repeatsSettings = random.chance(0.5)
    }
}
