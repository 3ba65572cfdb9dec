import Networking
import TestSupport
import Testing

@testable import Transport

/// Sends of up to four TLS records that the socket takes only in part: the smallest send buffer there is, and a peer that
/// reads in dribs. Client and peer take turns on one thread; what is drawn follows from the seed that a failure prints.
@Suite(.serialized) struct GatheredSendTests {
    static let versions = TLSVersion.allCases
    static let engines = EngineKind.allCases

    private final class Pair {
        let seed: UInt64
        var random: SeededRandom
        let driver: NumberedDriver
        let peer: SlowPeer
        let client: PushClient
        private(set) var isOver = false
        private let control = RunControl()
        private let patience = MonotonicClock.now() + 120_000_000_000

        init(_ engine: EngineKind, _ version: TLSVersion, pushes: UInt64, seed: UInt64? = nil) throws {
            self.seed = seed ?? UInt64.random(in: 1...UInt64.max)
            random = SeededRandom(self.seed)
            driver = NumberedDriver(pushes)
            peer = try SlowPeer(version)
            var options = TransportOptions()
            options.engine = engine
            options.streams = 300
            // The kernel makes it as much as it must.
            options.socket.sendBuffer = 1
            options.reconnectDelay = 1
            options.reconnectDelayMax = 1
            // Nothing ends by the clock.
            let never: UInt64 = 3_600_000_000_000
            (options.pushTimeout, options.pingInterval, options.giveUpAfter) = (never, never, never)
            options.connectTimeout = never
            client = try PushClient(
                target: Target(
                    address: peer.address, host: "127.0.0.1", authority: "127.0.0.1", tls: peer.clientContext),
                options: options, driver: driver, control: control, headerSets: [[("apns-topic", "t")]],
                tokenCapacity: 64, payloadCapacity: NumberedDriver.largest)
            client.begin()
        }

        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        /// One round of the client's loop; what hangs is given up.
        func turn() throws {
            if !isOver, !client.turn(waits: false) { isOver = true }
            try peer.accept()
            try #require(MonotonicClock.now() < patience, "seed \(seed): nothing moves any more")
        }

        /// Connects, and gets the first connection ready to be sent on.
        func open() throws -> SlowConnection {
            while driver.opened == 0 {
                try turn()
                for connection in peer.connections {
                    connection.take(.max)
                    connection.speak()
                }
            }
            return try #require(peer.connections.first)
        }

        /// Lets the client fill the socket, and the peer read some of it, again and again.
        func trickle(_ connection: SlowConnection, rounds: Int, answers: Bool) throws {
            for _ in 0..<rounds {
                try turn()
                connection.take(pick(1...9_000))
                if answers, pick(0...3) == 0 { connection.session.answer(pick(1...20)) }
                connection.speak()
            }
        }

        /// Connections from the second on take and answer everything; the run goes to its end.
        func finish(after: Int = 1) throws {
            while !isOver {
                try turn()
                for connection in peer.connections.dropFirst(after) {
                    connection.take(.max)
                    connection.session.answer(.max)
                    connection.speak()
                }
            }
        }
    }

    @Test(
        "A peer that reads in dribs gets every push once, whole and in order, while its answers come in between",
        arguments: engines, versions)
    func dribs(_ engine: EngineKind, _ version: TLSVersion) throws {
        let pair = try Pair(engine, version, pushes: 600)
        let connection = try pair.open()
        while !pair.isOver { try pair.trickle(connection, rounds: 1, answers: true) }
        let driver = pair.driver
        #expect(driver.isBalanced && driver.accepted.count == 600 && driver.requeued.isEmpty, "seed \(pair.seed)")
        #expect(connection.session.order == Array(0..<600) && connection.session.damaged.isEmpty, "seed \(pair.seed)")
        #expect(connection.session.received.count == 600 && connection.session.received.values.allSatisfy { $0 == 1 })
        #expect(driver.written[1] ?? [] == Array(0..<600) && driver.isTimeInOrder, "seed \(pair.seed)")
        #expect(
            pair.peer.connections.count == 1 && pair.client.tlsDescription?.hasPrefix("TLSv\(version.rawValue)") == true
        )
    }

    @Test(
        "A push counts as written once its last record has left, not sooner and not later", arguments: engines,
        versions)
    func written(_ engine: EngineKind, _ version: TLSVersion) throws {
        let pair = try Pair(engine, version, pushes: 300)
        let connection = try pair.open()
        let session = connection.session
        var partial = 0
        while session.received.count < 300 {
            try pair.trickle(connection, rounds: pair.pick(1...3), answers: false)
            // What the kernel was given has now all come; the client has had no turn since.
            connection.drain()
            let told = pair.driver.written(in: 1)
            try #require(told == session.receivedSet, "seed \(pair.seed), \(told.count) told")
            if connection.partOfRecord > 0, told.count < 300 { partial += 1 }
        }
        #expect(partial > 10, "seed \(pair.seed): the socket took hardly a send in part (\(partial))")
        try pair.finish(after: 0)
        #expect(pair.driver.isBalanced && pair.driver.accepted.count == 300 && session.damaged.isEmpty)
    }

    @Test(
        "Cut in the middle of a send: what never left whole is sent elsewhere and arrives once, the rest fails",
        arguments: SlowConnection.Cut.allCases, versions)
    func cut(_ cut: SlowConnection.Cut, _ version: TLSVersion) throws {
        var requeued = 0
        for engine in Self.engines {
            for _ in 0..<3 {
                let pair = try Pair(engine, version, pushes: 200)
                let first = try pair.open()
                try pair.trickle(first, rounds: pair.pick(5...40), answers: true)
                try pair.turn()
                if cut == .reset || pair.pick(0...1) == 0 { first.drain() }
                first.cut(cut)
                let toldBefore = pair.driver.written(in: 1)
                // What was written before the client heard of it comes still.
                while !first.isAtEnd {
                    try pair.turn()
                    first.take(.max)
                    first.speak()
                }
                try pair.finish()
                check(pair, first, cut, toldBefore)
                requeued += pair.driver.requeued.count
            }
        }
        // A few times the cut falls between two sends, and nothing is left.
        #expect(requeued > 20)
    }

    /// - Parameter toldBefore: what had been told as written when the connection was cut.
    private func check(
        _ pair: Pair, _ first: SlowConnection, _ cut: SlowConnection.Cut, _ toldBefore: Set<UInt64>
    ) {
        let driver = pair.driver
        let context: Comment =
            "seed \(pair.seed), \(cut), \(driver.requeued.count) requeued, \(driver.failed.count) failed"
        #expect(driver.isBalanced, context)
        let (failed, requeued) = (Set(driver.failed.keys), Set(driver.requeued))
        #expect(requeued.count == driver.requeued.count, context)
        // Failed are those that had left and had no answer; all others were accepted, on either connection.
        let written = driver.written(in: 1)
        #expect(failed.isSubset(of: written) && requeued.isDisjoint(with: failed), context)
        #expect(Set(driver.accepted) == Set(0..<driver.count).subtracting(failed), context)
        let causes: Set<FailureCause> =
            switch cut {
            case .fin, .closeNotify: [.connectionClosed]
            case .alert: [.tlsFailed]
            case .reset, .garbage: [.connectionReset]
            }
        #expect(Set(driver.failed.values).isSubset(of: causes), "\(driver.failed.values)")
        // A busy machine may let all leave before the cut: then nobody needs a second connection.
        guard pair.peer.connections.count > 1 else {
            #expect(requeued.isEmpty && UInt64(written.count) == driver.count, context)
            return
        }
        // What was sent again had not come whole, and came once.
        let (here, there) = (first.session.receivedSet, pair.peer.connections[1].session.receivedSet)
        #expect(pair.peer.connections.count == 2 && here.isDisjoint(with: requeued), context)
        #expect(here.isDisjoint(with: there) && requeued.isSubset(of: there), context)
        for connection in pair.peer.connections {
            #expect(connection.session.received.values.allSatisfy { $0 == 1 }, context)
            #expect(connection.session.damaged.isEmpty, context)
        }
        // Of what a push's time of writing was told the last byte had left; behind a damaged record TLS reads nothing more. On a busy
        // machine the kernel may take more before it has heard of a reset: that never comes.
        switch cut {
        case .alert: break
        case .reset: #expect(toldBefore == here && written.isSuperset(of: here), context)
        default: #expect(written == here, context)
        }
    }

    @Test(
        "GOAWAY in the middle of a send: what is above the last stream is sent elsewhere, what is below still goes out",
        arguments: engines, versions)
    func goAway(_ engine: EngineKind, _ version: TLSVersion) throws {
        for _ in 0..<2 {
            let pair = try Pair(engine, version, pushes: 200)
            let first = try pair.open()
            try pair.trickle(first, rounds: pair.pick(5...40), answers: true)
            first.session.goAway()
            // The client has open streams until all it was promised is answered.
            while !pair.isOver {
                try pair.trickle(first, rounds: 1, answers: true)
                for connection in pair.peer.connections.dropFirst() {
                    connection.take(.max)
                    connection.session.answer(.max)
                    connection.speak()
                }
            }
            let driver = pair.driver
            let context: Comment = "seed \(pair.seed), \(driver.requeued.count) requeued, \(driver.failed)"
            #expect(driver.isBalanced && driver.accepted.count == 200, context)
            let there = pair.peer.connections.dropFirst().reduce(into: Set<UInt64>()) {
                $0.formUnion($1.session.receivedSet)
            }
            #expect(first.session.receivedSet == first.session.promised, context)
            #expect(there == Set(0..<200).subtracting(first.session.promised), context)
            for connection in pair.peer.connections {
                #expect(connection.session.received.values.allSatisfy { $0 == 1 }, context)
                #expect(connection.session.damaged.isEmpty, context)
            }
        }
    }

    @Test(
        "Answers and GOAWAY, and a reset before the client has looked: answered is answered, and the promise holds",
        arguments: engines, versions)
    func goAwayAndReset(_ engine: EngineKind, _ version: TLSVersion) throws {
        let pair = try Pair(engine, version, pushes: 200)
        let first = try pair.open()
        try pair.trickle(first, rounds: 20, answers: false)
        first.session.answer(5)
        first.session.goAway()
        // Read, but not to be processed.
        let before = pair.driver.written(in: 1).count
        while pair.driver.written(in: 1).count < before + 5 {
            try pair.turn()
            first.take(.max)
        }
        first.speak()
        first.cut(.reset)
        try pair.finish()
        let driver = pair.driver
        let context: Comment = "seed \(pair.seed), \(driver.requeued.count) requeued, \(driver.failed.keys.sorted())"
        #expect(driver.isBalanced && pair.peer.connections.count == 2, context)
        // What was promised and not answered fails, unless it had not left; nothing else does.
        let promised = first.session.promised.subtracting(first.session.order.prefix(5))
        #expect(Set(driver.failed.keys) == promised.intersection(driver.written(in: 1)), context)
        #expect(Set(driver.failed.values) == [.connectionReset], context)
        #expect(Set(driver.accepted) == Set(0..<200).subtracting(driver.failed.keys), context)
    }

}
