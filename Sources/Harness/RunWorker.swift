import Measurement
import Networking
import Scenarios
import Signing
import Transport

/// One worker of a run: its driver and its engine, without a thread.
final class RunWorker {
    let driver: WorkerDriver
    let engine: PushClient
    private let signer: TokenSigner?
    /// CPU time of its thread since it began to send, ns, without what was spun away.
    private(set) var cpu: UInt64 = 0
    /// The same with it, ns.
    private var used: UInt64 = 0
    /// Time its thread did not wait, whether it had a core or not, ns.
    private var busy: UInt64 = 0
    /// Share of its thread's time, connecting among it, in which it could have run and had no core; nil where the kernel does
    /// not count it.
    private(set) var runQueueDelay: Double?

    /// - Parameters:
    ///   - loop: time and network; nil: the real ones.
    ///   - observe: puts itself between engine and driver.
    /// - Throws: what the system has not enough of, or what is wrong with the key.
    init(
        _ worker: Int, of load: LoadRun, loop: EventLoop? = nil,
        observe: ((PushDriver) -> PushDriver)? = nil
    ) throws {
        let inputs = load.inputs
        let options = inputs.transportOptions(worker, cores: load.cores)
        signer = try load.identity.map {
            try TokenSigner(
                identity: $0, policy: inputs.policy, shared: load.shared, firstConnection: options.firstConnection,
                connections: options.connections)
        }
        driver = WorkerDriver(
            inputs: inputs, thread: worker, state: load.state,
            box: load.boxes[worker], signer: signer)
        let told = observe?(driver) ?? driver
        let headerSets = inputs.headers.map(\.fields)
        engine = try PushClient(
            targets: load.targets, options: options, driver: told, control: load.control, headerSets: headerSets,
            tokenCapacity: inputs.population.longestToken, payloadCapacity: driver.composer.payloadCapacity, loop: loop)
        driver.freeStreams = { [unowned engine] in engine.freeStreams }
        driver.clock = { [unowned engine] in engine.now }
    }

    /// Sends its share of the pushes; blocks the calling thread.
    func run() {
        TimerSlack.minimize()
        let (before, delayBefore) = (ThreadTime.now(), ThreadTime.runQueueDelay())
        let begin = MonotonicClock.now()
        engine.run()
        let after = ThreadTime.now()
        used = after - before
        let whole = MonotonicClock.now() - begin
        busy = whole - min(whole, engine.waitTime)
        if let cpuAtStart = driver.cpuAtStart {
            let sending = after - min(after, cpuAtStart)
            cpu = sending - min(sending, engine.spinTime)
        }
        if let delayBefore, let delay = ThreadTime.runQueueDelay(), whole > 0 {
            runQueueDelay = min(1, Double(delay - min(delay, delayBefore)) / Double(whole))
        }
    }

    /// CPU time its thread spun away while it waited for a push to be due, ns.
    var spinTime: UInt64 { engine.spinTime }

    /// What went wrong last; empty when nothing did.
    var problem: String { signer?.failure?.description ?? engine.lastProblem }

    var time: WorkerTime {
        WorkerTime(
            cpu: used, spin: spinTime, transfer: engine.transferTime, socket: engine.socketTime,
            sign: driver.composer.signTime, handshake: engine.handshakeTime, busy: busy)
    }
}

extension RunInputs {
    /// The tunings of a worker's connections.
    ///
    /// - Parameter cores: that the process may use.
    func transportOptions(_ worker: Int, cores: Int) -> TransportOptions {
        var options = TransportOptions()
        options.engine = EngineKind(rawValue: scenario.engine) ?? .wire
        let own = place.part(of: scenario.connections)
        let part = RunPlace(index: worker, workers: scenario.threads).part(of: own.count)
        options.connections = part.count
        options.firstConnection = own.first + part.first
        options.streams = scenario.streams
        options.bindsPushes = replay != nil
        options.sendBatch = scenario.sendBatch
        options.readBatch = scenario.readBatch
        options.pacing = pacing(cores: cores)
        options.session.streamWindow = UInt32(scenario.streamWindow)
        options.session.connectionWindow = UInt32(scenario.connectionWindow)
        options.session.headerTableSize = UInt32(scenario.headerTableSize)
        options.session.encoderTableSize = UInt32(scenario.encoderTableSize)
        options.session.maxFrameSize = UInt32(scenario.maxFrameSize)
        options.huffman = scenario.huffman
        options.socket = SocketOptions(
            noDelay: scenario.noDelay, sendBuffer: scenario.socketSendBuffer,
            receiveBuffer: scenario.socketReceiveBuffer)
        options.connectTimeout = scenario.connectTimeout
        options.pushTimeout = scenario.pushTimeout
        options.pingInterval = scenario.pingInterval
        options.pingTimeout = scenario.pingTimeout
        options.giveUpAfter = scenario.giveUpAfter
        options.reconnectDelay = scenario.reconnectDelay
        options.reconnectDelayMax = scenario.reconnectDelayMax
        options.retryLimit = UInt8(scenario.retryLimit)
        options.seed = scenario.seed &+ share(worker).worker
        return options
    }
}

extension RunInputs {
    /// `auto` made up: spins where the cores this process may use are more than the threads that send and answer, so that one
    /// is left for everything else.
    func pacing(cores: Int) -> Pacing {
        if let pacing = Pacing(rawValue: scenario.pacing) { return pacing }
        let answering = scenario.target == nil ? scenario.mockThreads : 0
        // Threads that share a core would spin against each other.
        let haveTheirOwn = scenario.pins.map { $0.cores.count >= scenario.threads } ?? true
        return haveTheirOwn && cores > scenario.threads + answering ? .spin : .sleep
    }

    /// By how much longer than at another time a percentile of the waits may be because of the pacing, ns.
    ///
    /// - Parameter sent: pushes a second of this process; nil: what is due. A burst is no rate.
    func pacingSpread(_ percentile: Double, sent: Double? = nil) -> UInt64 {
        guard let schedule else { return 0 }
        let due = schedule.peakRate / Double(place.workers)
        let rate = min(due, sent ?? due) / Double(scenario.threads)
        guard rate.isFinite else { return 0 }
        let spread = pacing(cores: CoreAffinity.allowed().count).spread(rate: rate)
        // Waits are even between nothing and the time after which what was gathered leaves.
        return UInt64(Double(spread) * max(0.5, percentile / 100))
    }
}
