import Networking

/// One connection of the virtual network: two pipes, what happens to them, and who holds the ends.
final class Link {
    enum Side { case client, server }

    private struct End {
        var resetDue = UInt64.max
        var isReset = false
        var isClosed = false
        /// The close that follows resets.
        var resetsOnClose = false
        var hasFinished = false
    }

    private enum Trouble {
        case reset, halfClose, vanish
        case freeze(toServer: Bool, length: UInt64)
    }

    let number: Int
    let books: LinkBooks
    private let world: World
    private let weather: Weather
    private var random: Random
    private let meddler: Meddler
    private let toServer: VirtualPipe
    private let toClient: VirtualPipe
    private var client = End()
    private var server = End()
    private(set) var isConnected = false
    private(set) var isRefused = false
    private var connectDue: UInt64
    private var troubles: [(due: UInt64, trouble: Trouble)] = []
    /// Calls with the server's end once the connection is there.
    private let accept: (Link) -> Void

    init(_ number: Int, books: LinkBooks, world: World, weather: Weather, accept: @escaping (Link) -> Void) {
        self.number = number
        self.books = books
        self.world = world
        self.weather = weather
        self.accept = accept
        var random = Random(seed: world.seed, stream: 1000 + UInt64(number))
        meddler = Meddler(weather, world: world, books: books, random: Random(seed: random.next(), stream: 1))
        toServer = VirtualPipe(capacity: weather.toServerCapacity)
        toClient = VirtualPipe(capacity: weather.toClientCapacity)
        let now = world.clock.now
        connectDue = now + 2 * weather.latency + random.between(0, weather.jitter) + 1
        if random.chance(weather.refused) { isRefused = true }
        if random.chance(weather.unanswered) { connectDue = .max }
        self.random = random
        plan(weather.reset) { _ in .reset }
        plan(weather.halfClosed) { _ in .halfClose }
        plan(weather.vanishing) { _ in .vanish }
        for _ in 0..<3 {
            plan(weather.frozen) {
                .freeze(toServer: $0.chance(0.5), length: $0.spread(10_000, weather.longestFreeze))
            }
        }
        troubles.sort { $0.due < $1.due }
    }

    private func plan(_ share: Double, _ trouble: (inout Random) -> Trouble) {
        guard random.chance(share) else { return }
        troubles.append((world.clock.now + random.between(1, weather.troubleWithin), trouble(&random)))
    }

    /// Both ends have let go of it.
    var isOver: Bool { client.isClosed && (server.isClosed || !isConnected) }

    private func isReset(_ side: Side) -> Bool { side == .client ? client.isReset : server.isReset }
    private func incoming(_ side: Side) -> VirtualPipe { side == .client ? toClient : toServer }
    private func outgoing(_ side: Side) -> VirtualPipe { side == .client ? toServer : toClient }
    private func delay() -> UInt64 { weather.latency + random.between(0, weather.jitter) }

    // MARK: What the ends ask

    func unread(_ side: Side) -> Int { incoming(side).unread }
    func readiness(_ side: Side, hidden: Int) -> Readiness {
        if side == .client, !isConnected { return isConnectOver ? [.writable, .closed] : [] }
        var readiness: Readiness = []
        let pipe = incoming(side)
        if pipe.unread > hidden || pipe.hasEnded || isReset(side) { readiness.insert(.readable) }
        // As TCP does: writable again when a third is free.
        let out = outgoing(side)
        if out.room * 3 >= out.capacity || isReset(side) { readiness.insert(.writable) }
        if isReset(side) { readiness.insert(.closed) }
        return readiness
    }

    /// Connecting has failed.
    var isConnectOver: Bool { isRefused && world.clock.now >= connectDue && !isConnected }

    func read(_ side: Side, into buffer: UnsafeMutablePointer<UInt8>, capacity: Int) -> IOResult {
        let pipe = incoming(side)
        if pipe.unread > 0, !(isReset(side) && weather.resetDropsInput) {
            var count = min(capacity, pipe.unread)
            if count > 1, random.chance(weather.shortReads) {
                count = Int(random.spread(1, UInt64(count)))
                world.note(.shortReads)
            }
            return .bytes(pipe.read(count, into: buffer))
        }
        if isReset(side) { return .failed }
        return pipe.hasEnded ? .endOfStream : .wouldBlock
    }

    func write(_ side: Side, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> IOResult {
        let hasFinished = side == .client ? client.hasFinished : server.hasFinished
        if isReset(side) || hasFinished { return .failed }
        let pipe = outgoing(side)
        var taken = min(count, pipe.room)
        guard taken > 0 else {
            world.note(.fullBuffers)
            return .wouldBlock
        }
        if taken > 1, random.chance(weather.shortWrites) {
            taken = Int(random.spread(1, UInt64(taken)))
            world.note(.shortWrites)
        }
        let otherIsGone = side == .client ? server.isClosed && isConnected : client.isClosed
        if otherIsGone {
            // Nobody is there: the answer is a reset.
            let due = world.clock.now + delay() + delay()
            if side == .client {
                client.resetDue = min(client.resetDue, due)
            } else {
                server.resetDue = min(server.resetDue, due)
            }
            return .bytes(taken)
        }
        let written = Array(UnsafeBufferPointer(start: bytes, count: taken))
        if side == .client { put(written, to: toServer) } else { put(meddler.pass(written), to: toClient) }
        return .bytes(taken)
    }

    private func put(_ bytes: [UInt8], to pipe: VirtualPipe) {
        guard !bytes.isEmpty else { return }
        let due = world.clock.now + delay()
        guard bytes.count > 1, random.chance(weather.pieces) else { return pipe.put(bytes, due: due) }
        var place = 0
        var later: UInt64 = 0
        while place < bytes.count {
            let count = min(bytes.count - place, Int(random.spread(1, UInt64(bytes.count))))
            pipe.put(Array(bytes[place..<(place + count)]), due: due + later)
            later += random.between(0, weather.latency / 4 + 10_000)
            place += count
        }
    }

    func resetOnClose(_ side: Side) {
        if side == .client { client.resetsOnClose = true } else { server.resetsOnClose = true }
    }

    func finish(_ side: Side) {
        if side == .client { client.hasFinished = true } else { server.hasFinished = true }
        if side == .server { put(meddler.rest(), to: toClient) }
        outgoing(side).end(due: world.clock.now + delay())
    }

    /// The end's owner has let go of it.
    func close(_ side: Side) {
        let due = world.clock.now + delay()
        let resets = (side == .client ? client.resetsOnClose : server.resetsOnClose) || incoming(side).unread > 0
        if side == .client { client.isClosed = true } else { server.isClosed = true }
        if resets {
            if side == .client {
                server.resetDue = min(server.resetDue, due)
            } else {
                client.resetDue = min(client.resetDue, due)
            }
        } else {
            if side == .server { put(meddler.rest(), to: toClient) }
            outgoing(side).end(due: due)
        }
    }

    // MARK: Time

    /// When something happens here next.
    var nextDue: UInt64 {
        var next = min(toServer.nextDue, toClient.nextDue, troubles.first?.due ?? .max, meddler.nextDue)
        if !isConnected { next = min(next, isConnectOver ? .max : connectDue) }
        if !client.isReset { next = min(next, max(client.resetDue, toClient.frozenUntil)) }
        if !server.isReset { next = min(next, max(server.resetDue, toServer.frozenUntil)) }
        return next
    }

    /// Lets happen what is due.
    func deliver(_ now: UInt64) {
        while let next = troubles.first, next.due <= now {
            troubles.removeFirst()
            suffer(next.trouble)
        }
        if !isConnected, connectDue <= now, !isRefused, !client.isClosed {
            isConnected = true
            world.tell("link \(number): connected")
            accept(self)
        }
        let late = meddler.due(now)
        if !late.isEmpty, !server.isClosed { put(late, to: toClient) }
        _ = toServer.deliver(now)
        _ = toClient.deliver(now)
        if client.resetDue <= now, toClient.frozenUntil <= now, !client.isReset { didReset(.client) }
        if server.resetDue <= now, toServer.frozenUntil <= now, !server.isReset { didReset(.server) }
    }

    private func didReset(_ side: Side) {
        world.tell("link \(number): reset at the \(side)'s end")
        if side == .client {
            client.isReset = true
            toClient.cut()
        } else {
            server.isReset = true
            toServer.cut()
        }
    }

    private func suffer(_ trouble: Trouble) {
        guard isConnected, !isOver else { return }
        world.tell("link \(number): \(trouble)")
        switch trouble {
        case .reset:
            world.note(.resets)
            client.resetDue = min(client.resetDue, world.clock.now + delay())
            server.resetDue = min(server.resetDue, world.clock.now + delay())
        case .halfClose:
            world.note(.halfClosed)
            meddler.mute()
            toClient.end(due: world.clock.now)
        case .vanish:
            toClient.freeze(until: .max)
            toServer.freeze(until: .max)
        case .freeze(let isToServer, let length):
            world.note(.linkStalls)
            (isToServer ? toServer : toClient).freeze(until: world.clock.now + length)
        }
    }
}
