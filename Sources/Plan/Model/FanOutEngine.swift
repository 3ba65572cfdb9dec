import Measurement
import Statistics

/// The state of one simulation. Pushes are numbers; those that travel together are a linked list (`next`).
final class FanOutEngine {
    private struct Connection {
        let worker: Int
        let server: Int
        var freeStreams: Int
        /// Bytes the client may still send.
        var window: Double
        /// Pushes the server has taken and not made room for again.
        var used: Int32 = 0
        var upFreeAt = 0.0
        var downFreeAt = 0.0
        /// Answers the client has not looked at yet.
        var answers: [Int32] = []
    }

    private struct Thread {
        var isBusy = false
        /// What its present piece of work ends with.
        var head: Int32 = -1
        var count: Int32 = 0
        var connection: Int32 = -1
        var busyTime = 0.0
        // Of a client's thread.
        var firstConnection = 0
        var lastConnection = 0
        var turn = 0
        var withAnswers: [Int32] = []
        var nextDue = 0.0
        var plannedWake = -1.0
        // Of a server's thread: first in, first out.
        var inbox: [(connection: Int32, head: Int32, count: Int32)] = []
        var inboxStart = 0
    }

    private let settings: FanOutSimulation.Settings
    private var random: SplitMix
    private var heap = EventHeap()
    private var connections: [Connection] = []
    /// The client's threads, then the server's.
    private var threads: [Thread] = []
    private var freeCores: Int
    private var waiting: [Int] = []
    private var waitingStart = 0
    private var now = 0.0

    // Pushes.
    private var next: [Int32] = []
    private var due: [Double] = []
    private var begun: [Double] = []
    private var freePushes: [Int32] = []
    private var untaken: Int
    private var uplinkFreeAt = 0.0

    // What comes out.
    private var outcome = FanOutSimulation.Outcome()
    private var answered = 0
    private var sojourns = 0.0
    /// Pushes due and not answered, and their number times nanoseconds so far: counted apart from the single times.
    private var inSystem = 0
    private var area = 0.0
    private var countedTo = 0.0
    private var pace = Pace()

    init(_ settings: FanOutSimulation.Settings) {
        self.settings = settings
        random = SplitMix(seed: settings.seed)
        freeCores = settings.cores ?? Int.max / 2
        untaken = settings.pushes
        let workers = min(settings.workers, settings.connections)
        for worker in 0..<workers {
            var thread = Thread()
            thread.firstConnection = worker * settings.connections / workers
            thread.lastConnection = (worker + 1) * settings.connections / workers
            thread.turn = thread.firstConnection
            for index in thread.firstConnection..<thread.lastConnection {
                let server = settings.serverThreads > 0 ? workers + index % settings.serverThreads : -1
                connections.append(
                    Connection(
                        worker: worker, server: server, freeStreams: settings.streams,
                        window: settings.window ?? .infinity))
            }
            threads.append(thread)
        }
        clientThreads = workers
        for _ in 0..<settings.serverThreads { threads.append(Thread()) }
        for worker in 0..<workers { threads[worker].nextDue = firstDue(worker) }
    }

    private let clientThreads: Int

    func run() -> FanOutSimulation.Outcome {
        for worker in 0..<clientThreads { wake(worker) }
        while !heap.isEmpty {
            let event = heap.take()
            now = event.time
            switch event.kind {
            case .threadDone: threadDone(Int(event.place))
            case .wake:
                threads[Int(event.place)].plannedWake = -1
                wake(Int(event.place))
            case .atServer: atServer(event)
            case .answer: answer(event.place, event.head, event.count)
            case .atClient: atClient(event.place, event.head)
            case .window:
                connections[Int(event.place)].window += Double(event.count) * settings.payloadBytes
                wake(connections[Int(event.place)].worker)
            }
        }
        return finish()
    }

    private func finish() -> FanOutSimulation.Outcome {
        outcome.answered = answered
        outcome.events = heap.taken
        outcome.seconds = now / 1e9
        outcome.throughput = pace.perSecond
        if now > 0 {
            outcome.meanInSystem = area / now
            outcome.arrivalRate = Double(answered) / now * 1e9
            outcome.clientLoad =
                (0..<clientThreads).reduce(0) { $0 + threads[$1].busyTime } / now / Double(clientThreads)
        }
        if answered > 0 { outcome.meanTotal = sojourns / Double(answered) }
        return outcome
    }

    // MARK: Arrivals

    private func firstDue(_ worker: Int) -> Double {
        switch settings.arrivals {
        case .closed: 0
        // The workers take turns.
        case .constant(let rate): Double(worker) / rate * 1e9
        case .poisson(let rate): gap(rate / Double(clientThreads))
        }
    }

    private func gap(_ rate: Double) -> Double { TimeDistribution.exponential(mean: 1e9 / rate).draw(&random) }

    private func moveDue(_ worker: Int) {
        switch settings.arrivals {
        case .closed: break
        case .constant(let rate): threads[worker].nextDue += Double(clientThreads) / rate * 1e9
        case .poisson(let rate): threads[worker].nextDue += gap(rate / Double(clientThreads))
        }
    }

    // MARK: Threads

    /// Gives a thread its next piece of work, when it has none and there is some.
    private func wake(_ thread: Int) {
        if threads[thread].isBusy { return }
        guard hasWork(thread) else { return }
        threads[thread].isBusy = true
        if freeCores > 0 {
            freeCores -= 1
            begin(thread)
        } else {
            waiting.append(thread)
        }
    }

    private func hasWork(_ thread: Int) -> Bool {
        if thread >= clientThreads { return threads[thread].inboxStart < threads[thread].inbox.count }
        if !threads[thread].withAnswers.isEmpty { return true }
        guard untaken > 0 else { return false }
        if threads[thread].nextDue > now {
            let due = threads[thread].nextDue
            if threads[thread].plannedWake != due {
                threads[thread].plannedWake = due
                heap.put(.wake, at: due, place: Int32(thread))
            }
            return false
        }
        return connectionThatCanSend(thread) != nil
    }

    /// The thread has a core: what it does now, and until when.
    private func begin(_ thread: Int) {
        var cost = 0.0
        if thread < clientThreads {
            readAnswers(thread)
            cost = takePushes(thread)
        } else {
            let item = threads[thread].inbox[threads[thread].inboxStart]
            threads[thread].inboxStart += 1
            if threads[thread].inboxStart == threads[thread].inbox.count {
                threads[thread].inbox.removeAll(keepingCapacity: true)
                threads[thread].inboxStart = 0
            }
            (threads[thread].connection, threads[thread].head, threads[thread].count) = item
            for _ in 0..<item.count { cost += settings.serverCost.draw(&random) }
        }
        threads[thread].busyTime += cost
        heap.put(.threadDone, at: now + cost, place: Int32(thread))
    }

    private func threadDone(_ thread: Int) {
        let (connection, head, count) = (threads[thread].connection, threads[thread].head, threads[thread].count)
        threads[thread].head = -1
        threads[thread].count = 0
        if count > 0 {
            if thread < clientThreads {
                transmit(connection, head, count)
            } else {
                taken(connection, head, count)
            }
        }
        threads[thread].isBusy = false
        freeCores += 1
        // Behind those that wait for a core.
        let again = hasWork(thread)
        if again {
            threads[thread].isBusy = true
            waiting.append(thread)
        }
        while freeCores > 0, waitingStart < waiting.count {
            let first = waiting[waitingStart]
            waitingStart += 1
            if waitingStart == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                waitingStart = 0
            }
            freeCores -= 1
            begin(first)
        }
    }

    // MARK: The client

    private func readAnswers(_ worker: Int) {
        let ready = threads[worker].withAnswers
        threads[worker].withAnswers.removeAll(keepingCapacity: true)
        for connection in ready {
            let lists = connections[Int(connection)].answers
            connections[Int(connection)].answers.removeAll(keepingCapacity: true)
            for list in lists {
                var push = list
                while push >= 0 {
                    let following = next[Int(push)]
                    end(Int(push))
                    connections[Int(connection)].freeStreams += 1
                    push = following
                }
            }
        }
    }

    private func count(_ change: Int) {
        area += Double(inSystem) * (now - countedTo)
        countedTo = now
        inSystem += change
    }

    private func end(_ push: Int) {
        answered += 1
        count(-1)
        let sojourn = now - due[push]
        sojourns += sojourn
        if answered > settings.warmup {
            if untaken > 0 { pace.add(now, answered) }
            outcome.total.record(UInt64(max(1, sojourn)))
            outcome.roundTrip.record(UInt64(max(1, now - begun[push])))
        }
        freePushes.append(Int32(push))
    }

    private func canSend(_ connection: Int) -> Bool {
        connections[connection].freeStreams > 0
            && connections[connection].window >= max(settings.largestPayload, settings.payloadBytes)
    }

    private func connectionThatCanSend(_ worker: Int) -> Int? {
        let (first, last) = (threads[worker].firstConnection, threads[worker].lastConnection)
        var connection = threads[worker].turn
        for _ in first..<last {
            if canSend(connection) { return connection }
            connection = connection + 1 == last ? first : connection + 1
        }
        return nil
    }

    /// Puts what is due on streams of one connection; returns the CPU time it takes.
    private func takePushes(_ worker: Int) -> Double {
        guard untaken > 0, threads[worker].nextDue <= now, let connection = connectionThatCanSend(worker) else {
            return 0
        }
        var cost = 0.0
        var count: Int32 = 0
        var head: Int32 = -1
        var tail: Int32 = -1
        while count < settings.batch, untaken > 0, threads[worker].nextDue <= now, canSend(connection) {
            let isClosed = settings.arrivals == .closed
            let push = makePush(due: isClosed ? now : threads[worker].nextDue)
            moveDue(worker)
            untaken -= 1
            // It has been there since it was due.
            self.count(1)
            area += now - due[Int(push)]
            connections[connection].freeStreams -= 1
            connections[connection].window -= settings.payloadBytes
            cost += settings.clientCost.draw(&random)
            if head < 0 { head = push } else { next[Int(tail)] = push }
            tail = push
            count += 1
        }
        threads[worker].head = head
        threads[worker].count = count
        threads[worker].connection = Int32(connection)
        // The same connection goes on while it can: batches are filled.
        threads[worker].turn = connection
        if !canSend(connection) || settings.arrivals != .closed {
            threads[worker].turn =
                connection + 1 == threads[worker].lastConnection ? threads[worker].firstConnection : connection + 1
        }
        return cost
    }

    private func makePush(due time: Double) -> Int32 {
        if let push = freePushes.popLast() {
            next[Int(push)] = -1
            due[Int(push)] = time
            return push
        }
        next.append(-1)
        due.append(time)
        begun.append(0)
        return Int32(next.count - 1)
    }

    private func transmit(_ connection: Int32, _ head: Int32, _ count: Int32) {
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
        heap.put(.atServer, at: leaves + settings.roundTrip / 2, place: connection, head: head, count: count)
    }

    private func atClient(_ connection: Int32, _ head: Int32) {
        let worker = connections[Int(connection)].worker
        if connections[Int(connection)].answers.isEmpty { threads[worker].withAnswers.append(connection) }
        connections[Int(connection)].answers.append(head)
        wake(worker)
    }

    // MARK: The server

    private func atServer(_ event: EventHeap.Event) {
        let server = connections[Int(event.place)].server
        guard server >= 0 else { return taken(event.place, event.head, event.count) }
        threads[server].inbox.append((event.place, event.head, event.count))
        wake(server)
    }

    /// The server has read the pushes: the window opens again, and they are answered in time.
    private func taken(_ connection: Int32, _ head: Int32, _ count: Int32) {
        if let window = settings.window {
            var allowed: Int32 = 0
            for _ in 0..<count {
                connections[Int(connection)].used += 1
                let used = connections[Int(connection)].used
                if Double(used) * settings.payloadBytes > window * settings.windowReopen {
                    allowed += used
                    connections[Int(connection)].used = 0
                }
            }
            if allowed > 0 {
                heap.put(.window, at: now + settings.roundTrip / 2, place: connection, count: allowed)
            }
        }
        if case .constant(let time) = settings.serverTime {
            if time == 0 {
                answer(connection, head, count)
            } else {
                heap.put(.answer, at: now + time, place: connection, head: head, count: count)
            }
            return
        }
        var push = head
        while push >= 0 {
            let following = next[Int(push)]
            next[Int(push)] = -1
            heap.put(.answer, at: now + settings.serverTime.draw(&random), place: connection, head: push, count: 1)
            push = following
        }
    }

    private func answer(_ connection: Int32, _ head: Int32, _ count: Int32) {
        var leaves = now
        if let rate = settings.linkRate {
            let bytes = Double(count) * settings.answerBytes
            let freeAt = max(connections[Int(connection)].downFreeAt, now) + bytes / rate * 1e9
            connections[Int(connection)].downFreeAt = freeAt
            leaves = freeAt
        }
        heap.put(.atClient, at: leaves + settings.roundTrip / 2, place: connection, head: head, count: count)
    }
}
