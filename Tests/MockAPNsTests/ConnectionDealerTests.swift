import Glibc
import Logging
import Testing

@testable import MockAPNs
@testable import Networking

/// A dealer by itself: a listener, three workers of which nobody runs, and clients that have connected.
@Suite struct ConnectionDealerTests {
    private let listener: Listener
    private let reactor: Reactor
    private let inboxes = (0..<3).map { _ in MockInbox() }
    private let dealer: ConnectionDealer

    init() throws {
        listener = try Listener(host: "127.0.0.1", port: 0, shared: false)
        reactor = try Reactor()
        dealer = ConnectionDealer(
            [(listener, ListenerRole(environment: .production, isManagement: false))],
            peers: inboxes.map { ($0, WakeUp()) }, loop: reactor,
            log: MockLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    private func connected() throws -> Int32 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(listener.address.withSockAddr { connect(client, $0, $1) } == 0)
        return client
    }

    @Test("Connections are dealt out in turn; one for a worker that has ended is closed")
    func turns() throws {
        _ = inboxes[2].close()
        let clients = try (0..<7).map { _ in try connected() }
        var served = dealer.accept(at: 0).map(\.descriptor)
        #expect(served.count == 3)
        for case .adopt(let descriptor, let role) in inboxes[1].take() {
            #expect(role.environment == .production)
            served.append(descriptor)
        }
        #expect(served.count == 5 && inboxes[2].take().isEmpty)
        for (number, client) in clients.enumerated() {
            var byte: UInt8 = 0
            let count = recv(client, &byte, 1, number % 3 == 2 ? 0 : Int32(MSG_DONTWAIT))
            #expect(count == (number % 3 == 2 ? 0 : -1), "client \(number)")
        }
        for descriptor in served + clients { close(descriptor) }
    }

    @Test("While it rests nobody wakes the loop, and who came meanwhile is served afterwards")
    func rest() throws {
        dealer.rest()
        let client = try connected()
        #expect(reactor.wait(timeout: 0) == 0)
        dealer.resume()
        #expect(reactor.wait(timeout: 60_000_000_000) == 1 && reactor.event(at: 0).token == 0)
        let served = dealer.accept(at: 0).map(\.descriptor)
        #expect(served.count == 1)
        #expect(dealer.accept(at: 1).isEmpty, "there is one listener only")
        for descriptor in served + [client] { close(descriptor) }
    }
}
