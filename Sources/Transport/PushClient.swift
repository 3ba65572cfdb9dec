import HTTP2
import Networking

/// One worker: a thread's event loop over its own connections, fed by its driver until the driver has nothing more.
///
/// The loop: take what is due, put it on streams, write, wait, read. Nothing is shared with other workers but the
/// `RunControl`, which is read once a round.
public final class PushClient {
    /// Connection c of the run goes to target c modulo their number.
    let targets: [Target]
    let options: TransportOptions
    let driver: PushDriver
    let control: RunControl
    let loop: EventLoop
    let requestMemory: RequestMemory
    /// Of each target.
    let requestHeads: [RequestHead]
    /// The same for engine `nghttp2`, empty for others.
    let requestHeaders: [RequestHeaders]
    let sendBuffers: BufferPool
    private let scratch: UnsafeMutableBufferPointer<UInt8>
    @exclusivity(unchecked) var lanes: [Lane]
    /// A lane with two of them waits until one has drained: there are never more than twice the connections asked for.
    var draining: [PushConnection] = []
    /// Connections with input left inside TLS.
    var lagging: [PushConnection] = []
    var byToken: [UInt64: PushConnection] = [:]
    var nextToken: UInt64 = 0
    @exclusivity(unchecked) var retries = RetryQueue()
    /// Pushes that wait for the connection they belong to.
    var bound: BoundPushes
    /// Connections that were being made at the last tick, and those begun since.
    var handshakes = 0
    /// Pushes on streams of all connections.
    @exclusivity(unchecked) var inFlight = 0
    /// Lanes without a connection, by when they may have another.
    var reconnects = DueQueue<Int>()
    /// Lanes whose connection is open; while there are none, for how long.
    var openLanes = 0
    var noConnection = NoConnection()
    /// Why the last connection was lost or not made, and what was waited after it before the next, ns.
    var lastEnd: (why: ConnectionEnd?, wait: UInt64) = (nil, 0)
    /// The lane that the next tick looks at first, and when the last one was.
    var nextLook = 0
    var lastTick: UInt64 = 0
    /// No push is given up before then, ns: what had not left yet when this thread stood still has its time afterwards.
    var judgesFrom: UInt64 = 0
    /// How long it has put off judging since all lanes were judged last, and from when on, ns; lanes judged since.
    var putOff: (time: UInt64, since: UInt64, judged: Int) = (0, 0, 0)
    /// Lanes whose connections have something to write.
    private var touched: LaneQueue
    /// With `bindsPushes`: every connection has been open, or could not be made.
    private var areAllBegun = false
    @exclusivity(unchecked) var ready: LaneQueue
    /// A rate is kept: pushes have been waited for.
    @exclusivity(unchecked) private var isPaced = false
    @exclusivity(unchecked) private var pace: Pace
    @exclusivity(unchecked) private var nextTick: UInt64 = 0
    @exclusivity(unchecked) private var readBatch: ReadBatch
    @exclusivity(unchecked) var isFinished = false
    var isStopped = false
    var hasGivenUp = false
    var hasLeft = false
    var reachability: Reachability
    private static let tickInterval: UInt64 = 20_000_000
    /// Pushes between two readings of the clock, unless something is written before.
    private static let clockInterval = 16
    /// A wait of so long had nothing to read or to write, ns: longer than it takes to ask.
    private static let idleWait: UInt64 = 10_000

    /// Why the last connection was lost or not made; empty when none was.
    public var lastProblem: String { reachability.lastProblem }
    /// Of each target, once `end` was called.
    package var contacts: [TargetContact] { reachability.contacts }
    /// Time in calls that read from and write to connections, ns: TLS and the kernel.
    public var transferTime: UInt64 { CycleClock.shared.nanoseconds(from: 0, to: transferCycles) }
    var transferCycles: UInt64 = 0
    /// The kernel's part of it, ns.
    public var socketTime: UInt64 { CycleClock.shared.nanoseconds(from: 0, to: socketCycles) }
    var socketCycles: UInt64 = 0
    /// CPU time of the handshakes of connections that are gone, ns.
    public internal(set) var handshakeTime: UInt64 = 0
    /// CPU time spent on nothing but waiting for a push to be due, ns.
    public var spinTime: UInt64 { loop.spinTime }
    /// Time waited for something to be due or to come, ns.
    public private(set) var waitTime: UInt64 = 0
    /// TLS version and cipher of the last connection, nil when plain.
    public internal(set) var tlsDescription: String?
    package internal(set) var holdUps = HoldUps()
    /// When the next push is due that is not, as far as the driver was asked, ns.
    var nextDue: UInt64 = 0

    /// One target.
    ///
    /// - Throws: `NetworkError` when the system has no descriptor for the event loop.
    public convenience init(
        target: Target, options: TransportOptions, driver: PushDriver, control: RunControl,
        headerSets: [[(String, String)]], tokenCapacity: Int, payloadCapacity: Int, loop: EventLoop? = nil
    ) throws(NetworkError) {
        try self.init(
            targets: [target], options: options, driver: driver, control: control, headerSets: headerSets,
            tokenCapacity: tokenCapacity, payloadCapacity: payloadCapacity, loop: loop)
    }

    /// - Parameters:
    ///   - targets: at least one; connection c of the run goes to target c modulo their number.
    ///   - headerSets: for each kind of push the APNs headers that never change.
    ///   - tokenCapacity: longest device token, digits.
    ///   - payloadCapacity: largest payload, bytes.
    ///   - loop: time and network; nil: the real ones.
    /// - Throws: `NetworkError` when the system has no descriptor for the event loop.
    public init(
        targets: [Target], options: TransportOptions, driver: PushDriver, control: RunControl,
        headerSets: [[(String, String)]], tokenCapacity: Int, payloadCapacity: Int, loop: EventLoop? = nil
    ) throws(NetworkError) {
        precondition(options.connections >= 1 && options.streams >= 1, "a worker needs a connection and a stream")
        precondition(!targets.isEmpty, "a worker needs a target")
        self.targets = targets
        self.options = options
        self.driver = driver
        self.control = control
        self.loop = if let loop { loop } else { try Reactor() }
        pace = Pace(options.pacing)
        readBatch = ReadBatch(options.readBatch)
        requestMemory = RequestMemory(tokenCapacity: tokenCapacity, payloadCapacity: payloadCapacity)
        requestHeads = targets.map {
            RequestHead(authority: $0.authority, isSecure: $0.tls != nil, headerSets: headerSets)
        }
        requestHeaders = options.engine == .nghttp2 ? requestHeads.map(RequestHeaders.init) : []
        // A batch, and the frames of one more request.
        sendBuffers = BufferPool(capacity: options.sendBatch + 65_536)
        scratch = .allocate(capacity: 65_536)
        let seed = options.seed
        lanes = (0..<options.connections).map {
            Lane(
                target: (options.firstConnection + $0) % targets.count,
                backoff: Backoff(
                    delay: options.reconnectDelay, longest: options.reconnectDelayMax, connections: options.connections,
                    seed: seed &+ UInt64($0)))
        }
        ready = LaneQueue(count: options.connections)
        bound = BoundPushes(lanes: options.bindsPushes ? options.connections : 0)
        touched = LaneQueue(count: options.connections)
        reachability = Reachability(targets: targets.count, now: self.loop.now)
        let wakeUp = self.loop.wakeUp
        control.register { wakeUp.signal() }
    }

    deinit {
        scratch.deallocate()
        ready.release()
        touched.release()
    }

    /// Runs until every push of the driver has ended; blocks the calling thread.
    public func run() {
        begin()
        while turn(waits: true) {}
        end()
    }

    /// Every push has ended: says goodbye to all connections.
    package func end() {
        leave()
        let now = loop.now
        noConnection.end()
        driver.missed(noConnection)
        driver.ended(now: now)
        driver.tick(now: now, unixTime: loop.unixSeconds, inFlight: 0)
    }

    /// The time, ns of its event loop.
    package var now: UInt64 { loop.now }

    /// For whoever checks that nothing is left at the end.
    package var leftovers: EngineLeftovers {
        var all = EngineLeftovers()
        all.connections = byToken.count
        all.slots = inFlight
        all.refused = retries.count + bound.count
        all.buffers = sendBuffers.lent
        return all
    }

    /// Starts to connect.
    package func begin() {
        let now = loop.now
        reachability = Reachability(targets: targets.count, now: now)
        nextTick = now
        noConnection.begin(now)
        for lane in lanes.indices.prefix(options.handshakes) { connect(lane, now: now) }
    }

    /// One round of the loop: sends what is due, and takes in what the network brought.
    ///
    /// - Parameter waits: wait for something to be due or to come; else it only looks.
    /// - Returns: false when every push has ended.
    package func turn(waits: Bool) -> Bool {
        var now = loop.now
        if now >= nextTick {
            // What lies in the sockets first: after a stall of ours no push is given up whose answer is there.
            takeIn(now)
            // By the time from before: what is read later than that was not there to be read.
            tick(now)
            now = loop.now
            pace.look(now)
            nextTick = now + Self.tickInterval
        }
        let request = control.request
        if request == .none, let due = reconnects.nextDue, due <= now { reconnect(now) }
        if request == .abort { abandonAll(now) }
        var wakeAt: UInt64?
        if request == .none {
            if options.bindsPushes {
                wakeAt = fillBound(&now)
            } else {
                wakeAt = now < pace.gathersUntil && retries.isEmpty ? pace.wakeAt : fill(&now)
            }
        } else {
            if !isStopped {
                isStopped = true
                countNoConnection(now)
                noConnection.end()
                // What is not written then is when the socket can take it.
                for connection in connections {
                    connection.flush()
                    settle(connection)
                }
                if control.cause == .runEnded { giveUpWhatIsCutOff(now) }
                driver.stopped(control.cause, now: now)
            }
        }
        if isOver(request, now) { return false }
        if waits {
            wait(until: wakeAt, now: now)
        } else {
            wait(until: now, now: now)
        }
        return true
    }

    /// All there are, in an order that does not depend on chance.
    var connections: [PushConnection] { lanes.compactMap(\.connection) + draining }

    /// Streams on which a push could be put at this moment, as far as the connection's window goes for payloads like the last one.
    package var freeStreams: UInt64 {
        var free = 0
        let payload = max(1, requestMemory.payloadLength)
        for lane in lanes {
            if let connection = lane.connection, connection.canSend {
                let session = connection.session
                free += min(session.streamLimit - connection.inFlight, session.sendWindow / payload + 1)
            }
        }
        return UInt64(free)
    }

    private func isOver(_ request: RunControl.Request, _ now: UInt64) -> Bool {
        if request == .none {
            // Once others are through, what was asked of them is asked here, too.
            return isFinished && retries.isEmpty && bound.isEmpty && inFlight == 0 && !isReachingOut
                && driver.mayEnd(now: now)
                && control.request == .none
        }
        // What waits to be sent again will not be: it ends here.
        failWaiting(control.cause)
        return inFlight == 0
    }

    /// Waits for `due`, at the latest for the next tick, and takes in what the network brings meanwhile.
    ///
    /// - Returns: how many descriptors were ready.
    @discardableResult
    private func wait(until due: UInt64?, now: UInt64) -> Int {
        let deadline = min(due ?? nextTick, nextTick, isStopped ? .max : reconnects.nextDue ?? .max)
        var timeout = deadline > now ? deadline - now : 0
        if !lagging.isEmpty {
            timeout = 0
            let again = lagging
            lagging.removeAll(keepingCapacity: true)
            for connection in again { handle(connection, .readable) }
        }
        let mustBePunctual = due == deadline && timeout > 0 && !pace.isDense
        var count = 0
        var left = timeout
        let rest = readBatch.rest(now, timeout: timeout, isDue: due == deadline)
        if rest > 0 {
            loop.rest(rest)
            count = loop.wait(timeout: 0)
            let time = loop.now
            left = deadline > time ? deadline - time : 0
        }
        if count == 0 {
            count =
                mustBePunctual && left > 0
                ? loop.waitPunctually(timeout: left, spins: options.pacing == .spin) : loop.wait(timeout: left)
        }
        if timeout > 0 {
            let woken = loop.now
            waitTime &+= woken &- now
            if woken &- now >= Self.idleWait { driver.idled(until: min(woken, deadline)) }
        }
        for index in 0..<count {
            let event = loop.event(at: index)
            guard let connection = byToken[event.token] else { continue }
            handle(connection, event.readiness)
        }
        return count
    }

    /// Reads what is there; not for ever, where a peer never stops.
    private func takeIn(_ now: UInt64) {
        for _ in 0..<(16 + byToken.count / EventLoop.mostEvents) {
            let events = wait(until: now, now: now)
            if lagging.isEmpty, events < EventLoop.mostEvents { return }
        }
    }

    func handle(_ connection: PushConnection, _ readiness: Readiness) {
        let before = connection.answered
        if connection.handle(readiness, scratch: scratch) { lagging.append(connection) }
        readBatch.took(connection.answered &- before)
        settle(connection)
    }

    // MARK: Sending

    /// Puts what is due on streams and writes it; returns when to look again, nil when that cannot be said.
    ///
    /// - Parameter now: the last reading of the clock; taken again every few pushes, and after every write.
    private func fill(_ now: inout UInt64) -> UInt64? {
        let began = now
        while let lane = ready.popFirst() {
            guard let connection = lanes[lane].connection else { continue }
            let verdict = fill(connection, now: &now)
            if connection.inFlight > 0 { lanes[lane].noteAsked() }
            connection.flush()
            settle(connection)
            now = loop.now
            switch verdict {
            case .push: break
            case .notBefore(let due):
                isPaced = true
                nextDue = due
                return pace.next(due: due, began: began)
            case .finished:
                isFinished = true
                if retries.isEmpty { return nil }
            }
        }
        return nil
    }

    /// Gives a connection what it can take. Where a rate is kept, no more than goes into one batch, so that load spreads.
    private func fill(_ connection: PushConnection, now: inout UInt64) -> Supply {
        var ticket = PushTicket(sequence: 0, due: 0)
        var untilReading = Self.clockInterval
        while connection.canSend {
            if let retry = retries.popFirst() {
                ticket = retry
            } else {
                let supply = isFinished ? .finished : driver.take(now: now, into: &ticket)
                guard case .push = supply else { return supply }
            }
            let before = connection.pending
            connection.send(ticket, now: now)
            pace.took(1)
            if isPaced {
                // Another one like it would not fit.
                if 2 &* connection.pending &- before > options.sendBatch { return .push }
                untilReading &-= 1
            } else {
                untilReading = connection.flushFullBatches() ? 0 : untilReading &- 1
            }
            if untilReading == 0 {
                now = loop.now
                untilReading = Self.clockInterval
            }
        }
        return .push
    }

    // MARK: Pushes that belong to connections

    /// Puts what is due on the connections that it belongs to, and writes it; returns when to look again, nil when that cannot be
    /// said. What cannot go over its connection yet waits for it.
    private func fillBound(_ now: inout UInt64) -> UInt64? {
        if !areAllBegun {
            areAllBegun = lanes.allSatisfy { $0.connection?.state == .open || $0.firstFailure != nil }
            guard areAllBegun else { return nil }
        }
        if !bound.isEmpty { sendWaiting(now) }
        var wakeAt: UInt64?
        var untilReading = Self.clockInterval
        while wakeAt == nil, let lane = ready.popFirst() {
            guard lanes[lane].connection?.canSend == true else { continue }
            var ticket = PushTicket(sequence: 0, due: 0)
            if let again = retries.popFirst() {
                send(again, over: lane, now)
            } else {
                let supply = isFinished ? .finished : driver.take(now: now, into: &ticket)
                switch supply {
                case .push: place(ticket, instead: lane, now)
                case .notBefore(let due): (nextDue, wakeAt) = (due, due)
                case .finished: isFinished = true
                }
            }
            ready.append(lane)
            if isFinished, retries.isEmpty { break }
            untilReading -= 1
            if untilReading == 0 {
                now = loop.now
                untilReading = Self.clockInterval
            }
        }
        flushTouched()
        now = loop.now
        return wakeAt
    }

    /// - Parameter spare: a lane whose connection can take it, where its own cannot and will not soon.
    private func place(_ ticket: PushTicket, instead spare: Int, _ now: UInt64) {
        let lane = (driver.connection(of: ticket) - options.firstConnection) % lanes.count
        guard let own = lanes[lane].connection, !bound.isFull else { return send(ticket, over: spare, now) }
        if own.canSend, !bound.isWaiting(lane: lane) {
            send(ticket, over: lane, now)
        } else {
            bound.append(ticket, lane: lane)
        }
    }

    /// The lane's connection can take it.
    private func send(_ ticket: PushTicket, over lane: Int, _ now: UInt64) {
        guard let connection = lanes[lane].connection else { return retries.append(ticket) }
        connection.send(ticket, now: now)
        _ = connection.flushFullBatches()
        lanes[lane].noteAsked()
        touched.append(lane)
    }

    private func sendWaiting(_ now: UInt64) {
        for lane in lanes.indices where bound.isWaiting(lane: lane) {
            while lanes[lane].connection?.canSend == true, let ticket = bound.popFirst(lane: lane) {
                send(ticket, over: lane, now)
            }
        }
    }

    private func flushTouched() {
        while let lane = touched.popFirst() {
            guard let connection = lanes[lane].connection else { continue }
            connection.flush()
            settle(connection)
        }
    }

    /// Pushes whose connection is gone, or has kept them waiting for too long, go over any.
    func releaseBound(_ now: UInt64) {
        for lane in lanes.indices where bound.isWaiting(lane: lane) {
            let limit = lanes[lane].connection == nil ? .max : now - min(now, BoundPushes.patience)
            while let ticket = bound.popOverdue(lane: lane, before: limit) { retries.append(ticket) }
        }
    }
}
