import Measurement
import Statistics

/// The state of one simulation. Pushes are numbers; those that travel together are a linked list (`next`).
final class FanOutEngine {
    struct Connection {
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
        /// When the last piece each way comes out of the link.
        var upLast = 0.0
        var downLast = 0.0
        /// Pushes since it was made, those of them that the server refuses, and when it is there.
        var sent = 0
        var refused: [Int32] = []
        var notBefore = 0.0
        /// How often it was made anew, and what is not answered yet: of its present life, of the one before and of the one before that.
        var life: Int32 = 0
        var open = 0
        var ending = 0
        var endingBefore = 0
    }

    struct Thread {
        var isBusy = false
        /// What its present piece of work ends with.
        var head: Int32 = -1
        var count: Int32 = 0
        var connection: Int32 = -1
        /// On a connection that the server has ended.
        var isRefused = false
        var busyTime = 0.0
        // Of a client's thread.
        var firstConnection = 0
        var lastConnection = 0
        var turn = 0
        var withAnswers: [Int32] = []
        /// Pushes to be sent again: first in, first out.
        var again: [Int32] = []
        var againStart = 0
        var nextDue = 0.0
        var plannedWake = -1.0
        // Of a server's thread: first in, first out.
        var inbox: [(connection: Int32, head: Int32, count: Int32)] = []
        var inboxStart = 0
    }

    let settings: FanOutSimulation.Settings
    var random: SplitMix
    var heap = EventHeap()
    var connections: [Connection] = []
    /// A bit for each connection that can send.
    private var free: [UInt64] = []
    /// The client's threads, then the server's.
    var threads: [Thread] = []
    var freeCores: Int
    var waiting: [Int] = []
    var waitingStart = 0
    var now = 0.0

    // Pushes.
    var next: [Int32] = []
    var due: [Double] = []
    var begun: [Double] = []
    /// Of the connection that it was sent on.
    var lives: [Int32] = []
    /// Those after the warm-up: what is answered first would be what is answered fast.
    var isCounted: [Bool] = []
    var freePushes: [Int32] = []
    var untaken: Int
    var uplinkFreeAt = 0.0
    /// Pushes that are at the server from the beginning on, still to come there.
    private var earliest: Int

    // What comes out.
    var outcome = FanOutSimulation.Outcome()
    var answered = 0
    var sojourns = 0.0
    /// Pushes due and not answered, and their number times nanoseconds so far: counted apart from the single times.
    var inSystem = 0
    var area = 0.0
    var countedTo = 0.0
    var pace = Pace()
    /// When the answers came between which pushes are measured, ns.
    var measuredTimes = (from: 0.0, to: 0.0)

    init(_ settings: FanOutSimulation.Settings) {
        self.settings = settings
        random = SplitMix(seed: settings.seed)
        freeCores = settings.cores ?? Int.max / 2
        untaken = settings.pushes
        earliest = settings.beginsSteady ? settings.connections * settings.streams : 0
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
        if let apart = settings.apart, let every = settings.renewal?.every {
            for place in connections.indices {
                if settings.arrivals == .closed {
                    connections[place].notBefore = random.share() * apart
                    heap.put(.window, at: connections[place].notBefore, place: Int32(place))
                } else {
                    connections[place].sent = Int(random.share() * Double(every))
                }
            }
        }
        if let renewal = settings.renewal, settings.apart == nil, settings.arrivals != .closed {
            for worker in 0..<workers {
                for (number, place) in (threads[worker].firstConnection..<threads[worker].lastConnection).enumerated() {
                    connections[place].notBefore = renewal.first + Double(number) * renewal.each
                    heap.put(.window, at: connections[place].notBefore, place: Int32(place))
                }
            }
        }
        free = [UInt64](repeating: 0, count: connections.count / 64 + 1)
        for connection in connections.indices { noteWhetherItCanSend(connection) }
        for _ in 0..<settings.serverThreads { threads.append(Thread()) }
        for worker in 0..<workers { threads[worker].nextDue = firstDue(worker) }
        beginFewerStreams()
    }

    let clientThreads: Int
    /// Changes of streams, one after the other, while nothing else was to happen.
    private var unhelped = 0

    func run() -> FanOutSimulation.Outcome {
        for worker in 0..<clientThreads { wake(worker) }
        while !heap.isEmpty {
            let event = heap.take()
            if event.kind == .streams {
                // What would go on for ever ends with the last push, or where streams are all that changes and none helps.
                if untaken == 0 { continue }
                if heap.count < connections.count {
                    unhelped += 1
                    if unhelped > 2 * connections.count { continue }
                } else {
                    unhelped = 0
                }
            }
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
                openWindow(event)
                wake(connections[Int(event.place)].worker)
            case .streams: changeStreams(event)
            case .goAway: goAway(Int(event.place))
            }
        }
        return finish()
    }

    func finish() -> FanOutSimulation.Outcome {
        outcome.answered = answered
        outcome.events = heap.taken
        outcome.seconds = now / 1e9
        outcome.throughput =
            settings.measured.map { Double($0) / (measuredTimes.to - measuredTimes.from) * 1e9 } ?? pace.perSecond
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

    func firstDue(_ worker: Int) -> Double {
        switch settings.arrivals {
        case .closed: 0
        // The workers take turns.
        case .constant(let rate): Double(worker) / rate * 1e9
        case .poisson(let rate): gap(rate / Double(clientThreads))
        }
    }

    func gap(_ rate: Double) -> Double { TimeDistribution.exponential(mean: 1e9 / rate).draw(&random) }

    func moveDue(_ worker: Int) {
        switch settings.arrivals {
        case .closed: break
        case .constant(let rate): threads[worker].nextDue += Double(clientThreads) / rate * 1e9
        case .poisson(let rate): threads[worker].nextDue += gap(rate / Double(clientThreads))
        }
    }

    // MARK: Threads

    /// Gives a thread its next piece of work, when it has none and there is some.
    func wake(_ thread: Int) {
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

    func hasWork(_ thread: Int) -> Bool {
        if thread >= clientThreads { return threads[thread].inboxStart < threads[thread].inbox.count }
        if !threads[thread].withAnswers.isEmpty { return true }
        if hasPushAgain(thread) { return connectionThatCanSend(thread) != nil }
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
    func begin(_ thread: Int) {
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

    func threadDone(_ thread: Int) {
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

    // MARK: Streams

    /// So many streams of a connection are free again, or fewer.
    func addStreams(_ connection: Int, _ change: Int) {
        connections[connection].freeStreams += change
        noteWhetherItCanSend(connection)
    }

    /// Whenever streams, the window or the connection itself came or went.
    func noteWhetherItCanSend(_ connection: Int) {
        let bit: UInt64 = 1 << UInt64(connection & 63)
        if canSend(connection) {
            free[connection >> 6] |= bit
        } else {
            free[connection >> 6] &= ~bit
        }
    }

    /// The first connection from one on and before another that can send.
    func firstThatCanSend(_ first: Int, before last: Int) -> Int? {
        var index = first
        while index < last {
            let rest = free[index >> 6] >> UInt64(index & 63)
            if rest != 0 {
                index += rest.trailingZeroBitCount
                return index < last ? index : nil
            }
            index = (index | 63) + 1
        }
        return nil
    }

    // MARK: The server

    /// Each connection is somewhere in its period.
    private func beginFewerStreams() {
        guard let fewer = settings.fewerStreams else { return }
        for connection in connections.indices {
            let gone = random.share() * fewer.every
            let isLow = gone < fewer.time
            if isLow { addStreams(connection, Int(fewer.streams) - settings.streams) }
            heap.put(
                .streams, at: (isLow ? fewer.time : fewer.every) - gone, place: Int32(connection),
                count: isLow ? change(fewer) : -change(fewer))
        }
    }

    private func change(_ fewer: FewerStreams) -> Int32 {
        Int32(clamping: settings.streams - Int(fewer.streams))
    }

    /// What is under way when there are to be fewer stays so: less than none are free then.
    private func changeStreams(_ event: EventHeap.Event) {
        guard let fewer = settings.fewerStreams else { return }
        addStreams(Int(event.place), Int(event.count))
        heap.put(
            .streams, at: now + (event.count < 0 ? fewer.time : fewer.every - fewer.time), place: event.place,
            count: -event.count)
        wake(connections[Int(event.place)].worker)
    }

    func atServer(_ event: EventHeap.Event) {
        let server = connections[Int(event.place)].server
        guard server >= 0 else { return taken(event.place, event.head, event.count) }
        threads[server].inbox.append((event.place, event.head, event.count))
        wake(server)
    }

    /// The server has read the pushes: the window opens again, and they are answered in time.
    func taken(_ connection: Int32, _ head: Int32, _ count: Int32) {
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
                // On their way the answers wait as long besides.
                let wait = settings.wait.draw(&random)
                heap.put(.window, at: now + settings.link.roundTrip / 2 + wait, place: connection, count: allowed)
            }
        }
        if case .constant(let own) = settings.serverTime, case .constant(let wait) = settings.wait {
            let time = own + wait
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
            heap.put(
                .answer, at: now + serverTime() + settings.wait.draw(&random), place: connection, head: push, count: 1)
            push = following
        }
    }

    private func serverTime() -> Double {
        guard earliest > 0 else { return settings.serverTime.draw(&random) }
        earliest -= 1
        // It came half a round trip ago only.
        return max(0, settings.serverTime.rest(&random) - settings.link.roundTrip / 2)
    }

    func answer(_ connection: Int32, _ head: Int32, _ count: Int32) {
        var leaves = now
        let bytes = Double(count) * settings.answerBytes
        if let rate = settings.linkRate {
            let freeAt = max(connections[Int(connection)].downFreeAt, now) + bytes / rate * 1e9
            connections[Int(connection)].downFreeAt = freeAt
            leaves = freeAt
        }
        let at = settings.link.arrival(
            leaves: leaves, bytes: bytes, last: &connections[Int(connection)].downLast, &random)
        heap.put(.atClient, at: at, place: connection, head: head, count: count)
    }
}
