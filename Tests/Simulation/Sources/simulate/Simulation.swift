import Harness
import MockAPNs
import Networking
import Results
import Transport

/// One run from its seed: client, mock, network and operator in one thread, in the order in which the virtual clock lets things
/// happen.
final class Simulation {
    /// Somebody who is turned: a worker of the client, or the mock.
    private struct Party {
        let loop: VirtualLoop
        var isOver = false
        /// Held up until then.
        var notBefore: UInt64 = 0
        var lateness: UInt64 = 0
        var readySince = UInt64.max
    }

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
    private var steps = 0
    private static let address = try! SocketAddress(host: "127.0.0.1", port: 1)
    /// More events than any run needs.
    private static let mostSteps = 3_000_000

    init(seed: UInt64, isTold: Bool) throws {
        var random = Random(seed: seed, stream: 2)
        let weather = Weather(&random)
        self.weather = weather
        self.random = random
        let drawn = DrawnRun(seed: seed)
        self.drawn = drawn
        let clock = VirtualClock(cost: weather.clockCost, random: Random(seed: seed, stream: 3))
        let world = World(seed: seed, clock: clock, isTold: isTold)
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
        for log in logs { log.measuredFrom = { [unowned self] in run.measuredFrom } }
        world.tell("seed \(seed): \(drawn.scenario)")
        world.tell("\(drawn.mock.faults), \(weather)")
    }

    private func dial(_ worker: Int, _ loop: VirtualLoop) -> VirtualStream {
        let link = Link(books.links.count, books: books.addLink(worker: worker), world: world, weather: weather) {
            [unowned self] link in
            mock.adopt(
                VirtualStream(
                    link, .server, loop: mockParty.loop, world: world, hidesInput: weather.hidesInput))
        }
        links.append(link)
        world.tell("worker \(worker): dials link \(link.number)")
        return VirtualStream(link, .client, loop: loop, world: world, hidesInput: weather.hidesInput)
    }

    // MARK: The course of time

    func simulate() -> Outcome {
        let begin = world.clock.now
        var nextLook = begin + 50_000_000
        var orders = orders(begin)
        let patience = begin + drawn.patience
        // After an abort nothing is waited for any more.
        let end = patience + drawn.scenario.pushTimeout * 2 + 5_000_000_000
        run.begin()
        while world.failure == nil, workers.contains(where: { !$0.isOver }) {
            steps += 1
            let now = world.clock.now
            if steps > Self.mostSteps || now > end {
                world.fail("the run does not end")
                break
            }
            var next = min(nextLook, orders.first?.due ?? .max, patience)
            for link in links { next = min(next, link.nextDue) }
            noticeReady()
            for worker in workers where !worker.isOver { next = min(next, wakeTime(worker)) }
            next = min(next, mockTime())
            world.clock.advance(to: next)
            let time = world.clock.now
            for link in links { link.deliver(time) }
            links.removeAll { $0.isOver }
            noticeReady()
            while let order = orders.first, order.due <= time {
                orders.removeFirst()
                ask(order.request)
            }
            if patience <= time, books.request != .abort {
                world.note(.operatorStop)
                ask(.abort)
            }
            if nextLook <= time {
                run.look()
                for log in logs { log.didLook() }
                nextLook = time + 50_000_000
            }
            turnSomebody(time)
        }
        if world.failure == nil { conclude() }
        return Outcome(
            failure: world.failure, digest: world.digest.value, happened: world.happened, steps: steps,
            calls: logs.reduce(0) { $0 + $1.entries.count })
    }

    private enum Order { case drain, abort, targetGone }

    private func orders(_ begin: UInt64) -> [(due: UInt64, request: Order)] {
        var orders: [(due: UInt64, request: Order)] = []
        if let time = drawn.drainAfter { orders.append((begin + time, .drain)) }
        if let time = drawn.abortAfter { orders.append((begin + time, .abort)) }
        if let time = drawn.targetGoneAfter { orders.append((begin + time, .targetGone)) }
        return orders.sorted { $0.due < $1.due }
    }

    private func ask(_ order: Order) {
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
        books.request = run.control.request
        for worker in workers { worker.loop.wake() }
    }

    private func noticeReady() {
        let now = world.clock.now
        for index in workers.indices where !workers[index].isOver && workers[index].readySince == .max {
            if workers[index].loop.isReady { workers[index].readySince = now }
        }
        if mockParty.readySince == .max, mockParty.loop.isReady { mockParty.readySince = now }
    }

    private func wakeTime(_ party: Party) -> UInt64 {
        let wanted = min(party.loop.sleepsUntil, party.readySince)
        // What did not sleep goes on at once.
        let time = party.loop.sleepsUntil == 0 ? 0 : wanted == .max ? .max : wanted + party.lateness
        return max(time, party.notBefore)
    }

    private func mockTime() -> UInt64 {
        let wanted = min(mock.nextTurn, mockParty.readySince)
        return max(wanted == .max ? .max : wanted == 0 ? 0 : wanted + mockParty.lateness, mockParty.notBefore)
    }

    /// One of those whose time has come.
    private func turnSomebody(_ time: UInt64) {
        var due: [Int] = []
        for index in workers.indices where !workers[index].isOver && wakeTime(workers[index]) <= time {
            due.append(index)
        }
        if mockTime() <= time { due.append(workers.count) }
        guard !due.isEmpty else { return }
        let chosen = due[random.below(due.count)]
        if chosen == workers.count { turnMock() } else { turn(chosen) }
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
        workers[worker].readySince = .max
        workers[worker].lateness = random.between(0, weather.wakeLateness)
        if random.chance(weather.workerStalls) {
            world.note(.workerStalls)
            workers[worker].notBefore = world.clock.now + random.spread(10_000, weather.longestStall)
        }
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
            drawn.scenario, logs: logs, start: run.start, request: run.control.request, world: world)
        ResultChecks(model, result, now: world.clock.now, world: world).check()
        checkLedger(model, result)
        checkConnections(result)
    }

    /// What was accepted by the client was accepted by the mock, bit by bit.
    private func checkLedger(_ model: RunModel, _ result: ResultDocument) {
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
        world.check(
            (theirs?.delivered ?? 0) <= UInt64(model.fates.count), "the mock's ledger holds pushes that were never sent"
        )
    }

    private func checkConnections(_ result: ResultDocument) {
        let events = logs.flatMap(\.connections)
        func count(_ wanted: ConnectionEvent) -> UInt64 { UInt64(events.count { $0 == wanted }) }
        let connections = result.connections
        world.check(
            connections.opened == count(.opened) && connections.lost == count(.lost)
                && connections.connectFailures == count(.connectFailed) && connections.goAways == count(.goAway)
                && connections.reconnects == count(.reconnecting), "connections are miscounted")
        if !books.isUncertain {
            world.check(
                connections.opened == books.opened,
                "\(connections.opened) connections opened, the network saw \(books.opened)")
        }
    }
}
