import Glibc
import Logging
import Testing

@testable import MockAPNs
@testable import Networking

/// The dealer of the first of three workers by itself: a listener, workers of which nobody runs, and clients that have connected.
@Suite struct ConnectionDealerTests {
    private let listener: Listener
    private let reactor: Reactor
    private let inboxes = (0..<3).map { _ in MockInbox() }
    private let spread = ConnectionSpread(workers: 3)
    private let dealer: ConnectionDealer

    init() throws {
        listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        reactor = try Reactor()
        dealer = ConnectionDealer(
            [(listener, ListenerRole(environment: .production, isManagement: false))],
            peers: inboxes.map { ($0, WakeUp()) }, spread: spread, number: 0, loop: reactor,
            log: MockLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    private func connected() throws -> Int32 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(listener.address.withSockAddr { connect(client, $0, $1) } == 0)
        return client
    }

    private func adopted(by worker: Int) -> [Int32] {
        inboxes[worker].take().compactMap { task in
            guard case .adopt(let descriptor, let role) = task, role.environment == .production else { return nil }
            return descriptor
        }
    }

    @Test("Connections are spread evenly; one for a worker that has ended is closed")
    func turns() throws {
        _ = inboxes[2].close()
        let clients = try (0..<7).map { _ in try connected() }
        let own = dealer.accept(at: ConnectionDealer.firstToken).map(\.descriptor)
        let given = adopted(by: 1)
        // One that is closed counts for nobody: the worker that has ended gets the third, and all that come when it has fewest.
        #expect(own.count == 1 && given.count == 1)
        var closed = 0
        for client in clients {
            var byte: UInt8 = 0
            if recv(client, &byte, 1, Int32(MSG_DONTWAIT)) == 0 { closed += 1 }
        }
        #expect(closed == 5)
        for descriptor in own + given + clients { close(descriptor) }
    }

    @Test("A worker that is ahead gives what it accepts to those behind, and keeps it where it is not")
    func ahead() throws {
        // Three of the first worker's connections have come, two of the second's have ended.
        for worker in [0, 1, 2, 0, 1, 2] { #expect(spread.place(acceptedBy: worker) == worker) }
        spread.ended(1)
        spread.ended(1)
        let clients = try (0..<5).map { _ in try connected() }
        let own = dealer.accept(at: ConnectionDealer.firstToken).map(\.descriptor)
        let (second, third) = (adopted(by: 1), adopted(by: 2))
        #expect(own.count == 1 && second.count == 3 && third.count == 1)
        for descriptor in own + second + third + clients { close(descriptor) }
    }

    @Test("While it rests nobody wakes the loop, and who came meanwhile is served afterwards")
    func rest() throws {
        dealer.rest()
        let client = try connected()
        #expect(reactor.wait(timeout: 0) == 0)
        #expect(dealer.resume().isEmpty)
        #expect(reactor.wait(timeout: 60_000_000_000) == 1 && reactor.event(at: 0).token == ConnectionDealer.firstToken)
        let served = dealer.accept(at: ConnectionDealer.firstToken).map(\.descriptor)
        #expect(served.count == 1)
        #expect(dealer.accept(at: ConnectionDealer.firstToken + 1).isEmpty, "there is one listener only")
        for descriptor in served + [client] { close(descriptor) }
    }

    @Test("Any number of connections is spread evenly over the threads of a mock", arguments: [2, 7, 300, 10_000])
    func threads(_ wanted: Int) throws {
        FileLimit.raise()
        // Both ends are here, and other tests have files open too.
        let count = min(wanted, Int(clamping: FileLimit.current / 3))
        var configuration = MockConfiguration()
        configuration.threads = 4
        // They never begin a handshake.
        configuration.handshakeTimeout = 3_600_000_000_000
        let mock = try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { mock.stop() }
        let address = try SocketAddress(host: "127.0.0.1", port: mock.port)
        let clients = try (0..<count).map { _ in
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            try #require(address.withSockAddr { connect(client, $0, $1) } == 0)
            return client
        }
        defer { for client in clients { close(client) } }
        for _ in 0..<12_000 where mock.counts.connectionsAccepted < UInt64(count) { usleep(10_000) }
        let held = mock.ask { $0.connections.count }.sorted()
        #expect(held.reduce(0, +) == count && (held.last ?? 0) - (held.first ?? 0) <= 1, "\(held)")
    }

    @Test("A shortage of descriptors is over when no worker has one, and all tries count")
    func shortage() {
        #expect(spread.noteShortage(0) && !spread.noteShortage(2) && !spread.noteShortage(0))
        #expect(spread.endShortage(1) == nil && spread.endShortage(0) == nil && spread.endShortage(2) == 3)
        #expect(spread.noteShortage(1) && spread.endShortage(1) == 1)
    }
}
