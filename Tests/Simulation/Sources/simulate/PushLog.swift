import Transport

/// Between an engine and its driver: hands every call on, writes it down, and holds it against the books.
final class PushLog: PushDriver {
    struct Take {
        let ticket: PushTicket
        let now: UInt64
        let measuredFrom: UInt64
    }
    struct Written {
        let ticket: PushTicket
        let started: UInt64
        let at: UInt64
    }
    struct Finish {
        let ticket: PushTicket
        let outcome: PushOutcome
        let connection: Int
        let started: UInt64
        let written: UInt64
        let at: UInt64
    }
    /// In the order in which they came.
    enum Entry {
        case take(Take)
        case composed(PushTicket)
        case written(Written)
        case finished(Finish)
        case requeued
        case idled(until: UInt64)
        case writtenAfterEnd(at: UInt64)
        case abandoned(now: UInt64)
        case stopped(FailureCause, now: UInt64)
        case ended(now: UInt64)
        case tick(UInt64, inFlight: Int)
        /// The run's watcher looked.
        case look
    }

    private(set) var entries: [Entry] = []
    private(set) var connections: [ConnectionEvent] = []
    private(set) var abandonedBy: FailureCause?
    private let worker: Int
    private let inner: PushDriver
    private let books: Books
    private let world: World
    private let isOpenLoop: Bool
    /// When measuring begins, as far as known.
    var measuredFrom: () -> UInt64 = { .max }

    init(_ worker: Int, _ inner: PushDriver, books: Books, world: World, isOpenLoop: Bool) {
        self.worker = worker
        self.inner = inner
        self.books = books
        self.world = world
        self.isOpenLoop = isOpenLoop
    }

    func didLook() { entries.append(.look) }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        let supply = inner.take(now: now, into: &ticket)
        if case .push = supply {
            entries.append(.take(Take(ticket: ticket, now: now, measuredFrom: measuredFrom())))
            world.digest.add(ticket.sequence)
            world.digest.add(now)
        }
        books.took(worker, supply, ticket, asked: now, isOpenLoop: isOpenLoop)
        return supply
    }

    override func hasMore(now: UInt64) -> Bool { inner.hasMore(now: now) }
    override func mayEnd(now: UInt64) -> Bool { inner.mayEnd(now: now) }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        inner.compose(ticket, connection: connection, into: &request)
        entries.append(.composed(copy ticket))
        books.composed(worker, copy ticket, connection: connection)
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        inner.written(ticket, started: started, at: time)
        entries.append(.written(Written(ticket: copy ticket, started: started, at: time)))
        world.digest.add(time)
        books.written(worker, copy ticket, started: started, at: time)
    }

    override func writtenAfterEnd(at time: UInt64) {
        inner.writtenAfterEnd(at: time)
        entries.append(.writtenAfterEnd(at: time))
        world.digest.add(time)
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64, body: UnsafeBufferPointer<UInt8>
    ) {
        inner.finished(
            ticket, outcome: outcome, connection: connection, started: started, written: written, at: time, body: body)
        entries.append(
            .finished(
                Finish(
                    ticket: copy ticket, outcome: outcome, connection: connection, started: started, written: written,
                    at: time)))
        world.digest.add(ticket.sequence)
        world.digest.add(time)
        books.finished(worker, copy ticket, outcome, started: started, written: written, at: time)
    }

    override func askedToWait(_ time: UInt64) { inner.askedToWait(time) }

    override func hasSignedAnew(
        connection: Int, started: UInt64, isLast: Bool, body: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        inner.hasSignedAnew(connection: connection, started: started, isLast: isLast, body: body)
    }

    override func requeued(_ ticket: borrowing PushTicket) {
        inner.requeued(ticket)
        entries.append(.requeued)
        world.digest.add(ticket.sequence)
        books.requeued(worker, copy ticket)
    }

    override func abandon(_ cause: FailureCause, now: UInt64) {
        inner.abandon(cause, now: now)
        abandonedBy = cause
        entries.append(.abandoned(now: now))
        books.abandoned(worker, cause)
    }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        inner.connection(index, event)
        connections.append(event)
        books.connection(worker, index, event)
    }

    override func connectionProblem(_ text: String) { inner.connectionProblem(text) }
    override func streamFault(_ text: String) { inner.streamFault(text) }

    override func idled(until time: UInt64) {
        inner.idled(until: time)
        entries.append(.idled(until: time))
    }

    override func nextDue(now: UInt64) -> UInt64? { inner.nextDue(now: now) }
    override func missed(_ noConnection: NoConnection) { inner.missed(noConnection) }

    override func stopped(_ cause: FailureCause, now: UInt64) {
        inner.stopped(cause, now: now)
        entries.append(.stopped(cause, now: now))
    }

    override func ended(now: UInt64) {
        inner.ended(now: now)
        entries.append(.ended(now: now))
    }

    override func tick(now: UInt64, unixTime: Int64, inFlight: Int) {
        inner.tick(now: now, unixTime: unixTime, inFlight: inFlight)
        entries.append(.tick(now, inFlight: inFlight))
        books.didTick(worker, now)
    }
}
