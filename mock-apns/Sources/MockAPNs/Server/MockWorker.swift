import Glibc
import HTTP2
import Logging
import Measurement
import Networking
import Payloads
import Settings

/// One thread's event loop over its own connections, and over its listeners for its `ConnectionDealer`.
final class MockWorker {
    let configuration: MockConfiguration
    let loop: EventLoop
    let answers: AnswerBlocks
    /// What it has of the default namespace, which connections belong to.
    let home: WorkerNamespace
    /// Of the request that is at hand; `home` where there is none.
    @exclusivity(unchecked) private var current: Unmanaged<WorkerNamespace>
    /// The current namespace's.
    @exclusivity(unchecked) private(set) var statistics: MockStatistics
    /// What nobody asks for any more.
    private let uncounted = MockStatistics()
    /// nil: there is the default one only.
    private let namespaces: WorkerNamespaces?
    let hasNamespaces: Bool
    /// Requests are kept for whoever asks.
    let keepsPushes: Bool
    /// How many namespaces' worth of requests are kept.
    private static let fullNamespaces = 16
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// What connections receive and send is put in.
    private let buffers: BufferPool
    /// Four TLS records, and an alert or so.
    static let bufferSize = 66_560
    let sessionSettings: SessionSettings
    var hub: EventHub { shared.hub }
    /// Read once a round of the loop: UNIX milliseconds and seconds, and ns of the monotonic clock.
    private(set) var unixMilliseconds: Int64 = 0
    private(set) var unixTime: Int64 = 0
    @exclusivity(unchecked) private(set) var now: UInt64 = 0
    /// New requests are refused with 503 Shutdown.
    @exclusivity(unchecked) var isShuttingDown = false
    let log: MockLog
    @exclusivity(unchecked) private var marks: LedgerMarks
    /// nil: nothing is recorded.
    private let recorder: PushRecorder?

    private let shared: MockShared
    private let fleets: DeviceFleets?
    /// When something is due in its own fleet; `UInt64.max`: nothing is planned.
    @exclusivity(unchecked) private var fleetDue = UInt64.max
    let number: Int
    private let inbox: MockInbox
    private let tls: TLSContext?
    private(set) var connections: [UInt64: MockConnection] = [:]
    private var lagging: [MockConnection] = []
    @exclusivity(unchecked) private var later = LaterWork()
    /// Bytes that wait for clients, of all connections.
    private(set) var held = 0
    private var nextTick: UInt64 = 0

    init(
        _ shared: MockShared, tls: TLSContext?, inbox: MockInbox, number: Int, loop: EventLoop? = nil,
        seed: UInt64 = .random(in: .min ... .max)
    ) throws(NetworkError) {
        self.shared = shared
        fleets = shared.fleets
        configuration = shared.configuration
        self.tls = tls
        self.inbox = inbox
        self.number = number
        log = MockLog(shared.logger)
        self.loop = if let loop { loop } else { try Reactor() }
        answers = AnswerBlocks(seed: seed, startTime: self.loop.unixSeconds)
        let tokens = TokenCache(configuration.accounts, updates: shared.tokenUpdates)
        let room = RecentPushes.Room(Self.fullNamespaces * configuration.keptPushes)
        let home = WorkerNamespace(
            shared.home, shared, tokens: tokens, answers: answers, room: room, number: number)
        self.home = home
        namespaces = shared.namespaces.map { [answers] registry in
            WorkerNamespaces(registry, home: home) {
                WorkerNamespace($0, shared, tokens: tokens, answers: answers, room: room, number: number)
            }
        }
        hasNamespaces = namespaces != nil
        keepsPushes = home.recent.isOn
        current = .passUnretained(home)
        statistics = home.statistics
        marks = LedgerMarks(shared.book, statistics)
        recorder = configuration.recording.map { PushRecorder($0, worker: number) }
        readBuffer = .allocate(capacity: 65_536)
        buffers = BufferPool(capacity: Self.bufferSize)
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

    var isSecure: Bool { tls != nil }
    /// How long a client that was told to go away may take to close.
    var lingerTime: UInt64 { isShuttingDown ? 1_000_000_000 : 5_000_000_000 }

    /// Serves until the inbox says stop.
    ///
    /// - Parameter dealer: who accepts connections.
    func run(_ dealer: ConnectionDealer) {
        var goAwayAt: UInt64?
        var endAt: UInt64 = .max
        readClocks()
        while now < endAt, !(endAt != .max && connections.isEmpty) {
            stall()
            let count = loop.wait(timeout: lagging.isEmpty ? patience() : 0)
            readClocks()
            takeIn(count, dealer)
            if now >= nextTick {
                tick()
                if goAwayAt == nil { serve(dealer.resume()) }
            }
            if inbox.isStopping, goAwayAt == nil {
                isShuttingDown = true
                goAwayAt = now + configuration.shutdownGrace
            }
            if let time = goAwayAt, now >= time, endAt == .max {
                endAt = now + 2_000_000_000
                dealer.rest()
                for connection in Array(connections.values) {
                    connection.shutDown()
                    if connection.isClosed { remove(connection) }
                }
            }
        }
        end()
        AllocationCount.flushThread()
    }

    /// What a round of the loop found, and what is due.
    private func takeIn(_ count: Int, _ dealer: ConnectionDealer?) {
        runTasks(inbox.take())
        handleLagging()
        for index in 0..<count {
            let event = loop.event(at: index)
            if event.token >= ConnectionDealer.firstToken {
                serve(dealer?.accept(at: event.token) ?? [])
            } else if let connection = connections[event.token] {
                handle(connection, event.readiness)
            }
        }
        if !later.isEmpty { doWhatIsDue() }
        if let fleets { fleetDue = fleets.advance(number, now: now) }
    }

    /// Lets go of all connections, and of those that were on their way here.
    func end() {
        runTasks(inbox.close())
        for connection in connections.values { connection.close() }
        connections = [:]
        lagging = []
        recorder?.flush()
    }

    /// One round of the loop for who drives it by hand: takes in what is there, waits for nothing, accepts nobody.
    func turn() {
        let count = loop.wait(timeout: 0)
        readClocks()
        takeIn(count, nil)
        if now >= nextTick { tick() }
    }

    /// For who drives it by hand: when it wants to be turned though nothing came, ns; at once when input is left.
    var nextTurn: UInt64 { lagging.isEmpty ? min(nextTick, nextDue) : 0 }

    private func tick() {
        nextTick = now + tickInterval
        recorder?.flush()
        if let failure = configuration.recording?.takeFailure() { log.warning("\(failure); nothing more is recorded") }
        // In the order they came, so that a seed replays it.
        for connection in connections.values.sorted(by: { $0.token < $1.token }) {
            connection.tick(now: now)
            look(connection)
        }
    }

    private func handleLagging() {
        guard !lagging.isEmpty else { return }
        let again = lagging
        lagging.removeAll(keepingCapacity: true)
        for connection in again {
            connection.isLagging = false
            handle(connection, .readable)
        }
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
        guard dice.plan.connections.stallEvery != nil else { return }
        var left = dice.plan.connections.stallLeft(at: loop.now - shared.startedAt)
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
        dice.plan.connections.areTimed || isShuttingDown ? 10_000_000 : 250_000_000
    }

    // MARK: Namespaces

    /// The namespace of a request is the current one until `leave`.
    func enter(_ state: RequestState, _ client: RequestChecks.Client, _ role: ListenerRole) {
        guard let namespaces else { return }
        state.namespace = namespaces.place(state, client, role, unixTime: unixTime)
        use(namespaces.at(state.namespace))
    }

    /// Does something in the namespace of a request that was there before. What was asked before a reset is counted nowhere after it.
    func again(_ state: RequestState, _ body: () -> Void) {
        let before = (current, statistics)
        if let namespaces { use(namespaces.at(state.namespace)) }
        if isBeforeReset(state) { statistics = uncounted }
        body()
        (current, statistics) = before
    }

    /// The current namespace, which is its own, has begun anew since the request waits.
    func isBeforeReset(_ state: RequestState) -> Bool {
        state.restarts != restarts || namespaces?.isForgotten(state.namespace) == true
    }

    /// The same, by what it is known by.
    func enter(namespace: Int) {
        if let namespaces { use(namespaces.at(namespace)) }
    }

    func leave() { use(home) }

    private func use(_ namespace: WorkerNamespace) {
        current = .passUnretained(namespace)
        statistics = namespace.statistics
    }

    /// All that it has.
    var allNamespaces: [WorkerNamespace] { namespaces?.all ?? [home] }

    // What the request at hand is judged by, without counting references.

    var dice: FaultDice {
        @inline(__always) get { current._withUnsafeGuaranteedRef { $0.dice } }
        @inline(__always) _modify { yield &current._withUnsafeGuaranteedRef { $0 }.dice }
    }

    var restarts: UInt32 { current._withUnsafeGuaranteedRef { $0.restarts } }
    var rulings: Int { current._withUnsafeGuaranteedRef { $0.rulings } }
    var checks: RequestChecks { current._withUnsafeGuaranteedRef { $0.checks } }
    var channelRequests: ChannelRequests { current._withUnsafeGuaranteedRef { $0.channelRequests } }

    @inline(__always)
    func judge(_ state: RequestState, client: inout RequestChecks.Client) -> RequestChecks.Answer {
        current._withUnsafeGuaranteedRef { $0.checks.judge(state, client: &client, unixTime: unixTime, now: now) }
    }

    // MARK: Later

    /// One more answer may wait.
    var hasRoomForAnswers: Bool { later.waiting < configuration.maxWaitingAnswers }

    /// The answer waits as long as `rule` says.
    func answerLater(_ answer: PushAnswer, _ state: RequestState, connection: UInt64, _ rule: FaultRule) {
        state.isWaiting = true
        state.restarts = restarts
        later.add(answer, connection: connection, stream: state.stream, due: now + dice.latency(rule))
    }

    /// The stream of an answer that waits is over.
    func abandonAnswer() {
        later.abandon { connection, stream in connections[connection]?.session?.isWaiting(stream) == true }
    }

    func linkIsDue(at time: UInt64, connection: UInt64) { later.add(link: connection, at: time) }

    /// - Parameter pause: ns from now.
    func doLater(_ work: ScriptedWork, connection: UInt64, after pause: UInt64) {
        later.add(work, connection: connection, due: now &+ min(pause, 1 << 62))
    }

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
            case .script(let work, let token):
                guard let connection = connections[token], !connection.isClosed else { continue }
                connection.session?.doScripted(work)
                if touched.last !== connection { touched.append(connection) }
            }
        }
        for connection in touched {
            connection.flushAnswers()
            look(connection)
        }
    }

    // MARK: Connections

    private func handle(_ connection: MockConnection, _ readiness: Readiness) {
        if connection.handle(readiness) { lag(connection) }
        look(connection)
    }

    private func lag(_ connection: MockConnection) {
        guard !connection.isLagging else { return }
        connection.isLagging = true
        lagging.append(connection)
    }

    /// After anything was done with it: what it holds now, whether it is over, and whether it may read on though nothing comes.
    private func look(_ connection: MockConnection) {
        if connection.isClosed {
            remove(connection)
        } else {
            noteHeld(connection)
            if connection.wantsTurn { lag(connection) }
        }
    }

    /// Closes those who hold most when more waits for clients than may, until an eighth is free again: looking for them takes time.
    private func noteHeld(_ connection: MockConnection) {
        held += connection.noteHeld()
        guard held > configuration.mostHeld else { return }
        for heaviest in connections.values.sorted(by: { ($0.held, $1.token) > ($1.held, $0.token) }) {
            if held <= configuration.mostHeld / 8 * 7 { return }
            MockStatistics.increment(statistics.bounds.crowded)
            log.debug("connection \(heaviest.token): \(heaviest.held) bytes wait for its client, too many")
            heaviest.drop()
            remove(heaviest)
        }
    }

    private func remove(_ connection: MockConnection) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        held += connection.noteHeld()
        shared.spread.ended(number)
        statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
        log.debug("connection \(connection.token) closed")
    }

    private func serve(_ accepted: [(descriptor: Int32, role: ListenerRole)]) {
        for own in accepted { adopt(own.descriptor, own.role) }
    }

    private func adopt(_ descriptor: Int32, _ role: ListenerRole) {
        guard connections.count < configuration.maxConnections else {
            shared.spread.ended(number)
            close(descriptor)
            return
        }
        do throws(NetworkError) {
            adopt(
                try SocketStream(accepted: descriptor, tls: tls, options: .accepted, gathering: buffers), role)
        } catch {
            shared.spread.ended(number)
            log.warning("\(error)")
        }
    }

    /// Serves a connection that the `ConnectionSpread` has given to this worker.
    func adopt(_ stream: ByteStream, _ role: ListenerRole) {
        let token = shared.spread.nextNumber()
        let connection = MockConnection(token: token, role: role, stream: stream, worker: self, now: now)
        connections[token] = connection
        MockStatistics.increment(statistics.connectionsAccepted)
        statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
        handle(connection, [])
    }

    // MARK: Pushes

    /// Notes an accepted push in its run's ledger, and when it came if it is one whose times are wanted.
    @inline(__always)
    func tickOff(_ trace: (run: RunID, sequence: UInt64)?, _ state: RequestState) {
        marks.tickOff(trace, state, now: now)
    }

    /// Notes that the answers to these samples leave now.
    func noteDepartures(_ samples: [Int]) { marks.noteDepartures(samples, now: loop.now) }

    /// Hands an accepted push on to its device.
    ///
    /// - Returns: a reason when that cannot be.
    @inline(__always)
    func deliver(_ state: RequestState, _ trace: (run: RunID, sequence: UInt64)?) -> Reason? {
        current._withUnsafeGuaranteedRef {
            $0.handOver.deliver(
                state, marks.traced(trace), listed: $0.checks.members?.found ?? .init(start: nil, count: 0),
                .init(now: now, unixMilliseconds: unixMilliseconds))
        }
    }

    /// Notes what a request was answered, for whoever asks.
    @inline(__always)
    func note(
        _ state: RequestState, _ answer: PushAnswer, connection: UInt64, _ environment: PushEnvironment
    ) {
        current._withUnsafeGuaranteedRef { $0.topics.note(state.value(.topic), isAccepted: answer.isAccepted) }
        if keepsPushes { keep(state, answer, nil, connection: connection, environment) }
        if log.isVerbose { say(state, answer, connection: connection) }
        if recorder != nil { record(state, answer, connection: connection) }
    }

    @inline(never)
    private func say(_ state: RequestState, _ answer: PushAnswer, connection: UInt64) {
        let certificate = connections[connection]?.session?.client.certificate
        let cause = answer.reason.flatMap {
            checks.cause(of: $0, state, certificate: certificate, unixTime: unixTime)
        }
        log.push(state, answer, cause: cause, connection: connection)
    }

    /// - Parameter answer: nil: it is never answered.
    @inline(never)
    private func record(_ state: RequestState, _ answer: PushAnswer?, connection: UInt64) {
        recorder?.note(
            state, answer, connection: connection, time: state.begunAt - min(state.begunAt, shared.startedAt))
    }

    /// Begins anew: counts, what is kept, and the faults' draws; of all namespaces, the marks in ledgers too.
    ///
    /// - Parameter forgotten: namespaces that are no more.
    func restart(_ choice: NamespaceChoice, forgetting forgotten: [Namespace]) {
        for namespace in allNamespaces where choice.includes(namespace.shared) { namespace.restart() }
        if choice == .all { marks.restart() }
        guard let namespaces, !forgotten.isEmpty else { return }
        let held = Set(connections.values.flatMap { $0.session?.scripted?.batches.keys.map(\.namespace) ?? [] })
        namespaces.forget(forgotten, held: held)
    }

    func useRules(of choice: NamespaceChoice) {
        for namespace in allNamespaces where choice.includes(namespace.shared) { namespace.useRules() }
    }

    /// Notes a request that gets no answer.
    func noteUnanswered(
        _ state: RequestState, _ how: RecentPushes.Unanswered, connection: UInt64, _ environment: PushEnvironment
    ) {
        if keepsPushes { keep(state, .accepted, how, connection: connection, environment) }
        record(state, nil, connection: connection)
    }

    /// A request that was noted with the answer it was to get does not get it.
    func noteAbandoned(_ state: RequestState) {
        guard keepsPushes else { return }
        current._withUnsafeGuaranteedRef { $0.recent.abandon(state.keptAs) }
        shared.watch.tell()
    }

    private func keep(
        _ state: RequestState, _ answer: PushAnswer, _ how: RecentPushes.Unanswered?, connection: UInt64,
        _ environment: PushEnvironment
    ) {
        state.keptAs = shared.watch.next()
        current._withUnsafeGuaranteedRef { namespace in
            namespace.recent.add(
                .init(
                    state, answer, how, identifier: answers.identifier(of: state),
                    unique: answers.uniqueIdentifier(of: state),
                    .init(
                        number: state.keptAs, namespace: namespace.shared.name, connection: connection,
                        environment: environment, time: unixMilliseconds)))
        }
        shared.watch.tell()
    }
}
