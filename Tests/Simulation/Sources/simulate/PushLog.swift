import Transport

/// Between an engine and its driver: hands every call on, writes it down, and holds it against the books.
final class PushLog: PushDriver {
    struct Take {
        let ticket: PushTicket
        let now: UInt64
    }
    struct Written {
        let ticket: PushTicket
        let started: UInt64
        let at: UInt64
        let measuredFrom: UInt64
    }
    struct Finish {
        let ticket: PushTicket
        let outcome: PushOutcome
        let connection: Int
        let started: UInt64
        let written: UInt64
        let at: UInt64
        let measuredFrom: UInt64
        /// Attempts written until then.
        let sent: UInt64
        let reason: Bool
    }
    /// In the order in which they came.
    enum Entry {
        case take(Take)
        case waited(now: UInt64, supply: Supply)
        case composed(PushTicket)
        case written(Written)
        case finished(Finish)
        case requeued
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
    private var sent: UInt64 = 0

    init(_ worker: Int, _ inner: PushDriver, books: Books, world: World, isOpenLoop: Bool) {
        self.worker = worker
        self.inner = inner
        self.books = books
        self.world = world
        self.isOpenLoop = isOpenLoop
    }

    func didLook() { entries.append(.look) }

    private func copy(_ ticket: borrowing PushTicket) -> PushTicket {
        PushTicket(
            sequence: ticket.sequence, due: ticket.due, attempts: ticket.attempts, retries: ticket.retries)
    }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        let supply = inner.take(now: now, into: &ticket)
        if case .push = supply {
            entries.append(.take(Take(ticket: ticket, now: now)))
            world.digest.add(ticket.sequence)
            world.digest.add(now)
        } else {
            entries.append(.waited(now: now, supply: supply))
        }
        books.took(worker, supply, ticket, asked: now, isOpenLoop: isOpenLoop)
        return supply
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        inner.compose(ticket, connection: connection, into: &request)
        entries.append(.composed(copy(ticket)))
        books.composed(worker, copy(ticket), connection: connection)
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        inner.written(ticket, started: started, at: time)
        sent += 1
        entries.append(
            .written(Written(ticket: copy(ticket), started: started, at: time, measuredFrom: measuredFrom())))
        world.digest.add(time)
        books.written(worker, copy(ticket), started: started, at: time)
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
                    ticket: copy(ticket), outcome: outcome, connection: connection, started: started, written: written,
                    at: time, measuredFrom: measuredFrom(), sent: sent, reason: !body.isEmpty)))
        world.digest.add(ticket.sequence)
        world.digest.add(time)
        books.finished(worker, copy(ticket), outcome, started: started, written: written, at: time)
    }

    override func requeued(_ ticket: borrowing PushTicket) {
        inner.requeued(ticket)
        entries.append(.requeued)
        world.digest.add(ticket.sequence)
        books.requeued(worker, copy(ticket))
    }

    override func abandon(_ cause: FailureCause) {
        inner.abandon(cause)
        abandonedBy = cause
        books.abandoned(worker, cause)
    }

    override func connection(_ index: Int, _ event: ConnectionEvent) {
        inner.connection(index, event)
        connections.append(event)
        books.connection(worker, index, event)
    }

    override func tick(now: UInt64, unixTime: Int64, inFlight: Int) {
        inner.tick(now: now, unixTime: unixTime, inFlight: inFlight)
        entries.append(.tick(now, inFlight: inFlight))
    }
}
