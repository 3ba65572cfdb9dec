import Glibc
import HTTP2
import Logging
import Measurement
import Networking
import Payloads
import Settings

/// What all workers of a server share.
struct MockShared: Sendable {
    let configuration: MockConfiguration
    let directory: DeviceDirectory
    let tokenUpdates: TokenUpdates
    let channels: ChannelDirectory
    let hub: EventHub
    let desk: DeliveryDesk
    /// nil: there is no device model.
    let fleets: DeviceFleets?
    let book: LedgerBook
    let logger: Logger
    /// Monotonic nanoseconds.
    let startedAt: UInt64

    init(
        _ configuration: MockConfiguration, hub: EventHub, logger: Logger, startedAt: UInt64 = MonotonicClock.now()
    ) {
        self.configuration = configuration
        self.hub = hub
        self.logger = logger
        self.startedAt = startedAt
        let startTime = MonotonicClock.unixMilliseconds()
        directory = DeviceDirectory(
            configuration.population, decay: configuration.decay, developmentShare: configuration.developmentShare,
            seed: configuration.delivery.seed, startedAt: startedAt, startTime: startTime)
        tokenUpdates = TokenUpdates(configuration.tokenUpdates)
        channels = ChannelDirectory(limit: configuration.channelLimit, enabled: configuration.broadcastTopics)
        desk = DeliveryDesk(configuration.delivery, directory: directory, hub: hub, startedAt: startedAt)
        fleets = configuration.deviceModel.map {
            DeviceFleets(
                $0, seed: configuration.delivery.seed, count: max(1, configuration.threads), startedAt: startedAt,
                startTime: startTime)
        }
        book = LedgerBook(capacity: configuration.ledgerCapacity, timesInterval: configuration.timesInterval)
    }
}

/// One thread's event loop over its own connections. Worker 0 also accepts, and deals connections out in turn.
final class MockWorker {
    let configuration: MockConfiguration
    let loop: EventLoop
    let statistics: MockStatistics
    let checks: RequestChecks
    let channelRequests: ChannelRequests
    let answers: AnswerBlocks
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    let sessionSettings: SessionSettings
    var hub: EventHub { shared.hub }
    /// Read once a round of the loop: UNIX milliseconds and seconds, and ns of the monotonic clock.
    private(set) var unixMilliseconds: Int64 = 0
    private(set) var unixTime: Int64 = 0
    @exclusivity(unchecked) private(set) var now: UInt64 = 0
    @exclusivity(unchecked) var dice: FaultDice
    /// New requests are refused with 503 Shutdown.
    @exclusivity(unchecked) private(set) var isShuttingDown = false
    let topics = TopicCounts()
    @exclusivity(unchecked) private(set) var recent: RecentPushes

    private let shared: MockShared
    private let fleets: DeviceFleets?
    /// When something is due in its own fleet; `UInt64.max`: nothing is planned.
    @exclusivity(unchecked) private var fleetDue = UInt64.max
    let number: Int
    private let inbox: MockInbox
    private let tls: TLSContext?
    private let logger: Logger
    private let isVerbose: Bool
    let tracesFrames: Bool
    private(set) var connections: [UInt64: MockConnection] = [:]
    private var lagging: [MockConnection] = []
    @exclusivity(unchecked) private var later = LaterWork()
    private var nextToken = UInt64(MockWorker.mostListeners)
    private var nextTick: UInt64 = 0
    @exclusivity(unchecked) private var current: LedgerBook.Entry?
    /// How often there was no descriptor for a connection since all that waited were accepted.
    private var refusals: UInt64 = 0
    /// Tokens below are the listeners'.
    static let mostListeners = 16

    init(
        _ shared: MockShared, tls: TLSContext?, inbox: MockInbox, statistics: MockStatistics, number: Int,
        loop: EventLoop? = nil, seed: UInt64 = .random(in: .min ... .max)
    ) throws(NetworkError) {
        self.shared = shared
        fleets = shared.fleets
        configuration = shared.configuration
        self.tls = tls
        self.inbox = inbox
        self.statistics = statistics
        self.number = number
        logger = shared.logger
        isVerbose = shared.logger.logLevel <= .debug
        tracesFrames = shared.logger.logLevel <= .trace
        self.loop = if let loop { loop } else { try Reactor() }
        checks = RequestChecks(
            topics: configuration.topics, directory: shared.directory,
            tokens: TokenCache(configuration.accounts, updates: shared.tokenUpdates),
            members: fleets == nil ? nil : MemberList(), fleets: fleets)
        channelRequests = ChannelRequests(checks: checks, channels: shared.channels)
        answers = AnswerBlocks(seed: seed, startTime: self.loop.unixSeconds)
        dice = FaultDice(configuration.faults, worker: number)
        recent = RecentPushes(capacity: configuration.adminPort == nil ? 0 : configuration.keptPushes)
        readBuffer = .allocate(capacity: 65_536)
        var settings = SessionSettings()
        settings.maxConcurrentStreams = configuration.maxConcurrentStreams
        settings.streamWindow = configuration.streamWindow
        settings.connectionWindow = configuration.connectionWindow
        settings.maxFrameSize = configuration.maxFrameSize
        settings.headerTableSize = configuration.headerTableSize
        settings.maxHeaderListSize = UInt32(RequestState.headerCapacity)
        sessionSettings = settings
    }

    deinit {
        readBuffer.deallocate()
    }

    /// Nanoseconds since the server's start.
    var age: UInt64 { now - shared.startedAt }
    var isSecure: Bool { tls != nil }
    /// How long a client that was told to go away may take to close.
    var lingerTime: UInt64 { isShuttingDown ? 1_000_000_000 : 5_000_000_000 }

    /// Serves until the inbox says stop.
    ///
    /// - Parameters:
    ///   - listeners: of worker 0; none for the others.
    ///   - peers: all workers' inboxes and wake-ups, to deal connections out to.
    func run(
        listeners: [(listener: Listener, role: ListenerRole)], peers: [(inbox: MockInbox, wakeUp: WakeUp)]
    ) {
        for (index, entry) in listeners.enumerated() {
            loop.add(entry.listener.descriptor, token: UInt64(index), interest: .readable)
        }
        var turn = 0
        var isAccepting = true
        var goAwayAt: UInt64?
        var endAt: UInt64 = .max
        readClocks()
        while now < endAt, !(endAt != .max && connections.isEmpty) {
            stall()
            let count = loop.wait(timeout: lagging.isEmpty ? patience() : 0)
            readClocks()
            runTasks(inbox.take())
            handleLagging()
            for index in 0..<count {
                let event = loop.event(at: index)
                if event.token < UInt64(listeners.count) {
                    let entry = listeners[Int(event.token)]
                    isAccepting = accept(entry.listener, entry.role, peers, &turn) && isAccepting
                    if !isAccepting { rest(listeners) }
                } else {
                    handle(event)
                }
            }
            if !later.isEmpty { doWhatIsDue() }
            if let fleets { fleetDue = fleets.advance(number, now: now) }
            if now >= nextTick {
                tick()
                if !isAccepting, goAwayAt == nil {
                    for (index, entry) in listeners.enumerated() {
                        loop.modify(entry.listener.descriptor, token: UInt64(index), interest: .readable)
                    }
                    isAccepting = true
                }
            }
            if inbox.isStopping, goAwayAt == nil {
                isShuttingDown = true
                goAwayAt = now + configuration.shutdownGrace
            }
            if let time = goAwayAt, now >= time, endAt == .max {
                endAt = now + 2_000_000_000
                rest(listeners)
                for connection in Array(connections.values) {
                    connection.shutDown()
                    if connection.isClosed { remove(connection) }
                }
            }
        }
        end()
        AllocationCount.flushThread()
    }

    /// Lets go of all connections, and of those that were on their way here.
    func end() {
        runTasks(inbox.close())
        for connection in connections.values { connection.close() }
        connections = [:]
        lagging = []
    }

    /// One round of the loop for who drives it by hand: takes in what is there, waits for nothing, accepts nobody.
    func turn() {
        let count = loop.wait(timeout: 0)
        readClocks()
        runTasks(inbox.take())
        handleLagging()
        for index in 0..<count { handle(loop.event(at: index)) }
        if !later.isEmpty { doWhatIsDue() }
        if let fleets { fleetDue = fleets.advance(number, now: now) }
        if now >= nextTick { tick() }
    }

    /// For who drives it by hand: when it wants to be turned though nothing came, ns; at once when input is left.
    var nextTurn: UInt64 { lagging.isEmpty ? min(nextTick, nextDue) : 0 }

    private func tick() {
        nextTick = now + tickInterval
        // In the order they came, so that a seed replays it.
        for connection in connections.values.sorted(by: { $0.token < $1.token }) {
            connection.tick(now: now)
            if connection.isClosed { remove(connection) }
        }
    }

    private func handle(_ event: ReadyEvent) {
        if let connection = connections[event.token] { handle(connection, event.readiness) }
    }

    private func handleLagging() {
        guard !lagging.isEmpty else { return }
        let again = lagging
        lagging.removeAll(keepingCapacity: true)
        for connection in again { handle(connection, .readable) }
    }

    private func readClocks() {
        unixMilliseconds = loop.unixMilliseconds
        unixTime = unixMilliseconds / 1000
        readClock()
    }

    func readClock() { now = loop.now }

    private func runTasks(_ tasks: [MockInbox.Task]) {
        for task in tasks {
            switch task {
            case .adopt(let descriptor, let role): adopt(descriptor, role)
            case .perform(let work): work(self)
            }
        }
    }

    /// Does nothing at all while the plan says that the server is stalled.
    private func stall() {
        let faults = dice.plan.connections
        guard let every = faults.stallEvery, every > 0 else { return }
        // A stall ends each period, so that the server's start is not one.
        let place = (loop.now - shared.startedAt) % every
        guard place >= every - faults.stallLength else { return }
        var left = every - place
        while left > 0, !inbox.isStopping {
            let piece = min(left, 50_000_000)
            usleep(UInt32(piece / 1000 + 1))
            left -= piece
        }
    }

    private var nextDue: UInt64 { min(later.nextDue ?? .max, fleetDue) }

    /// How long to wait for the network: until the next thing is due, or the next tick.
    private func patience() -> UInt64 {
        let due = nextDue
        guard due != .max else { return tickInterval }
        let time = loop.now
        return due > time ? min(due - time, tickInterval) : 0
    }

    /// Looks after connections so often; more often when something is to happen to them at a time.
    private var tickInterval: UInt64 {
        let faults = dice.plan.connections
        let isTimed =
            faults.tcpResetEvery != nil || faults.goAwayAge != nil || faults.stallEvery != nil
            || !faults.settings.isEmpty
        return isTimed || isShuttingDown ? 10_000_000 : 250_000_000
    }

    // MARK: Later

    /// - Returns: false when too many answers are waiting already.
    func answerLater(_ answer: PushAnswer, connection: UInt64, stream: Int32, _ rule: FaultRule) -> Bool {
        guard later.waiting < configuration.maxWaitingAnswers else { return false }
        later.add(answer, connection: connection, stream: stream, due: now + dice.latency(rule))
        return true
    }

    /// The stream of an answer that waits is over.
    func abandonAnswer() {
        later.abandon { connection, stream in connections[connection]?.session?.isWaiting(stream) == true }
    }

    func linkIsDue(at time: UInt64, connection: UInt64) { later.add(link: connection, at: time) }

    private func doWhatIsDue() {
        readClock()
        var touched: [MockConnection] = []
        while let due = later.take(now: now) {
            switch due {
            case .answer(let answer, let token, let stream):
                let connection = connections[token]
                let isGiven = connection?.respond(stream: stream, answer) == true
                later.didEnd(isGiven: isGiven)
                guard isGiven, let connection else { continue }
                if touched.last !== connection { touched.append(connection) }
            case .link(let token, let time):
                guard let connection = connections[token] else { continue }
                connection.linkIsDue(time)
                if touched.last !== connection { touched.append(connection) }
            }
        }
        for connection in touched {
            connection.flushAnswers()
            if connection.isClosed { remove(connection) }
        }
    }

    // MARK: Connections

    private func handle(_ connection: MockConnection, _ readiness: Readiness) {
        if connection.handle(readiness) { lagging.append(connection) }
        if connection.isClosed { remove(connection) }
    }

    private func remove(_ connection: MockConnection) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
        log("connection \(connection.token) closed")
    }

    private func rest(_ listeners: [(listener: Listener, role: ListenerRole)]) {
        for (index, entry) in listeners.enumerated() {
            loop.modify(entry.listener.descriptor, token: UInt64(index), interest: [])
        }
    }

    /// - Returns: false when the process has no descriptor left: accepting rests until the next tick.
    private func accept(
        _ listener: Listener, _ role: ListenerRole, _ peers: [(inbox: MockInbox, wakeUp: WakeUp)],
        _ turn: inout Int
    ) -> Bool {
        while true {
            switch listener.accept() {
            case .none:
                // Nobody waits any more.
                if refusals > 0 {
                    logger.warning(
                        "all connections are accepted again, after \(Units.counted(refusals, "try")) without a descriptor"
                    )
                    refusals = 0
                }
                return true
            case .exhausted:
                if refusals == 0 { logger.warning("no file descriptor left for another connection") }
                refusals += 1
                return false
            case .descriptor(let descriptor):
                let place = turn % peers.count
                turn += 1
                if place == 0 {
                    adopt(descriptor, role)
                } else if peers[place].inbox.put(.adopt(descriptor, role)) {
                    peers[place].wakeUp.signal()
                } else {
                    close(descriptor)
                }
            }
        }
    }

    private func adopt(_ descriptor: Int32, _ role: ListenerRole) {
        guard connections.count < configuration.maxConnections else {
            close(descriptor)
            return
        }
        do throws(NetworkError) {
            adopt(try SocketStream(accepted: descriptor, tls: tls, options: SocketOptions()), role)
        } catch {
            logger.warning("\(error)")
        }
    }

    /// Serves a connection.
    func adopt(_ stream: ByteStream, _ role: ListenerRole) {
        let connection = MockConnection(token: nextToken, role: role, stream: stream, worker: self, now: now)
        connections[nextToken] = connection
        nextToken += 1
        MockStatistics.increment(statistics.connectionsAccepted)
        statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
        handle(connection, [])
    }

    // MARK: Pushes

    /// Notes an accepted push in its run's ledger, and when it came if it is one whose times are wanted.
    @inline(__always)
    func tickOff(_ trace: (run: RunID, sequence: UInt64)?, _ state: RequestState) {
        guard let trace else {
            shared.book.countUntracked()
            return
        }
        if trace.run.rawValue != current?.run { current = shared.book.entry(run: trace.run.rawValue) }
        guard let current else {
            shared.book.countUntracked()
            return
        }
        current.ledger.mark(trace.sequence)
        if let times = current.times {
            state.timesSample = times.sample(trace.sequence)
            if state.timesSample >= 0 { times.note(.arrival, sample: state.timesSample, at: now) }
        }
    }

    /// Notes that the answers to these samples leave now.
    func noteDepartures(_ samples: [Int]) {
        guard let times = shared.book.runs.first?.times else { return }
        let now = loop.now
        for sample in samples { times.note(.departure, sample: sample, at: now) }
    }

    /// Hands an accepted push on to its device.
    ///
    /// - Returns: a reason when that cannot be.
    @inline(__always)
    func deliver(_ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?) -> Reason? {
        if let fleets { return handOver(state, trace, to: fleets) }
        guard shared.desk.isIdle else { return handOver(state) }
        MockStatistics.increment(statistics.deliveredAtOnce)
        return nil
    }

    private func handOver(_ state: RequestState) -> Reason? {
        let key = TokenKey(state.deviceToken)
        if let reason = shared.desk.admit(key, now: now) { return reason }
        return shared.desk.deliver(delivered(state, key), now: now, unixTime: unixTime)
    }

    /// To its device, whose model says what comes of it. Who watches sees it at once.
    private func handOver(
        _ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?, to fleets: DeviceFleets
    ) -> Reason? {
        if configuration.delivery.perDeviceLimit != nil,
            let reason = shared.desk.admit(TokenKey(state.deviceToken), now: now)
        {
            return reason
        }
        let isOffline =
            shared.directory.mayBeOffline && shared.directory.record(TokenKey(state.deviceToken))?.isOffline == true
        let outcome = fleets.receive(
            state, listed: checks.members?.found ?? .init(start: nil, count: 0), sequence: trace?.sequence,
            isOffline: isOffline, now: now, by: number)
        MockStatistics.increment(statistics.deliveredAtOnce)
        if hub.isWatched {
            var push = delivered(state, TokenKey(state.deviceToken))
            push.outcome = outcome
            hub.post([push])
        }
        return nil
    }

    private func delivered(_ state: RequestState, _ key: TokenKey) -> DeliveredPush {
        DeliveredPush(
            token: state.deviceTokenText.lowercased(), key: key, channel: nil, topic: state.text(.topic),
            pushType: state.pushType, priority: state.priority,
            identifier: identifier(of: state),
            collapseID: state.has(.collapseID) ? state.text(.collapseID) : nil,
            expiration: state.has(.expiration) ? Int64(state.text(.expiration)) : nil, acceptedAt: unixMilliseconds,
            payload: Array(state.body))
    }

    /// The `apns-id` that the answer has or will have: the request's when that is a UUID.
    private func identifier(of state: RequestState) -> String {
        if state.has(.identifier), RequestChecks.isUUID(state.value(.identifier)) { return state.text(.identifier) }
        let drawn = state.drawnIdentifier ?? answers.draw()
        state.drawnIdentifier = drawn
        return answers.text(drawn)
    }

    /// Notes what a request was answered, for whoever asks.
    @inline(__always)
    func note(_ state: RequestState, _ answer: PushAnswer, connection: UInt64) {
        topics.note(state.value(.topic), isAccepted: answer.reason == nil)
        if recent.isOn { keep(state, answer, connection: connection) }
        if isVerbose { logPush(state, answer, connection: connection) }
    }

    private func keep(_ state: RequestState, _ answer: PushAnswer, connection: UInt64) {
        recent.add(
            .init(
                time: unixMilliseconds, status: answer.reason?.status ?? 200, reason: answer.reason?.name,
                identifier: identifier(of: state),
                token: state.deviceTokenText.lowercased(), topic: state.text(.topic), pushType: state.pushType,
                priority: state.priority, collapseID: state.has(.collapseID) ? state.text(.collapseID) : nil,
                expiration: state.has(.expiration) ? state.text(.expiration) : nil, connection: connection,
                payload: Array(state.body)))
    }

    private func logPush(_ state: RequestState, _ answer: PushAnswer, connection: UInt64) {
        logger.debug(
            "push",
            metadata: [
                "connection": "\(connection)", "stream": "\(state.stream)",
                "status": "\(answer.reason?.status ?? 200)", "reason": "\(answer.reason?.name ?? "-")",
                "topic": "\(state.text(.topic))", "push_type": "\(state.pushType.rawValue)",
                "bytes": "\(state.bodyCount)",
            ])
    }

    func logFrame(_ frame: FrameSummary, isSent: Bool, connection: UInt64) {
        logger.trace("\(isSent ? "sent" : "received") \(frame)", metadata: ["connection": "\(connection)"])
    }

    /// Begins anew: counts, what is kept, and the faults' draws.
    func restart() {
        statistics.restart()
        topics.reset()
        recent.reset()
        current = nil
        dice = FaultDice(dice.plan, worker: number)
    }

    func use(_ plan: FaultPlan) { dice = FaultDice(plan, worker: number) }

    func log(_ message: @autoclosure () -> String) {
        if isVerbose { logger.debug("\(message())") }
    }
}
