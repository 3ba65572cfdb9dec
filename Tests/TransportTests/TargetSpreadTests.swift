import HTTP2
import Networking
import Synchronization
import Testing

@testable import Transport

/// Has nothing to send yet, and notes what it was told.
private final class WatchingDriver: PushDriver {
    var abandonedBy: FailureCause?
    var problems: [String] = []
    var ends: [ConnectionEnd] = []

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply { .notBefore(now + 3_600_000_000_000) }
    override func abandon(_ cause: FailureCause, now: UInt64) { abandonedBy = cause }
    override func connectionProblem(_ text: String) { problems.append(text) }
    override func connection(_ index: Int, _ event: ConnectionEvent) {
        if case .ended(let end) = event { ends.append(end) }
    }
}

/// A name whose addresses a test changes.
private final class ScriptedAddresses: TargetAddresses {
    struct State {
        var ports: [UInt16]
        var looks = 0
    }

    let state: Mutex<State>

    init(_ ports: [UInt16]) { state = Mutex(State(ports: ports)) }

    var count: Int { state.withLock { $0.ports.count } }
    var problem: String? { nil }
    var looks: Int { state.withLock { $0.looks } }

    func address(connection: Int, attempt: Int) throws(NetworkError) -> SocketAddress {
        let ports = state.withLock { $0.ports }
        guard !ports.isEmpty else { throw NetworkError(.forbidden, "a leads to nowhere: not connected to") }
        return try SocketAddress(host: "127.0.0.1", port: ports[(connection + attempt) % ports.count])
    }

    func lookAgain(now: UInt64) { state.withLock { $0.looks += 1 } }
}

@Suite struct TargetSpreadTests {
    private let loop = VirtualLoop()
    private let control = RunControl()
    private let driver = WatchingDriver()

    private func target(_ port: UInt16) throws -> Target {
        Target(
            address: try SocketAddress(host: "127.0.0.1", port: port), host: "127.0.0.1",
            authority: "127.0.0.1:\(port)", tls: nil)
    }

    /// - Parameter first: number of the first connection within the run.
    private func client(
        _ targets: [Target], connections: Int, first: Int = 0, handshakes: Int? = nil
    ) throws -> PushClient {
        var options = TransportOptions()
        options.connections = connections
        options.firstConnection = first
        options.giveUpAfter = 1_000_000_000
        if let handshakes { options.handshakes = handshakes }
        let client = try PushClient(driver, over: loop, control: control, options: options, targets: targets)
        client.begin()
        pass(300_000_000, client)
        return client
    }

    private func pass(_ time: UInt64, _ client: PushClient) {
        let end = loop.time + time
        while loop.time < end, client.turn(waits: true) {}
    }

    @Test("Connection c of a run goes to target c modulo their number, whichever worker it is of, and stays there")
    func spread() throws {
        let client = try client(try [1, 2, 3].map(target), connections: 4, first: 1)
        #expect(loop.asked == [2, 3, 1, 2].map { "127.0.0.1:\($0)" })
        loop.streams[1].isHungUp = true
        pass(300_000_000, client)
        #expect(loop.asked.dropFirst(4) == ["127.0.0.1:3"])
        client.end()
        #expect(client.contacts.allSatisfy { $0.hasOpened && !$0.isMissing })
    }

    @Test("Connections to one name are spread over its addresses, and the next attempt takes the next address")
    func addresses() throws {
        loop.refusing = ["127.0.0.1:8"]
        let name = Target(addresses: ScriptedAddresses([7, 8, 9]), host: "a", authority: "a", tls: nil)
        let client = try client([try target(1), name], connections: 6)
        let first = loop.asked.prefix(6).filter { $0 != "127.0.0.1:1" }
        #expect(first == [7, 8, 9].map { "127.0.0.1:\($0)" })
        #expect(loop.asked.dropFirst(6) == ["127.0.0.1:9"] && driver.abandonedBy == nil)
        client.end()
    }

    @Test(
        "Only so many connections are made at once; the others, and those that are lost, wait until one of them is there"
    )
    func handshakes() throws {
        loop.isSilent = true
        let client = try client([try target(1)], connections: 7, handshakes: 3)
        func making() -> Int { loop.asked.count - greeted - lost }
        var (greeted, lost) = (0, 0)
        #expect(loop.asked.count == 3)
        for stream in loop.streams.prefix(2) { stream.greet() }
        greeted = 2
        pass(100_000_000, client)
        #expect(loop.asked.count == 5 && making() == 3)
        // One ends before it is there: it is another's turn, and its own when that one is.
        loop.streams[2].isHungUp = true
        lost = 1
        pass(500_000_000, client)
        #expect(loop.asked.count == 6 && making() == 3)
        // And two that were there.
        for stream in loop.streams.prefix(2) { stream.isHungUp = true }
        pass(500_000_000, client)
        #expect(loop.asked.count == 6 && driver.abandonedBy == nil)
        while let stream = loop.streams.first(where: { !$0.hasGreeted && $0 !== loop.streams[2] }) {
            stream.greet()
            greeted += 1
            pass(200_000_000, client)
            #expect(making() <= 3)
        }
        // Seven, and again what was lost thrice.
        #expect(loop.asked.count == 10 && making() == 0, "\(loop.asked.count)")
        client.end()
        #expect(client.contacts.allSatisfy { $0.hasOpened && !$0.isMissing })
    }

    @Test("A worker goes on while any target is reachable; one that is down is named and known at the end")
    func oneDown() throws {
        loop.refusing = ["127.0.0.1:2"]
        let client = try client(try [1, 2].map(target), connections: 2)
        pass(3_000_000_000, client)
        #expect(driver.abandonedBy == nil && Set(driver.problems) == ["target http://127.0.0.1:2: refused"])
        // The other one, too: it is given up a second later.
        loop.isRefusing = true
        loop.streams[0].isHungUp = true
        pass(500_000_000, client)
        #expect(driver.abandonedBy == nil)
        pass(2_000_000_000, client)
        #expect(driver.abandonedBy == .connectionRefused)
        client.end()
        #expect(client.contacts.map(\.hasOpened) == [true, false] && client.contacts.allSatisfy(\.isMissing))
    }

    @Test("A target that allows no stream is not reached at the end, unless that came only shortly before")
    func noStream() throws {
        let client = try client(try [1, 2, 3].map(target), connections: 3)
        // SETTINGS_MAX_CONCURRENT_STREAMS 0.
        let settings = WirePair.frame(Frame.settings, 0, 0, [0, 3, 0, 0, 0, 0])
        loop.streams[1].input = settings
        pass(500_000_000, client)
        loop.streams[2].input = settings
        pass(100_000_000, client)
        client.end()
        #expect(client.contacts.map(\.isMissing) == [false, true, false])
        #expect(client.contacts.allSatisfy(\.hasOpened) && driver.abandonedBy == nil)
    }

    @Test("What another worker had until later is not missing")
    func contacts() {
        var missed = TargetContact(lastOpen: 1_000_000_000)
        (missed.hasOpened, missed.hasProblem) = (true, true)
        missed.end(isOpen: false, now: 2_000_000_000)
        #expect(missed.isMissing)
        var had = TargetContact(lastOpen: 1_000_000_000)
        had.end(isOpen: true, now: 3_000_000_000)
        missed.add(had)
        #expect(!missed.isMissing && missed.hasOpened)
        // A loss shortly before the end is not one that lasts.
        var last = TargetContact(lastOpen: 1_000_000_000)
        last.hasProblem = true
        last.end(isOpen: false, now: 1_100_000_000)
        #expect(!last.isMissing)
    }

    @Test("A name that leads elsewhere after a loss is followed; one that leads nowhere allowed is not connected to")
    func moved() throws {
        let addresses = ScriptedAddresses([7])
        let client = try client(
            [Target(addresses: addresses, host: "a", authority: "a", tls: nil)], connections: 1)
        #expect(loop.asked == ["127.0.0.1:7"] && addresses.looks == 0)
        addresses.state.withLock { $0.ports = [8] }
        loop.streams[0].isHungUp = true
        pass(300_000_000, client)
        #expect(loop.asked == ["127.0.0.1:7", "127.0.0.1:8"] && addresses.looks > 0)
        addresses.state.withLock { $0.ports = [] }
        loop.streams[1].isHungUp = true
        pass(3_000_000_000, client)
        #expect(loop.asked.count == 2 && driver.ends.last == .broken(.addressRefused))
        #expect(driver.problems.last == "a leads to nowhere: not connected to" && driver.abandonedBy == .addressRefused)
        client.end()
    }
}
