import Glibc
import HTTP2
import Logging
import Measurement
import Networking
import Payloads
import Signing
import Synchronization

/// What other threads may ask of a worker.
final class MockInbox: Sendable {
    private let descriptors = Mutex<[Int32]>([])
    private let stopping = Atomic<Bool>(false)

    func hand(_ descriptor: Int32) { descriptors.withLock { $0.append(descriptor) } }
    func take() -> [Int32] {
        descriptors.withLock { list in
            defer { list = [] }
            return list
        }
    }

    func stop() { stopping.store(true, ordering: .relaxed) }
    var isStopping: Bool { stopping.load(ordering: .relaxed) }
}

/// One thread's event loop over its own connections. Worker 0 also accepts, and deals connections out in turn.
final class MockWorker {
    let configuration: MockConfiguration
    let reactor: Reactor
    let statistics: MockStatistics
    let checks: RequestChecks
    let answers: AnswerBlocks
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    let writeBuffer: UnsafeMutableBufferPointer<UInt8>
    let sessionSettings: SessionSettings
    /// UNIX seconds, read once a round of the loop.
    private(set) var unixTime: Int64 = 0

    private let inbox: MockInbox
    private let tls: TLSContext?
    private let book: LedgerBook
    private let logger: Logger
    private var connections: [UInt64: MockConnection] = [:]
    private var lagging: [MockConnection] = []
    private var nextToken: UInt64 = 1
    private var currentRun: UInt64?
    private var currentLedger: DeliveryLedger?
    private static let listenerToken: UInt64 = 0

    init(
        configuration: MockConfiguration, tls: TLSContext?, inbox: MockInbox, statistics: MockStatistics,
        book: LedgerBook, logger: Logger, seed: UInt64
    ) throws(NetworkError) {
        self.configuration = configuration
        self.tls = tls
        self.inbox = inbox
        self.statistics = statistics
        self.book = book
        self.logger = logger
        reactor = try Reactor()
        checks = RequestChecks(
            topics: configuration.topics, devices: configuration.devices,
            tokens: TokenCache(configuration.identities))
        answers = AnswerBlocks(seed: seed)
        readBuffer = .allocate(capacity: 65_536)
        writeBuffer = .allocate(capacity: 65_536)
        var settings = SessionSettings()
        settings.maxConcurrentStreams = configuration.maxConcurrentStreams
        settings.streamWindow = configuration.streamWindow
        settings.connectionWindow = configuration.connectionWindow
        settings.maxHeaderListSize = UInt32(RequestState.headerCapacity)
        sessionSettings = settings
    }

    deinit {
        readBuffer.deallocate()
        writeBuffer.deallocate()
    }

    /// Serves until the inbox says stop.
    ///
    /// - Parameters:
    ///   - listener: of worker 0; nil for the others.
    ///   - peers: all workers' inboxes and wake-ups, to deal connections out to.
    func run(listener: Listener?, peers: [(inbox: MockInbox, wakeUp: WakeUp)]) {
        if let listener { reactor.add(listener.descriptor, token: Self.listenerToken, interest: .readable) }
        var turn = 0
        var nextTick: UInt64 = 0
        var isAccepting = listener != nil
        while !inbox.isStopping {
            let count = reactor.wait(timeout: lagging.isEmpty ? 250_000_000 : 0)
            unixTime = MonotonicClock.unixSeconds()
            for descriptor in inbox.take() { adopt(descriptor) }
            if !lagging.isEmpty {
                let again = lagging
                lagging.removeAll(keepingCapacity: true)
                for connection in again { handle(connection, .readable) }
            }
            for index in 0..<count {
                let event = reactor.event(at: index)
                if event.token == Self.listenerToken {
                    isAccepting = accept(listener!, peers, &turn)
                } else if let connection = connections[event.token] {
                    handle(connection, event.readiness)
                }
            }
            let now = MonotonicClock.now()
            if now >= nextTick {
                nextTick = now + 250_000_000
                for connection in Array(connections.values) {
                    connection.tick(now: now)
                    if connection.isClosed { remove(connection) }
                }
                if !isAccepting, let listener {
                    reactor.modify(listener.descriptor, token: Self.listenerToken, interest: .readable)
                    isAccepting = true
                }
            }
        }
        for connection in connections.values { connection.shutDown() }
        connections = [:]
        AllocationCount.flushThread()
    }

    private func handle(_ connection: MockConnection, _ readiness: Readiness) {
        if connection.handle(readiness) { lagging.append(connection) }
        if connection.isClosed { remove(connection) }
    }

    private func remove(_ connection: MockConnection) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
    }

    /// - Returns: false when the process has no descriptor left: accepting rests until the next tick.
    private func accept(
        _ listener: Listener, _ peers: [(inbox: MockInbox, wakeUp: WakeUp)], _ turn: inout Int
    ) -> Bool {
        while true {
            switch listener.accept() {
            case .none: return true
            case .exhausted:
                logger.warning("no file descriptor left for another connection")
                reactor.modify(listener.descriptor, token: Self.listenerToken, interest: [])
                return false
            case .descriptor(let descriptor):
                let place = turn % peers.count
                turn += 1
                if place == 0 {
                    adopt(descriptor)
                } else {
                    peers[place].inbox.hand(descriptor)
                    peers[place].wakeUp.signal()
                }
            }
        }
    }

    private func adopt(_ descriptor: Int32) {
        guard connections.count < configuration.maxConnections else {
            close(descriptor)
            return
        }
        do throws(NetworkError) {
            let stream = try ByteStream(accepted: descriptor, tls: tls, options: SocketOptions())
            let connection = MockConnection(
                token: nextToken, stream: stream, worker: self, now: MonotonicClock.now())
            connections[nextToken] = connection
            nextToken += 1
            MockStatistics.increment(statistics.connectionsAccepted)
            statistics.connectionsOpen.store(UInt64(connections.count), ordering: .relaxed)
            handle(connection, [])
        } catch {
            logger.warning("\(error)")
        }
    }

    /// Notes an accepted push in its run's ledger.
    @inline(__always)
    func tickOff(_ trace: (run: RunID, sequence: UInt64)?) {
        guard let trace else {
            book.countUntracked()
            return
        }
        if trace.run.rawValue != currentRun {
            currentLedger = book.ledger(run: trace.run.rawValue)
            currentRun = currentLedger == nil ? nil : trace.run.rawValue
        }
        if let currentLedger {
            currentLedger.mark(trace.sequence)
        } else {
            book.countUntracked()
        }
    }

    func log(_ message: @autoclosure () -> String) { logger.debug("\(message())") }
}
