import PlainHTTP

/// Requests for `/pushes` that wait until as many pushes have come as they ask for, or their time is over. Touched by the admin thread
/// only, which is woken by the next push that is kept while one waits.
struct PushWaits {
    private struct Wait {
        /// Of the `PlainServer`.
        let request: UInt64
        let query: PushQuery
        /// Monotonic ns.
        let deadline: UInt64
        var found = 0
        /// Of the last push that was looked at.
        var seen: UInt64 = 0
    }

    static let most = 256
    /// Between two looks, ns: what comes faster is looked at together.
    private static let interval: UInt64 = 5_000_000

    private let pushes: KeptPushes
    private let watch: PushWatch
    private var waits: [Wait] = []
    /// Those whose waiting is over, and that are not answered yet.
    private var over: [Wait] = []
    private var nextLook: UInt64 = 0
    /// A push has been kept since the last look.
    private var isTold = false
    /// As many resets as were known at the last look.
    private var resets: UInt64 = 0

    init(_ server: MockServer) {
        pushes = KeptPushes(server: server)
        watch = server.shared.watch
    }

    var count: Int { waits.count + over.count }
    var isFull: Bool { count >= Self.most }

    /// - Returns: the answer where nothing has to be waited for.
    mutating func add(_ query: PushQuery, for request: UInt64, now: UInt64) -> PlainResponse? {
        var wait = Wait(request: request, query: query, deadline: now &+ (query.wait ?? 0))
        // Asked first: what is kept from here on is told.
        if watch.await() { isTold = !waits.isEmpty }
        let (counts, last) = pushes.counts([(query, 0)])
        (wait.found, wait.seen) = (counts[0], last)
        guard wait.found < query.count, wait.deadline > now else { return pushes.answer(query) }
        waits.append(wait)
        return nil
    }

    /// When to look again, monotonic ns, if nothing wakes the thread before; nil: nobody waits.
    var nextDue: UInt64? {
        guard let deadline = waits.map(\.deadline).min() else { return nil }
        return isTold ? min(deadline, nextLook) : deadline
    }

    /// Finds the requests whose waiting is over, for `next`.
    mutating func look(now: UInt64) {
        guard !waits.isEmpty else { return }
        if watch.await() { isTold = true }
        if isTold, now >= nextLook {
            isTold = false
            nextLook = now + Self.interval
            if watch.resets != resets {
                resets = watch.resets
                for place in waits.indices { (waits[place].found, waits[place].seen) = (0, 0) }
            }
            let (counts, last) = pushes.counts(waits.map { ($0.query, $0.seen) })
            for place in waits.indices {
                waits[place].found += counts[place]
                waits[place].seen = last
            }
        }
        let isOver = { (wait: Wait) in wait.found >= wait.query.count || wait.deadline <= now }
        guard waits.contains(where: isOver) else { return }
        over += waits.filter(isOver)
        waits.removeAll(where: isOver)
    }

    /// A request whose waiting is over, and its answer, made now: answers may be large, and the next is made when this one was handed over.
    mutating func next() -> (request: UInt64, answer: PlainResponse)? {
        guard !over.isEmpty else { return nil }
        let wait = over.removeFirst()
        return (wait.request, pushes.answer(wait.query))
    }
}
