import CCurl
import Devices
import Faults
import Networking

/// The requests of devices on one thread: a bounded pool of transfers, those that wait for a place in it, those that wait to be
/// repeated. Times are nanoseconds of the monotonic clock.
///
/// Whoever waits longest goes first; all wait until their deadline and no longer.
final class EchoLoop {
    /// What is told of each request that has ended.
    struct Notice {
        let id: UInt64
        let fleet: Int
        let epoch: UInt32
        let ending: EchoEnding
        let time: UInt64
    }

    let reactor: Reactor
    private let configuration: EchoConfiguration
    private let writer: EchoContentWriter
    private let lists: CurlLists
    private let multi: CurlMulti
    var served: ServedSocket { multi.served }
    /// Tells a device how its request ended. Says whether it was still waited for.
    var tell: (Notice) -> Bool = { _ in true }

    private(set) var books = EchoBooks()
    private(set) var epoch: UInt32 = 0
    private var contents = EchoContents()
    private var waiting = DueQueue<Ask>()
    private var pausing = DueQueue<Ask>()
    private var transfers: [CurlTransfer] = []
    private var free: [Int] = []
    /// No transfer under way has an earlier deadline.
    private var runningDue = UInt64.max

    /// - Throws: there is no memory, or no descriptor.
    init(_ configuration: EchoConfiguration) throws(EchoError) {
        self.configuration = configuration
        do throws(NetworkError) { reactor = try Reactor() } catch { throw EchoError(error.description) }
        writer = EchoContentWriter(configuration.target, seed: configuration.seed)
        lists = CurlLists(configuration.target)
        multi = try CurlMulti(reactor, places: configuration.places, multiplexes: configuration.multiplexes)
    }

    deinit { cancelAll() }

    /// Forgets all requests and counts.
    ///
    /// - Parameter epoch: of the requests that come from now on; others are not taken.
    func begin(epoch: UInt32) {
        cancelAll()
        self.epoch = epoch
        waiting = DueQueue()
        pausing = DueQueue()
        contents = EchoContents()
        books = EchoBooks()
    }

    /// Ends what is under way; nobody is told.
    private func cancelAll() {
        for transfer in transfers where transfer.ask != nil { multi.remove(transfer) }
        // Their handles may have sent what is no longer known.
        transfers = []
        free = []
        runningDue = .max
    }

    /// Ends the thread's part: what is under way stays so in the books, with how long it had been waited for.
    func end() {
        let now = MonotonicClock.now()
        for transfer in transfers {
            guard let ask = transfer.ask else { continue }
            note(transfer)
            books.stayed(ask, at: now)
        }
        for queue in [waiting, pausing] {
            var queue = queue
            while let ask = queue.take(now: .max) { books.stayed(ask, at: now) }
        }
        (waiting, pausing) = (DueQueue(), DueQueue())
        cancelAll()
    }

    /// Takes a request in.
    func take(_ request: EchoRequest, fleet: UInt32, epoch: UInt32, madeAt: UInt64, deadline: UInt64) {
        guard epoch == self.epoch else { return }
        books.made(request.kind, at: madeAt)
        let content: UInt32
        do throws(EchoContentWriter.Refusal) { content = try contents.keep(request, writer) } catch {
            let now = MonotonicClock.now()
            _ = tell(Notice(id: request.id, fleet: Int(fleet), epoch: epoch, ending: .failed, time: now))
            books.failed(request.kind, error.rawValue, madeAt: madeAt, at: now)
            return
        }
        let ask = Ask(
            id: request.id, device: request.device.word, madeAt: madeAt, deadline: deadline, fleet: fleet,
            content: content, kind: request.kind)
        waiting.add(ask, due: deadline)
    }

    /// Does what is due, and begins what there is room for.
    ///
    /// - Returns: when to come again though nothing came; `UInt64.max`: nothing is planned.
    func turn() -> UInt64 {
        let now = MonotonicClock.now()
        multi.doWhatIsDue(now)
        collect()
        giveUp(now)
        while let ask = pausing.take(now: now) { waiting.add(ask, due: ask.deadline) }
        while let ask = waiting.take(now: now) { expire(ask, now) }
        while !waiting.isEmpty, hasRoom, let ask = waiting.take(now: .max) { begin(ask, now) }
        return min(multi.due, waiting.nextDue ?? .max, pausing.nextDue ?? .max, runningDue)
    }

    /// Waits until something comes, or until `due`, and takes it in.
    func wait(until due: UInt64) {
        let now = MonotonicClock.now()
        let count = reactor.wait(timeout: due == .max ? nil : due - min(due, now))
        for index in 0..<count { multi.take(reactor.event(at: index)) }
    }

    // MARK: Transfers

    /// Where connections can be shared, no more is begun than those that are there can take, and a few besides.
    private var hasRoom: Bool {
        var most = configuration.places
        if configuration.multiplexes {
            most = Int(min(UInt64(most), Self.firstConnections &+ books.connections &* Self.streamsEach))
        }
        return transfers.count - free.count < most
    }

    private static let firstConnections: UInt64 = 8
    /// Half of what most servers allow: others are still being connected.
    private static let streamsEach: UInt64 = 50

    private func begin(_ ask: Ask, _ now: UInt64) {
        var ask = ask
        books.begun(ask, at: now)
        ask.attempts += 1
        guard let transfer = freeTransfer() else { return fail(ask, "out of memory") }
        transfer.prepare(ask, contents)
        guard multi.add(transfer) else {
            release(transfer)
            return fail(ask, "out of memory")
        }
        runningDue = min(runningDue, ask.deadline)
    }

    private func freeTransfer() -> CurlTransfer? {
        if let slot = free.popLast() { return transfers[slot] }
        guard let transfer = CurlTransfer(configuration, lists, slot: transfers.count) else { return nil }
        transfers.append(transfer)
        return transfer
    }

    private func release(_ transfer: CurlTransfer) {
        transfer.ask = nil
        free.append(transfer.slot)
    }

    /// Takes what has ended.
    private func collect() {
        while let ended = multi.nextEnded() {
            let transfer = transfers[ended.slot]
            guard let ask = transfer.ask else { continue }
            let ending = AttemptEnding(
                ended.result, transfer, isRepeatable: ask.isRepeatable, needsHTTP2: configuration.version == .two)
            note(transfer)
            if ended.result == CURLE_OK { books.tookAnswer(transfer.status) }
            multi.remove(transfer)
            release(transfer)
            switch ending {
            case .answered(let ending): answer(ask, ending)
            case .repeatable(let cause, let after): pause(ask, cause, after)
            case .failed(let cause): fail(ask, cause)
            }
        }
    }

    private func note(_ transfer: CurlTransfer) {
        books.bytes &+= UInt64(transfer.bodyBytes)
        books.connections &+= transfer.takeConnections()
    }

    /// Those whose time is up while they are under way.
    private func giveUp(_ now: UInt64) {
        guard now >= runningDue else { return }
        runningDue = .max
        for transfer in transfers {
            guard let ask = transfer.ask else { continue }
            if ask.deadline <= now {
                note(transfer)
                multi.remove(transfer)
                release(transfer)
                expire(ask, now)
            } else {
                runningDue = min(runningDue, ask.deadline)
            }
        }
    }

    // MARK: Endings

    private func tell(_ ask: Ask, _ ending: EchoEnding, _ time: UInt64) -> Bool {
        contents.giveBack(ask.content)
        return tell(Notice(id: ask.id, fleet: Int(ask.fleet), epoch: epoch, ending: ending, time: time))
    }

    private func answer(_ ask: Ask, _ ending: EchoEnding) {
        let now = MonotonicClock.now()
        if tell(ask, ending, now), now < ask.deadline {
            books.answered(ask, at: now)
        } else {
            books.gaveUp(ask, at: now)
        }
    }

    private func fail(_ ask: Ask, _ cause: String) {
        let now = MonotonicClock.now()
        if tell(ask, .failed, now), now < ask.deadline {
            books.failed(ask.kind, cause, madeAt: ask.madeAt, at: now)
        } else {
            books.gaveUp(ask, at: now)
        }
    }

    /// Its deadline has passed.
    private func expire(_ ask: Ask, _ now: UInt64) {
        _ = tell(ask, .failed, now)
        if ask.attempts == 0 { books.neverBegan(ask, at: now) } else { books.gaveUp(ask, at: now) }
    }

    /// Once more after a while, unless that would be too late or too often.
    private func pause(_ ask: Ask, _ cause: String, _ after: Int?) {
        let now = MonotonicClock.now()
        let retry = Int(ask.attempts) - 1
        guard retry < configuration.pauses.count else { return fail(ask, cause) }
        let pause: UInt64
        if let after {
            pause = UInt64(min(after, 1 << 20)) * 1_000_000_000
        } else {
            var random = SeededRandom(seed: configuration.seed ^ ask.device, stream: ask.id << 8 | UInt64(ask.attempts))
            pause = UInt64(Double(configuration.pauses[retry]) * (0.75 + 0.5 * random.unit()))
        }
        guard now < ask.deadline, pause < ask.deadline - now else { return fail(ask, cause) }
        pausing.add(ask, due: now + pause)
    }
}
