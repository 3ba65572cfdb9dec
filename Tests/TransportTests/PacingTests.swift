import Networking
import Testing

@testable import Transport

/// Pushes of 300 bytes, due when `due` says, or in a closed loop at once.
private final class PacedDriver: PushDriver {
    let loop: VirtualLoop
    let count: UInt64
    let due: (UInt64) -> UInt64?
    /// How long composing takes, ns.
    var cost: UInt64 = 0
    var next: UInt64 = 0
    /// By push: connection, how late it was started, how old its start was when it was composed, ns.
    var connections: [Int] = []
    var late: [UInt64] = []
    var age: [UInt64] = []
    private var composed: [UInt64] = []
    var idle: [UInt64] = []

    init(_ loop: VirtualLoop, count: UInt64, due: @escaping (UInt64) -> UInt64?) {
        self.loop = loop
        self.count = count
        self.due = due
    }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        guard next < count else { return .finished }
        let due = due(next) ?? now
        if due > now { return .notBefore(due) }
        ticket = PushTicket(sequence: next, due: due)
        next += 1
        return .push
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        composed.append(loop.time)
        connections.append(connection)
        loop.time += cost
        request.tokenLength = 1
        request.token[0] = 0x61
        request.payload.update(repeating: 0x62, count: 300)
        request.payloadLength = 300
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        late.append(started - ticket.due)
        age.append(composed[Int(ticket.sequence)] - started)
    }

    override func idled(until time: UInt64) { idle.append(time) }
}

@Suite struct PacingTests {
    private let loop = VirtualLoop()

    /// Lets the pushes go out in virtual time, until all are written.
    private func run(_ driver: PacedDriver, engine: EngineKind, connections: Int = 1, pacing: Pacing = .sleep) throws {
        var options = TransportOptions()
        options.engine = engine
        options.pacing = pacing
        options.connections = connections
        options.streams = 150_000
        let control = RunControl()
        let client = try PushClient(driver, over: loop, control: control, options: options)
        client.begin()
        var turns = 0
        while driver.late.count < driver.count, turns < 1_000_000 {
            #expect(client.turn(waits: true))
            turns += 1
        }
        try #require(driver.late.count == Int(driver.count))
        control.ask(.abort)
        while client.turn(waits: true) {}
        client.end()
    }

    @Test("What is due already goes out in full batches, one a connection in turn", arguments: EngineKind.allCases)
    func batches(_ engine: EngineKind) throws {
        let due = loop.time + 5_000_000
        // The first is waited for; then far more are due than one batch holds.
        let driver = PacedDriver(loop, count: 3_000) { $0 == 0 ? due : due + 1_000 }
        try run(driver, engine: engine, connections: 2)
        for stream in loop.streams {
            let sizes = stream.writes.filter { $0.time > due }.map(\.count)
            #expect(sizes.count >= 5)
            // As many whole pushes as go into a batch; the last has what is left.
            #expect(sizes.dropLast().allSatisfy { (64_000...65_536).contains($0) }, "\(sizes)")
        }
        let first = driver.connections.count { $0 == 0 }
        #expect((1_200...1_800).contains(first), "\(first) of 3000 on the first of two connections")
    }

    @Test("Where few are due, each leaves when it is due", arguments: Pacing.allCases)
    func alone(_ pacing: Pacing) throws {
        let start = loop.time
        let driver = PacedDriver(loop, count: 2_000) { start + 50_000 * ($0 + 1) }
        try run(driver, engine: .wire, pacing: pacing)
        #expect(driver.late.allSatisfy { $0 == 0 })
    }

    @Test("Dense pushes leave together, late by a quantum at most; with spin each leaves when it is due")
    func dense() throws {
        let start = loop.time
        let gathered = PacedDriver(loop, count: 100_000) { start + 3_000 * ($0 + 1) }
        try run(gathered, engine: .wire)
        #expect(gathered.late.allSatisfy { $0 <= Pace.quantum })
        // How dense they are is known after some 20 ms.
        let times = Set(loop.streams[0].writes.map(\.time).filter { $0 > start + 50_000_000 })
        #expect(times.count <= 250_000_000 / Int(Pace.quantum) + 1, "\(times.count) writes in 250 ms")

        let from = loop.time
        let punctual = PacedDriver(loop, count: 10_000) { from + 3_000 * ($0 + 1) }
        try run(punctual, engine: .wire, pacing: .spin)
        #expect(punctual.late.allSatisfy { $0 == 0 })
    }

    @Test("A push's start is at most sixteen pushes old, and never older than a write", arguments: EngineKind.allCases)
    func starts(_ engine: EngineKind) throws {
        let driver = PacedDriver(loop, count: 5_000) { _ in nil }
        driver.cost = 1_000
        loop.writeCost = 70_000
        try run(driver, engine: engine, connections: 2)
        #expect(driver.age.allSatisfy { $0 < 16_000 }, "\(driver.age.max() ?? 0) ns")
    }

    @Test("Told to have idled is who waited, up to when it wanted to wake")
    func idling() throws {
        let start = loop.time
        let driver = PacedDriver(loop, count: 10) { start + 5_000_000 * ($0 + 1) }
        try run(driver, engine: .wire)
        let dues = (0..<10).map { start + 5_000_000 * ($0 + 1) }
        #expect(Set(dues).isSubset(of: Set(driver.idle)))
        #expect(driver.idle == driver.idle.sorted())
    }
}
