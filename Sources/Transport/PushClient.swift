import HTTP2
import Networking

/// One worker: a thread's event loop over its own connections, fed by its driver until the driver has nothing more.
///
/// The loop: take what is due, put it on streams, write, wait, read. Nothing is shared with other workers but the
/// `RunControl`, which is read once a round.
public final class PushClient {
    /// Connection c of the run goes to target c modulo their number.
    private let targets: [Target]
    private let options: TransportOptions
    private let driver: PushDriver
    private let control: RunControl
    private let loop: EventLoop
    private let requestMemory: RequestMemory
    /// Of each target.
    private let requestHeads: [RequestHead]
    /// The same for engine `nghttp2`, empty for others.
    private let requestHeaders: [RequestHeaders]
    private let sendBuffers: BufferPool
    private let scratch: UnsafeMutableBufferPointer<UInt8>
    @exclusivity(unchecked) private var lanes: [Lane]
    /// A lane with two of them waits until one has drained: there are never more than twice the connections asked for.
    private var draining: [PushConnection] = []
    /// Connections with input left inside TLS.
    private var lagging: [PushConnection] = []
    private var byToken: [UInt64: PushConnection] = [:]
    private var nextToken: UInt64 = 0
    @exclusivity(unchecked) private var retries = RetryQueue()
    /// Pushes that wait for the connection they belong to.
    private var bound: BoundPushes
    /// Connections that were being made at the last tick, and those begun since.
    private var handshakes = 0
    /// Pushes on streams of all connections.
    @exclusivity(unchecked) private var inFlight = 0
    /// The lane that the next tick looks at first, and when the last one was.
    private var nextLook = 0
    private var lastTick: UInt64 = 0
    /// Lanes whose connections have something to write.
    private var touched: LaneQueue
    /// With `bindsPushes`: every connection has been open, or could not be made.
    private var areAllBegun = false
    @exclusivity(unchecked) private var ready: LaneQueue
    /// A rate is kept: pushes have been waited for.
    @exclusivity(unchecked) private var isPaced = false
    @exclusivity(unchecked) private var pace: Pace
    @exclusivity(unchecked) private var nextTick: UInt64 = 0
    @exclusivity(unchecked) private var readBatch: ReadBatch
    @exclusivity(unchecked) private var isFinished = false
    private var isStopped = false
    private var hasGivenUp = false
    private var hasLeft = false
    private var reachability: Reachability
    private static let tickInterval: UInt64 = 20_000_000
    /// Connections looked at in a tick, where there are more: that many memories have to come from far each time.
    private static let looksATick = 512
    /// In which all have had their turn, ns; or in a quarter of the time after which a push has failed.
    private static let longestRound: UInt64 = 500_000_000
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
    private var transferCycles: UInt64 = 0
    /// The kernel's part of it, ns.
    public var socketTime: UInt64 { CycleClock.shared.nanoseconds(from: 0, to: socketCycles) }
    private var socketCycles: UInt64 = 0
    /// CPU time spent on nothing but waiting for a push to be due, ns.
    public var spinTime: UInt64 { loop.spinTime }
    /// Time waited for something to be due or to come, ns.
    public private(set) var waitTime: UInt64 = 0
    /// TLS version and cipher of the last connection, nil when plain.
    public private(set) var tlsDescription: String?
    package private(set) var holdUps = HoldUps()
    /// When the next push is due that is not, as far as the driver was asked, ns.
    private var nextDue: UInt64 = 0

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
                backoff: Backoff(base: options.backoffBase, cap: options.backoffCap, seed: seed &+ UInt64($0)))
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
                // What is not written then is when the socket can take it.
                for connection in connections {
                    connection.flush()
                    settle(connection)
                }
                if control.cause == .runEnded, isCutOff(now) { giveUp(now) }
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
    private var connections: [PushConnection] { lanes.compactMap(\.connection) + draining }

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
        let deadline = min(due ?? nextTick, nextTick)
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

    private func handle(_ connection: PushConnection, _ readiness: Readiness) {
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
    private func releaseBound(_ now: UInt64) {
        for lane in lanes.indices where bound.isWaiting(lane: lane) {
            let limit = lanes[lane].connection == nil ? .max : now - min(now, BoundPushes.patience)
            while let ticket = bound.popOverdue(lane: lane, before: limit) { retries.append(ticket) }
        }
    }

    // MARK: Connections

    /// The first connection to one of several targets is still being made: whether that is there shall be known at the end of
    /// however short a run.
    private var isReachingOut: Bool {
        targets.count > 1
            && lanes.contains {
                $0.firstFailure == nil && !reachability.contacts[$0.target].hasOpened
                    && [.connecting, .settling].contains($0.connection?.state)
            }
    }

    private func connect(_ lane: Int, now: UInt64) {
        nextToken += 1
        handshakes += 1
        do throws(NetworkError) {
            let connection = try makeConnection(lane, now)
            byToken[nextToken] = connection
            lanes[lane].take(connection)
            handle(connection, [])
        } catch {
            note(FailureCause(error), error.description, lane)
            driver.connection(options.firstConnection + lane, .connectFailed)
            driver.connection(options.firstConnection + lane, .ended(.broken(reachability.lastCause)))
            lanes[lane].didFail(reachability.lastCause, now: now)
        }
    }

    private func makeConnection(_ lane: Int, _ now: UInt64) throws(NetworkError) -> PushConnection {
        let target = targets[lanes[lane].target]
        let attempt = lanes[lane].attempts
        lanes[lane].noteAttempt()
        if let problem = target.addresses.problem { driver.connectionProblem(named(problem, lane)) }
        let address = try target.addresses.address(
            connection: (options.firstConnection + lane) / targets.count, attempt: attempt)
        let stream = try loop.connect(
            to: address, serverName: target.host, tls: target.tls, options: options.socket,
            gathering: sendBuffers)
        return PushConnection(
            makeSession(lanes[lane].target), token: nextToken, index: options.firstConnection + lane, lane: lane,
            stream: stream,
            options: options, driver: driver, loop: loop, memory: requestMemory, now: now)
    }

    private func makeSession(_ target: Int) -> ClientSession {
        if !requestHeaders.isEmpty {
            return NGHTTP2Session(
                requestHeaders[target], settings: options.session, streams: options.streams, sendBuffers: sendBuffers)
        }
        return WireSession(
            requestHeads[target], settings: options.session, usesHuffman: options.huffman, streams: options.streams,
            sendBuffers: sendBuffers)
    }

    /// Looks after a connection something happened to: takes back refused pushes, replaces it when it goes or is gone.
    private func settle(_ connection: PushConnection) {
        inFlight &+= connection.inFlight &- connection.counted
        connection.counted = connection.inFlight
        if !connection.refused.isEmpty {
            // By age, or the same ones would be refused again and again.
            connection.refused.sort { $0.sequence < $1.sequence }
            for ticket in connection.refused { retries.append(ticket) }
            connection.refused.removeAll(keepingCapacity: true)
        }
        let isCurrent = lanes[connection.lane].connection === connection
        switch connection.state {
        case .connecting, .settling: return
        case .open:
            if isCurrent, lanes[connection.lane].didOpen() {
                let lane = lanes[connection.lane]
                reachability.didOpen(lane.target, isDoubtful: lane.isDoubtful, now: loop.now)
                tlsDescription = connection.tlsDescription
            }
            if connection.answered > 0 { lanes[connection.lane].didAnswer(now: loop.now) }
            if isCurrent, connection.canSend { ready.append(connection.lane) }
        case .draining:
            if isCurrent {
                reachability.note(.connectionClosed)
                release(connection)
                draining.append(connection)
            } else if connection.answered > connection.settledAnswers {
                lanes[connection.lane].didAnswer(now: loop.now)
            }
            connection.settledAnswers = connection.answered
            connection.flush()
            if connection.inFlight == 0 {
                if connection.answered == 0 {
                    note(
                        .connectionClosed, "the peer ended the connection before it had answered anything",
                        connection.lane)
                }
                connection.finishGracefully()
                remove(connection)
            }
        case .closed:
            if let cause = connection.cause, !cause.isEndOfRun {
                note(cause, connection.causeText, connection.lane)
            }
            if isCurrent { release(connection) }
            remove(connection)
        }
    }

    private func release(_ connection: PushConnection) {
        lanes[connection.lane].release(
            reachability.lastCause, hadAnswers: connection.answered > 0, now: loop.now)
    }

    /// - Parameter lane: whose connection it was; nil: of all.
    private func note(_ cause: FailureCause, _ problem: String, _ lane: Int? = nil) {
        let text = lane.map { named(problem, $0) } ?? problem
        reachability.note(cause, text, of: lane.map { lanes[$0].target })
        driver.connectionProblem(text)
        if let lane { targets[lanes[lane].target].addresses.lookAgain(now: loop.now) }
    }

    /// Says which target it is about, where there are several.
    private func named(_ problem: String, _ lane: Int) -> String {
        targets.count > 1 ? "target \(targets[lanes[lane].target].url): \(problem)" : problem
    }

    private func remove(_ connection: PushConnection) {
        guard byToken.removeValue(forKey: connection.token) != nil else { return }
        inFlight &-= connection.counted
        connection.counted = 0
        transferCycles &+= connection.transferCycles
        socketCycles &+= connection.socketCycles
        draining.removeAll { $0 === connection }
    }

    private func tick(_ now: UInt64) {
        reachability.tick(now)
        let looks = looksNow(now)
        let leaving = draining
        for step in 0..<looks {
            if let connection = lanes[lookedAt(step)].connection { lookAfter(connection, now) }
        }
        for connection in leaving { lookAfter(connection, now) }
        if !bound.isEmpty { releaseBound(now) }
        if !isFinished, !driver.hasMore(now: now) {
            isFinished = true
            if isCutOff(now) { giveUp(now) }
        }
        var isUsable = !draining.isEmpty
        for connection in draining where connection.answered > 0 {
            reachability.isTrusted(lanes[connection.lane].target, now)
        }
        var isHeldBack = false
        let mayReconnect = !isHopeless
        let isSomethingDue = !isStopped && (!retries.isEmpty || !bound.isEmpty || !isFinished && now >= nextDue)
        var handshakes = 0
        for step in lanes.indices {
            let lane = lookedAt(step)
            if lanes[lane].isConnecting {
                handshakes += 1
            } else if step >= looks, lanes[lane].isConnected, reachability.isOpen(lanes[lane].target, now) {
                // One like it is known to be usable.
                isUsable = true
            } else if let connection = lanes[lane].connection {
                guard connection.state == .open else { continue }
                if step < looks { holdUps.look(connection, isSomethingDue: isSomethingDue) }
                if connection.canSend || connection.inFlight > 0 {
                    isUsable = true
                    if !lanes[lane].isDoubtful { reachability.isTrusted(lanes[lane].target, now) }
                } else {
                    isHeldBack = true
                    lanes[lane].noteAsked()
                }
            } else if mayReconnect, now >= lanes[lane].retryAt, self.handshakes < options.handshakes,
                !isFinished || !retries.isEmpty || !bound.isEmpty || inFlight > 0,
                draining.count(where: { $0.lane == lane }) < 2
            {
                if lanes[lane].attempts > 0 { driver.connection(options.firstConnection + lane, .reconnecting) }
                connect(lane, now: now)
                handshakes += 1
            }
        }
        self.handshakes = handshakes
        lastTick = now
        nextLook = lookedAt(looks)
        if !hasGivenUp, !isUsable,
            reachability.isLost(now, for: options.giveUpAfter) || control.isTargetGone || isHopeless
        {
            if isHeldBack { note(.noStream, "a connection was open, but the peer let no push be sent on it") }
            if lastProblem.isEmpty, !control.isTargetGone {
                for connection in connections {
                    connection.close(.connectTimeout, text: noConnection)
                    settle(connection)
                }
            }
            giveUp(now)
        }
        driver.tick(now: now, unixTime: loop.unixSeconds, inFlight: inFlight)
    }

    /// How many lanes the tick looks at: of more than a few so many that a round does not take longer, however seldom there are ticks.
    private func looksNow(_ now: UInt64) -> Int {
        guard lanes.count > Self.looksATick else { return lanes.count }
        let round = Double(max(1, min(Self.longestRound, options.pushTimeout / 4)))
        let share = Double(now &- min(lastTick, now)) / round
        return min(lanes.count, max(Self.looksATick, Int(min(share, 1) * Double(lanes.count)) + 1))
    }

    /// The lane that is looked at in the tick's step.
    private func lookedAt(_ step: Int) -> Int {
        let lane = nextLook &+ step
        return lane < lanes.count ? lane : lane &- lanes.count
    }

    private func lookAfter(_ connection: PushConnection, _ now: UInt64) {
        connection.tick(now: now)
        settle(connection)
    }

    /// Every attempt is still under way.
    private var noConnection: String {
        "no connection within \(options.giveUpAfter / 1_000_000) ms (--give-up-after), sooner than an attempt ends by itself, "
            + "\(options.connectTimeout / 1_000_000) ms (--connect-timeout)"
    }

    /// Nothing has ever been open, and what all first connections ran into will be there again.
    private var isHopeless: Bool {
        !reachability.hasOpened
            && lanes.allSatisfy {
                $0.firstFailure?.isLasting == true && $0.attempts >= targets[$0.target].addresses.count
            }
    }

    private func isCutOff(_ now: UInt64) -> Bool {
        reachability.isCutOff(now) && draining.isEmpty && !lanes.contains { $0.connection?.state == .open }
    }

    /// No connection for too long: everything left fails with what kept the last connection from working.
    private func giveUp(_ now: UInt64) {
        hasGivenUp = true
        failWaiting(reachability.lastCause)
        driver.abandon(reachability.lastCause, now: now)
        isFinished = true
        leave()
    }

    /// Says goodbye to all connections.
    private func leave() {
        if !hasLeft { noteEndOfContacts() }
        hasLeft = true
        for connection in connections {
            connection.finishGracefully()
            remove(connection)
        }
        for lane in lanes.indices { lanes[lane].clear() }
        lagging = []
    }

    private func noteEndOfContacts() {
        var isOpen = [Bool](repeating: false, count: targets.count)
        var isAsked = isOpen
        for lane in lanes {
            isAsked[lane.target] = true
            guard let connection = lane.connection, connection.state == .open else { continue }
            if connection.session.streamLimit > 0 {
                isOpen[lane.target] = true
            } else {
                reachability.allowsNothing(lane.target)
            }
        }
        for connection in draining { isOpen[lanes[connection.lane].target] = true }
        let now = loop.now
        for target in targets.indices where isAsked[target] {
            reachability.end(target, isOpen: isOpen[target], now: now)
        }
    }

    private func abandonAll(_ now: UInt64) {
        for connection in connections {
            connection.close(control.cause, text: "the run is over")
            settle(connection)
        }
    }

    /// Pushes that wait to be sent, or sent again, will not be.
    private func failWaiting(_ cause: FailureCause) {
        while let ticket = retries.popFirst() { fail(ticket, cause) }
        for lane in lanes.indices where !bound.isEmpty {
            while let ticket = bound.popFirst(lane: lane) { fail(ticket, cause) }
        }
    }

    private func fail(_ ticket: PushTicket, _ cause: FailureCause) {
        driver.finished(
            ticket, outcome: .failed(cause), connection: -1, started: 0, written: 0, at: loop.now,
            body: UnsafeBufferPointer(start: nil, count: 0))
    }
}
