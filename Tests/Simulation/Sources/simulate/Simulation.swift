import Harness
import MockAPNs
import Networking
import Results
import Transport

/// One run from its seed: client, mock, network and operator in one thread, in the order in which the virtual clock lets things
/// happen.
///
/// A worker that waits is not left: the rest of the world goes on inside its wait. When one below it on the stack wakes up
/// first, its wait ends early, as that of a thread may.
final class Simulation {
    /// Somebody who is turned: a worker of the client, or the mock.
    private struct Party {
        let loop: VirtualLoop
        var isOver = false
        var isAsleep = false
        var sleepsUntil: UInt64 = 0
        var isWoken = false
        /// Held up until then.
        var notBefore: UInt64 = 0
        /// How late it wakes up.
        var lateness: UInt64 = 0
        var readySince = UInt64.max
    }

    private enum Order { case drain, abort, targetGone }

    struct Outcome {
        let failure: String?
        let digest: UInt64
        let happened: Set<Happening>
        let steps: Int
        /// Between engine and driver.
        let calls: Int
    }

    private let world: World
    private let drawn: DrawnRun
    private let weather: Weather
    private let books: Books
    private var random: Random
    private var links: [Link] = []
    private let mock: HandDrivenMock
    private var mockParty: Party
    private var workers: [Party] = []
    private var logs: [PushLog] = []
    private var run: HandDrivenRun!
    private var orders: [(due: UInt64, order: Order)] = []
    private var begin: UInt64 = 0
    private var nextLook: UInt64 = 0
    private var patience: UInt64 = 0
    private var end: UInt64 = 0
    private var wasAsked = false
    private var steps = 0
    private static let address = try! SocketAddress(host: "127.0.0.1", port: 1)
    private static let lookPause: UInt64 = 50_000_000
    /// More events than any run needs.
    private static let mostSteps = 2_000_000

    /// - Throws: when the drawn scenario cannot be run.
    init(seed: UInt64, isTold: Bool) throws {
        var random = Random(seed: seed, stream: 2)
        let weather = Weather(&random)
        let drawn = DrawnRun(seed: seed)
        let clock = VirtualClock(cost: weather.clockCost, random: Random(seed: seed, stream: 3))
        let world = World(seed: seed, clock: clock, isTold: isTold)
        self.weather = weather
        self.random = random
        self.drawn = drawn
        self.world = world
        books = Books(world, drawn)
        mockParty = Party(
            loop: VirtualLoop(world: world, random: Random(seed: seed, stream: 4)) { _ in
                fatalError("the mock connects to nobody")
            })
        mock = try HandDrivenMock(drawn.mock, loop: mockParty.loop, seed: seed)
        for worker in 0..<drawn.scenario.threads {
            let loop = VirtualLoop(world: world, random: Random(seed: seed, stream: 10 + UInt64(worker))) {
                [unowned self] in dial(worker, $0)
            }
            loop.willWait = { [unowned self] in books.willWait(worker, until: $0) }
            loop.sleep = { [unowned self] in sleep(worker, until: $0) }
            workers.append(Party(loop: loop))
        }
        let loops = workers.map(\.loop)
        let isOpenLoop = drawn.scenario.isOpenLoop
        run = try HandDrivenRun(
            drawn.scenario, address: Self.address, identity: nil, runID: seed | 1 << 63, loop: { loops[$0] },
            observe: { [unowned self] worker, inner in
                let log = PushLog(worker, inner, books: books, world: world, isOpenLoop: isOpenLoop)
                logs.append(log)
                return log
            })
        books.runStart = { [unowned self] in run.start }
        for log in logs { log.measuredFrom = { [unowned self] in run.measuredFrom } }
        world.tell("seed \(seed): \(drawn.scenario)")
        world.tell("\(drawn.mock.faults), \(weather)")
    }

    private func dial(_ worker: Int, _ loop: VirtualLoop) -> VirtualStream {
        let books = books.addLink(worker: worker)
        var weather = weather
        if let cutOff = drawn.cutOff, cutOff.worker == worker {
            weather.reset = 1
            if world.clock.now >= begin + cutOff.after { weather.refused = 1 }
        }
        let hidesInput = weather.hidesInput
        let link = Link(books.number, books: books, world: world, weather: weather) { [unowned self] link in
            mock.adopt(
                VirtualStream(link, .server, loop: mockParty.loop, world: world, hidesInput: hidesInput))
        }
        links.append(link)
        world.tell("worker \(worker): dials link \(link.number)")
        return VirtualStream(link, .client, loop: loop, world: world, hidesInput: hidesInput)
    }

    // MARK: The course of time

    func simulate() -> Outcome {
        begin = world.clock.now
        nextLook = begin + Self.lookPause
        patience = begin + drawn.patience
        // After an abort nothing is waited for any more.
        end = patience + 1_000_000_000
        if let time = drawn.drainAfter { orders.append((begin + time, .drain)) }
        if let time = drawn.abortAfter { orders.append((begin + time, .abort)) }
        if let time = drawn.targetGoneAfter { orders.append((begin + time, .targetGone)) }
        orders.sort { $0.due < $1.due }
        run.begin()
        while world.failure == nil, workers.contains(where: { !$0.isOver }) { _ = step() }
        if world.failure == nil { conclude() }
        return Outcome(
            failure: world.failure, digest: world.digest.value, happened: world.happened, steps: steps,
            calls: logs.reduce(0) { $0 + $1.entries.count })
    }

    /// A worker waits: the others go on.
    private func sleep(_ worker: Int, until time: UInt64) {
        workers[worker].isAsleep = true
        workers[worker].sleepsUntil = time
        workers[worker].isWoken = false
        workers[worker].readySince = .max
        workers[worker].lateness = random.between(0, weather.wakeLateness)
        if random.chance(weather.workerStalls) {
            world.note(.workerStalls)
            workers[worker].notBefore = world.clock.now + random.spread(10_000, weather.longestStall)
        }
        while world.failure == nil, !step() {}
        workers[worker].isAsleep = false
    }

    /// Lets happen what comes next.
    ///
    /// - Returns: true when a worker that waits is to go on.
    private func step() -> Bool {
        steps += 1
        world.check(steps <= Self.mostSteps && world.clock.now <= end, "the run does not end")
        var next = min(nextLook, orders.first?.due ?? .max, patience, mockTime())
        for link in links { next = min(next, link.nextDue) }
        noticeReady()
        for worker in workers where !worker.isOver { next = min(next, wakeTime(worker)) }
        world.clock.advance(to: next)
        let time = world.clock.now
        for link in links { link.deliver(time) }
        links.removeAll { $0.isOver }
        noticeReady()
        while let first = orders.first, first.due <= time {
            orders.removeFirst()
            ask(first.order)
        }
        if patience <= time, books.request != .abort {
            world.note(.operatorStop)
            ask(.abort)
        }
        if nextLook <= time {
            run.look()
            for log in logs { log.didLook() }
            noticeTimeUp(time)
            nextLook = time + Self.lookPause
        }
        return turnSomebody(time)
    }

    private func ask(_ order: Order) {
        if order != .targetGone { wasAsked = true }
        world.tell("the operator asks: \(order)")
        switch order {
        case .drain:
            world.note(.interrupted)
            run.control.ask(.drain)
        case .abort:
            world.note(.aborted)
            run.control.ask(.abort)
        case .targetGone:
            world.note(.targetGone)
            run.control.targetEnded()
        }
        noteRequest()
    }

    private func noteRequest() {
        books.request = run.control.request
        books.requestCause = run.control.cause
        for index in workers.indices { workers[index].isWoken = true }
    }

    /// The run's watcher has looked: it ends a run whose time is over, and no other.
    private func noticeTimeUp(_ time: UInt64) {
        guard run.control.request != books.request else { return }
        noteRequest()
        world.note(run.control.request == .abort ? .drainEnded : .timeUp)
        let over = drawn.scenario.duration.map { run.start + $0 + drawn.scenario.drain / 10 }
        world.check(
            run.start > 0 && over.map { time > $0 } ?? false,
            "the run is ended at \(World.milliseconds(time)), before its time")
    }

    private func noticeReady() {
        let now = world.clock.now
        for index in workers.indices where workers[index].isAsleep && workers[index].readySince == .max {
            if workers[index].loop.isReady { workers[index].readySince = now }
        }
        if mockParty.readySince == .max, mockParty.loop.isReady { mockParty.readySince = now }
    }

    private func wakeTime(_ worker: Party) -> UInt64 {
        guard worker.isAsleep, !worker.isWoken else { return worker.notBefore }
        let wanted = min(worker.sleepsUntil, worker.readySince)
        return wanted == .max ? .max : max(wanted + worker.lateness, worker.notBefore)
    }

    private func mockTime() -> UInt64 {
        let wanted = min(mock.nextTurn, mockParty.readySince)
        return wanted == .max ? .max : max(wanted + mockParty.lateness, mockParty.notBefore)
    }

    /// One of those whose time has come goes on.
    ///
    /// - Returns: true when it is one that waits.
    private func turnSomebody(_ time: UInt64) -> Bool {
        var due = workers.indices.filter { !workers[$0].isOver && wakeTime(workers[$0]) <= time }
        if mockTime() <= time { due.append(workers.count) }
        guard !due.isEmpty else { return false }
        let chosen = due[random.below(due.count)]
        if chosen == workers.count {
            turnMock()
        } else if workers[chosen].isAsleep {
            return true
        } else {
            turn(chosen)
        }
        return false
    }

    private func turnMock() {
        mock.turn()
        mockParty.readySince = .max
        mockParty.lateness = random.between(0, weather.wakeLateness)
        if random.chance(weather.mockStalls) {
            world.note(.mockStalls)
            mockParty.notBefore = world.clock.now + random.spread(10_000, weather.longestStall)
        }
    }

    private func turn(_ worker: Int) {
        let goesOn = run.turn(worker, waits: true)
        books.didTurn(worker)
        guard !goesOn else { return }
        world.tell("worker \(worker): has ended")
        books.willEnd(worker)
        run.end(worker)
        workers[worker].isOver = true
        books.didEnd(worker)
        world.check(workers[worker].loop.registered == 0, "worker \(worker) leaves descriptors registered")
        world.check(workers[worker].loop.openStreams == 0, "worker \(worker) leaves connections open")
    }

    // MARK: The end

    private func conclude() {
        world.check(run.leftovers == EngineLeftovers(), "left at the end: \(run.leftovers)")
        let result = run.result()
        let model = RunModel(
            drawn.scenario, logs: logs, start: run.start, request: run.control.request, stopCause: run.control.cause,
            wasAsked: wasAsked, world: world)
        ResultChecks(model, result, now: world.clock.now, world: world).check()
        checkLedger(model)
        checkConnections(result)
    }

    /// What was accepted by the client was accepted by the mock, bit by bit.
    private func checkLedger(_ model: RunModel) {
        let theirs = mock.ledger(run: run.runID)
        for (sequence, fate) in model.fates.sorted(by: { $0.key < $1.key }) {
            let isAccepted = fate.outcome.isAccepted
            world.check(
                run.accepted.contains(sequence) == isAccepted, "push \(sequence): the client's ledger says otherwise")
            if isAccepted, !books.isUncertain {
                world.check(
                    theirs?.contains(sequence) ?? false, "push \(sequence) is accepted, but not in the mock's ledger")
            }
        }
        let written = books.writtenPushes
        if let theirs {
            for sequence in 0..<model.planned where theirs.contains(sequence) {
                world.check(
                    written.contains(sequence), "push \(sequence) is in the mock's ledger, but was never sent whole")
            }
            world.check(theirs.outOfRange == 0, "the mock's ledger knows of pushes that there are not")
        }
    }

    private func checkConnections(_ result: ResultDocument) {
        let events = logs.flatMap(\.connections)
        func count(_ wanted: ConnectionEvent) -> UInt64 { UInt64(events.count { $0 == wanted }) }
        let connections = result.connections
        world.check(
            connections.opened == count(.opened) && connections.lost == count(.lost)
                && connections.connectFailures == count(.connectFailed) && connections.goAways == count(.goAway)
                && connections.reconnects == count(.reconnecting), "connections are miscounted")
        let ends = connections.ends.values.reduce(0, +)
        world.check(
            ends == connections.lost + connections.goAways + connections.connectFailures,
            "\(ends) ends of connections, \(connections.lost) lost, \(connections.goAways) told to go, \(connections.connectFailures) not made"
        )
        if !books.isUncertain {
            world.check(
                connections.opened == books.opened,
                "\(connections.opened) connections opened, the network saw \(books.opened)")
        }
    }
}
