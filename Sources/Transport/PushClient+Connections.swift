import HTTP2
import Networking

/// The pool: connections that are made, looked after once in a while, replaced when they go, and let go of.
extension PushClient {
    /// Connections looked at in a tick, where there are more: that many memories have to come from far each time.
    private static let looksATick = 512
    /// In which all have had their turn, ns; or in a quarter of the time after which a push has failed.
    private static let longestRound: UInt64 = 500_000_000

    /// The first connection to one of several targets is still being made: whether that is there shall be known at the end of
    /// however short a run.
    var isReachingOut: Bool {
        targets.count > 1
            && lanes.contains {
                $0.firstFailure == nil && !reachability.contacts[$0.target].hasOpened
                    && [.connecting, .settling].contains($0.connection?.state)
            }
    }

    func connect(_ lane: Int, now: UInt64) {
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
            let why = ConnectionEnd.broken(reachability.lastCause)
            driver.connection(options.firstConnection + lane, .ended(why))
            lanes[lane].didFail(reachability.lastCause, now: now)
            planConnection(lane, why)
        }
    }

    /// The lane's connection was lost, not made, or told to go away: when its next one is made.
    private func planConnection(_ lane: Int, _ why: ConnectionEnd) {
        lastEnd = (why, lanes[lane].wait)
        reconnects.add(lane, due: lanes[lane].retryAt)
    }

    /// Makes the connections whose wait is over. Those for which there is no room yet are left to the next tick.
    func reconnect(_ now: UInt64) {
        let (mayReconnect, isUndecided) = (!isHopeless, isUndecided)
        for _ in 0..<reconnects.count {
            guard let lane = reconnects.take(now: now) else { return }
            if mayReconnect, mayConnect(lane, now, isUndecided) { connectAgain(lane, now) }
        }
    }

    /// Nothing has been open yet, and some first connections are still being made: whether the run is hopeless is not known.
    private var isUndecided: Bool {
        !reachability.hasOpened && lanes.contains { $0.firstFailure == nil && $0.isConnecting }
    }

    /// - Parameter isUndecided: a lane that ran into what will be there again waits for what the others run into.
    private func mayConnect(_ lane: Int, _ now: UInt64, _ isUndecided: Bool) -> Bool {
        if isUndecided, hasLasting(lane) { return false }
        return !lanes[lane].isConnected && now >= lanes[lane].retryAt && handshakes < options.handshakes
            && (!isFinished || !retries.isEmpty || !bound.isEmpty || inFlight > 0)
            && draining.count(where: { $0.lane == lane }) < 2
    }

    /// Its first connection, at every address, ran into what will be there again.
    private func hasLasting(_ lane: Int) -> Bool {
        lanes[lane].firstFailure?.isLasting == true
            && lanes[lane].attempts >= targets[lanes[lane].target].addresses.count
    }

    private func connectAgain(_ lane: Int, _ now: UInt64) {
        if lanes[lane].attempts > 0 { driver.connection(options.firstConnection + lane, .reconnecting) }
        connect(lane, now: now)
    }

    /// Counts up to now the time for which pushes were due and no connection was open.
    ///
    /// - Parameter opened: the lane that ends it.
    func countNoConnection(_ now: UInt64, opened: Int? = nil) {
        guard openLanes == 0 else { return }
        let isOver = isFinished && !hasGivenUp
        let due = !retries.isEmpty || !bound.isEmpty ? 0 : isOver ? nil : driver.nextDue(now: now)
        noConnection.count(now, due: due, why: lastEnd.why, wait: opened.map { lanes[$0].wait } ?? lastEnd.wait)
        noConnection.nextAttempt = lanes.contains(where: \.isConnected) ? nil : reconnects.nextDue
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
            options: options, driver: driver, loop: loop, memory: requestMemory, now: now,
            connectWithTLS: target.tls == nil && attempt == 0
                ? { [loop, options] in
                    guard let tls = Self.askingTLS else { return nil }
                    return try? loop.connect(
                        to: address, serverName: target.host, tls: tls, options: options.socket, gathering: nil)
                } : nil)
    }

    /// For handshakes that only show whether a peer speaks TLS: one for all, as the system's certificates take 30 ms to read.
    private static let askingTLS: TLSContext? = {
        var options = TLSOptions()
        options.verifyPeer = false
        return try? TLSContext(.client, options)
    }()

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
    func settle(_ connection: PushConnection) {
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
                countNoConnection(loop.now, opened: connection.lane)
                noConnection.end()
                openLanes += 1
            }
            if connection.answered > 0 { didAnswer(connection.lane) }
            if isCurrent, connection.canSend { ready.append(connection.lane) }
        case .draining:
            if isCurrent {
                reachability.note(.connectionClosed)
                release(connection)
                draining.append(connection)
            } else if connection.answered > connection.settledAnswers {
                didAnswer(connection.lane)
            }
            connection.settledAnswers = connection.answered
            connection.flush()
            if connection.inFlight == 0 {
                if connection.answered == 0 {
                    let why = connection.departure.map { " (\($0))" } ?? ""
                    note(
                        .connectionClosed, "the peer ended the connection before it had answered anything\(why)",
                        connection.lane)
                }
                connection.finishGracefully()
                remove(connection)
            }
        case .closed:
            if let cause = connection.cause, !cause.isEndOfRun, !connection.hasLeftQuietly {
                note(cause, connection.causeText, connection.lane)
            }
            if isCurrent { release(connection) }
            remove(connection)
        }
    }

    private func didAnswer(_ lane: Int) {
        if lanes[lane].didAnswer(now: loop.now) { reconnects.add(lane, due: lanes[lane].retryAt) }
    }

    private func release(_ connection: PushConnection) {
        let (lane, now) = (connection.lane, loop.now)
        if lanes[lane].isOpen {
            openLanes -= 1
            if openLanes == 0 { noConnection.begin(now) }
        }
        lanes[lane].release(reachability.lastCause, hadAnswers: connection.answered > 0, now: now)
        planConnection(lane, connection.departure ?? .broken(connection.cause ?? reachability.lastCause))
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
        handshakeTime &+= connection.handshakeTime
        draining.removeAll { $0 === connection }
    }

    func tick(_ now: UInt64) {
        reachability.tick(now)
        let looks = looksNow(now)
        putOffJudging(now, looks)
        let leaving = draining
        for step in 0..<looks {
            if let connection = lanes[lookedAt(step)].connection { lookAfter(connection, now) }
        }
        for connection in leaving { lookAfter(connection, now) }
        if !bound.isEmpty { releaseBound(now) }
        if !isFinished, !driver.hasMore(now: now) {
            isFinished = true
            giveUpWhatIsCutOff(now)
        }
        var isUsable = !draining.isEmpty
        for connection in draining where connection.answered > 0 {
            reachability.isTrusted(lanes[connection.lane].target, now)
        }
        var isHeldBack = false
        let (mayReconnect, isUndecided) = (!isHopeless, isUndecided)
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
            } else if mayReconnect, mayConnect(lane, now, isUndecided) {
                connectAgain(lane, now)
                handshakes += 1
            }
        }
        self.handshakes = handshakes
        lastTick = now
        nextLook = lookedAt(looks)
        if !hasGivenUp, !isUsable,
            reachability.isLost(now, for: options.giveUpAfter) || control.isTargetGone || isHopeless
        {
            if isHeldBack {
                note(
                    .noStream,
                    areStreamsAllowed
                        ? "a connection was open, but the peer let no push be sent on it" : Self.noStreams)
            }
            if lastProblem.isEmpty, !control.isTargetGone {
                for connection in connections {
                    connection.close(.connectTimeout, text: noAttemptEnded)
                    settle(connection)
                }
            }
            giveUp(now)
        }
        countNoConnection(now)
        driver.missed(noConnection)
        driver.tick(now: now, unixTime: loop.unixSeconds, inFlight: inFlight)
    }

    /// After a pause no push is given up for as long again. No longer than a time-out before pushes are judged: a thread that is always
    /// late would never give one up.
    ///
    /// - Parameter looks: how many lanes are looked at now.
    private func putOffJudging(_ now: UInt64, _ looks: Int) {
        let pause = lastTick > 0 ? now &- min(lastTick, now) : 0
        if pause > Reachability.longestPause {
            if putOff.time == 0 { putOff.since = now }
            let more = min(pause, options.pushTimeout - putOff.time)
            if more > 0 { putOff.judged = 0 }
            putOff.time += more
            judgesFrom = max(judgesFrom, now &+ more)
        }
        if putOff.time > 0, now >= judgesFrom {
            putOff.judged += looks
            if putOff.judged >= lanes.count, now >= putOff.since &+ options.pushTimeout { putOff.time = 0 }
        }
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
        connection.tick(now: now, judgesFrom: judgesFrom)
        settle(connection)
    }

    /// Every attempt is still under way.
    private var noAttemptEnded: String {
        "no connection within \(options.giveUpAfter / 1_000_000) ms (--give-up-after), sooner than an attempt ends by itself, "
            + "\(options.connectTimeout / 1_000_000) ms (--connect-timeout)"
    }

    /// Nothing has ever been open, and what all first connections ran into will be there again.
    private var isHopeless: Bool {
        !reachability.hasOpened && lanes.indices.allSatisfy(hasLasting)
    }

    func isCutOff(_ now: UInt64) -> Bool {
        reachability.isCutOff(now) && draining.isEmpty && !lanes.contains { $0.connection?.state == .open }
    }

    private static let noStreams = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS 0)"

    /// The time to send in is over, and that is not why the rest is not sent.
    func giveUpWhatIsCutOff(_ now: UInt64) {
        let isWithoutStreams = isWithoutStreams(now)
        if isWithoutStreams { note(.noStream, Self.noStreams) }
        if isWithoutStreams || isCutOff(now) { giveUp(now) }
    }

    /// For a while now connections have been open, and the server has allowed no stream on any.
    private func isWithoutStreams(_ now: UInt64) -> Bool {
        reachability.isLost(now, for: TargetContact.cutOffAfter) && draining.isEmpty && inFlight == 0
            && !areStreamsAllowed && lanes.contains { $0.connection?.state == .open }
    }

    /// By the server, on a connection that is open.
    private var areStreamsAllowed: Bool {
        lanes.contains { lane in
            lane.connection.map { $0.state == .open && $0.session.streamLimit > 0 } ?? false
        }
    }

    /// No connection for too long: everything left fails with what kept the last connection from working.
    func giveUp(_ now: UInt64) {
        countNoConnection(now)
        hasGivenUp = true
        failWaiting(reachability.lastCause)
        driver.abandon(reachability.lastCause, now: now)
        isFinished = true
        leave()
    }

    /// Says goodbye to all connections.
    func leave() {
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

    func abandonAll(_ now: UInt64) {
        for connection in connections {
            connection.close(control.cause, text: "the run is over")
            settle(connection)
        }
    }

    /// Pushes that wait to be sent, or sent again, will not be.
    func failWaiting(_ cause: FailureCause) {
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
