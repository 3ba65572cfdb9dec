import Measurement

/// The client's threads.
extension FanOutEngine {
    func readAnswers(_ worker: Int) {
        let ready = threads[worker].withAnswers
        threads[worker].withAnswers.removeAll(keepingCapacity: true)
        for connection in ready {
            let lists = connections[Int(connection)].answers
            connections[Int(connection)].answers.removeAll(keepingCapacity: true)
            for list in lists {
                var push = list
                while push >= 0 {
                    let following = next[Int(push)]
                    noteAnswered(Int(connection), lives[Int(push)])
                    if settings.sentAgain > 0, random.share() < settings.sentAgain {
                        threads[worker].again.append(push)
                    } else {
                        end(Int(push))
                    }
                    push = following
                }
            }
        }
    }

    func count(_ change: Int) {
        area += Double(inSystem) * (now - countedTo)
        countedTo = now
        inSystem += change
    }

    func end(_ push: Int) {
        answered += 1
        count(-1)
        let sojourn = now - due[push]
        sojourns += sojourn
        if let measured = settings.measured {
            if answered == settings.warmup { measuredTimes.from = now }
            if answered == settings.warmup + measured { measuredTimes.to = now }
        } else if answered > settings.warmup, untaken > 0 {
            pace.add(now, answered)
        }
        if isCounted[push] {
            outcome.total.record(Self.recorded(sojourn))
            outcome.roundTrip.record(Self.recorded(now - begun[push]))
        }
        freePushes.append(Int32(push))
    }

    /// A drawn time may be of any length.
    private static func recorded(_ time: Double) -> UInt64 { UInt64(min(max(1, time), 1e18)) }

    func canSend(_ connection: Int) -> Bool {
        connections[connection].freeStreams > 0 && connections[connection].notBefore <= now
            && connections[connection].window >= max(settings.largestPayload, settings.payloadBytes)
    }

    func connectionThatCanSend(_ worker: Int) -> Int? {
        let turn = threads[worker].turn
        return firstThatCanSend(turn, before: threads[worker].lastConnection)
            ?? firstThatCanSend(threads[worker].firstConnection, before: turn)
    }

    /// Puts what is due on streams of one connection; returns the CPU time it takes.
    func takePushes(_ worker: Int) -> Double {
        guard hasPush(worker), let connection = connectionThatCanSend(worker) else { return 0 }
        var cost = 0.0
        var count: Int32 = 0
        var head: Int32 = -1
        var tail: Int32 = -1
        let isRefused = hasEnded(connection)
        while count < settings.batch, hasPush(worker), canSend(connection), hasEnded(connection) == isRefused {
            let push = takePush(worker)
            connections[connection].window -= settings.payloadBytes
            connections[connection].open += 1
            lives[Int(push)] = connections[connection].life
            addStreams(connection, -1)
            if !isRefused { cost += settings.clientCost.draw(&random) }
            if head < 0 { head = push } else { next[Int(tail)] = push }
            tail = push
            count += 1
            noteSent(connection)
        }
        threads[worker].head = head
        threads[worker].count = count
        threads[worker].connection = Int32(connection)
        threads[worker].isRefused = isRefused
        // The same connection goes on while it can: batches are filled.
        threads[worker].turn = connection
        if !canSend(connection) || settings.arrivals != .closed {
            threads[worker].turn =
                connection + 1 == threads[worker].lastConnection ? threads[worker].firstConnection : connection + 1
        }
        return cost
    }

    func hasPush(_ worker: Int) -> Bool {
        hasPushAgain(worker) || untaken > 0 && threads[worker].nextDue <= now
    }

    func hasPushAgain(_ worker: Int) -> Bool { threads[worker].againStart < threads[worker].again.count }

    private func popAgain(_ worker: Int) -> Int32? {
        guard hasPushAgain(worker) else { return nil }
        let push = threads[worker].again[threads[worker].againStart]
        threads[worker].againStart += 1
        if !hasPushAgain(worker) {
            threads[worker].again.removeAll(keepingCapacity: true)
            threads[worker].againStart = 0
        }
        return push
    }

    /// One that is to be sent again, or the next that is due.
    func takePush(_ worker: Int) -> Int32 {
        if let push = popAgain(worker) {
            next[Int(push)] = -1
            return push
        }
        let push = makePush(due: settings.arrivals == .closed ? now : threads[worker].nextDue)
        moveDue(worker)
        let place = settings.pushes - untaken - settings.warmup
        isCounted[Int(push)] = place >= 0 && place < settings.measured ?? .max
        untaken -= 1
        // It has been there since it was due.
        count(1)
        area += now - due[Int(push)]
        return push
    }

    // MARK: Connections that are made anew

    private func hasEnded(_ connection: Int) -> Bool {
        connections[connection].sent >= settings.renewal?.every ?? .max
    }

    /// A connection that has had its pushes goes on until the client hears that it is ended.
    private func noteSent(_ connection: Int) {
        guard let renewal = settings.renewal else { return }
        connections[connection].sent = min(connections[connection].sent + 1, renewal.every)
    }

    /// It has all its streams at once, while the one that was ended is still answered; but no third one is made beside two that are.
    func goAway(_ connection: Int) {
        let refused = connections[connection].refused
        connections[connection].refused.removeAll(keepingCapacity: true)
        connections[connection].endingBefore = connections[connection].ending
        connections[connection].ending = connections[connection].open - refused.count
        connections[connection].life += 1
        connections[connection].sent = 0
        connections[connection].notBefore = .infinity
        addStreams(connection, connections[connection].open)
        connections[connection].open = 0
        threads[connections[connection].worker].again += refused
        if connections[connection].endingBefore == 0 { makeAnew(connection) }
        wake(connections[connection].worker)
    }

    private func makeAnew(_ connection: Int) {
        guard let renewal = settings.renewal else { return }
        let isThere = now + renewal.making
        connections[connection].notBefore = isThere
        // The link is another one.
        (connections[connection].upFreeAt, connections[connection].downFreeAt) = (0, 0)
        (connections[connection].upLast, connections[connection].downLast) = (0, 0)
        heap.put(.window, at: isThere, place: Int32(connection))
    }

    private func noteAnswered(_ connection: Int, _ life: Int32) {
        switch connections[connection].life - life {
        case 0:
            connections[connection].open -= 1
            addStreams(connection, 1)
        case 1: connections[connection].ending -= 1
        default:
            connections[connection].endingBefore -= 1
            if connections[connection].endingBefore == 0, connections[connection].notBefore == .infinity {
                makeAnew(connection)
            }
        }
    }

    /// What is written to a connection that the server has ended comes back when the client hears of it.
    private func refuse(_ connection: Int, _ head: Int32) {
        var pushes: [Int32] = []
        var push = head
        while push >= 0 {
            pushes.append(push)
            push = next[Int(push)]
        }
        if hasEnded(connection) {
            connections[connection].refused += pushes
        } else {
            connections[connection].ending -= pushes.count
            threads[connections[connection].worker].again += pushes
        }
    }

    /// By so many pushes; a connection that was made anew has all of it.
    func openWindow(_ event: EventHeap.Event) {
        let place = Int(event.place)
        if event.count > 0 {
            connections[place].window += Double(event.count) * settings.payloadBytes
        } else {
            (connections[place].window, connections[place].used) = (settings.window ?? .infinity, 0)
        }
        noteWhetherItCanSend(place)
    }

    func makePush(due time: Double) -> Int32 {
        if let push = freePushes.popLast() {
            next[Int(push)] = -1
            due[Int(push)] = time
            return push
        }
        next.append(-1)
        due.append(time)
        begun.append(0)
        lives.append(0)
        isCounted.append(false)
        return Int32(next.count - 1)
    }

    func transmit(_ connection: Int32, _ head: Int32, _ count: Int32) {
        var push = head
        while push >= 0 {
            begun[Int(push)] = now
            push = next[Int(push)]
        }
        let bytes = Double(count) * settings.requestBytes
        var leaves = now
        if let rate = settings.linkRate {
            connections[Int(connection)].upFreeAt = max(connections[Int(connection)].upFreeAt, now) + bytes / rate * 1e9
            leaves = connections[Int(connection)].upFreeAt
        }
        if let rate = settings.uplinkRate {
            uplinkFreeAt = max(uplinkFreeAt, now) + bytes / rate * 1e9
            leaves = max(leaves, uplinkFreeAt)
        }
        if threads[connections[Int(connection)].worker].isRefused { return refuse(Int(connection), head) }
        // The last push that is taken is among them.
        if let renewal = settings.renewal, hasEnded(Int(connection)) {
            heap.put(.goAway, at: leaves + renewal.told, place: connection)
        }
        let at = settings.link.arrival(
            leaves: leaves, bytes: bytes, last: &connections[Int(connection)].upLast, &random)
        heap.put(.atServer, at: at, place: connection, head: head, count: count)
    }

    func atClient(_ connection: Int32, _ head: Int32) {
        let worker = connections[Int(connection)].worker
        if connections[Int(connection)].answers.isEmpty { threads[worker].withAnswers.append(connection) }
        connections[Int(connection)].answers.append(head)
        wake(worker)
    }
}
