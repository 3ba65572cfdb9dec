import Foundation
import HTTP2
import Networking
import Synchronization
import Testing

@testable import Transport

/// Sends `count` pushes, push i to path i with a body of `size` bytes, and remembers how each ended.
class CountingDriver: PushDriver {
    let count: UInt64
    let size: Int
    var next: UInt64 = 0
    var accepted = 0
    var rejected: [UInt16: Int] = [:]
    var failures: [FailureCause: Int] = [:]
    var outcomes: [UInt64: Int] = [:]
    var requeues = 0
    var events: [String] = []
    var writtenCount = 0
    private var written: Set<UInt64> = []
    private var isMistaken = false
    var lastBody = ""
    var abandonedBy: FailureCause?
    /// What answers asked to wait, ns.
    var asked: [UInt64] = []
    /// So many answers of 403 are about a token that has been replaced.
    var replacements = 0

    init(_ count: UInt64, size: Int) {
        self.count = count
        self.size = size
    }

    override func take(now: UInt64, into ticket: inout PushTicket) -> Supply {
        guard next < count else { return .finished }
        ticket = PushTicket(sequence: next, due: now)
        next += 1
        return .push
    }

    override func compose(_ ticket: borrowing PushTicket, connection: Int, into request: inout PushRequest) {
        let text = Array(String(ticket.sequence).utf8)
        request.token.update(from: text, count: text.count)
        request.tokenLength = text.count
        request.payload.update(repeating: 0x61, count: size)
        request.payloadLength = size
    }

    override func written(_ ticket: borrowing PushTicket, started: UInt64, at time: UInt64) {
        writtenCount += 1
        if written.insert(ticket.sequence).inserted == ticket.wasWritten { isMistaken = true }
    }

    override func finished(
        _ ticket: borrowing PushTicket, outcome: PushOutcome, connection: Int, started: UInt64, written: UInt64,
        at time: UInt64,
        body: UnsafeBufferPointer<UInt8>
    ) {
        outcomes[ticket.sequence, default: 0] += 1
        switch outcome {
        case .accepted: accepted += 1
        case .rejected(let status):
            rejected[status, default: 0] += 1
            lastBody = String(decoding: body, as: UTF8.self)
        case .failed(let cause): failures[cause, default: 0] += 1
        }
    }

    override func askedToWait(_ time: UInt64) { asked.append(time) }
    override func hasSignedAnew(
        connection: Int, started: UInt64, isLast: Bool, body: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        replacements -= 1
        return replacements >= 0
    }
    override func requeued(_ ticket: borrowing PushTicket) { requeues += 1 }
    override func abandon(_ cause: FailureCause, now: UInt64) { abandonedBy = cause }
    override func connection(_ index: Int, _ event: ConnectionEvent) { events.append("\(event)") }

    var failed: Int { failures.values.reduce(0, +) }
    /// Every push taken ended exactly once, and of those written again that was known.
    var isBalanced: Bool {
        !isMistaken && outcomes.values.allSatisfy { $0 == 1 } && outcomes.count == Int(next)
            && accepted + rejected.values.reduce(0, +) + failed == Int(next)
    }
}

@Suite(.serialized) struct PushClientTests {
    static let engines = TestedEngine.allCases

    private func run(
        _ engine: TestedEngine, _ script: Script, count: UInt64 = 500, size: Int = 100,
        control: RunControl = RunControl(),
        _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> (CountingDriver, Seen) {
        let server = try ScriptedServer(script)
        let driver = try run(engine, server.address, count: count, size: size, control: control, change)
        return (driver, server.stop())
    }

    private func run(
        _ engine: TestedEngine, _ address: SocketAddress, count: UInt64, size: Int = 100,
        control: RunControl = RunControl(),
        _ change: (inout TransportOptions) -> Void
    ) throws -> CountingDriver {
        var options = TransportOptions()
        options.streams = 50
        options.reconnectDelay = 1_000_000
        options.reconnectDelayMax = 20_000_000
        change(&options)
        let driver = CountingDriver(count, size: size)
        let client = try engine.make(
            target: Target(address: address, host: "127.0.0.1", authority: "127.0.0.1", tls: nil), options: options,
            driver: driver, control: control, payloadCapacity: max(size, 1))
        client.run()
        #expect(driver.isBalanced)
        return driver
    }

    @Test("Every push is accepted once, over several connections", arguments: engines)
    func plain(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(), count: 3000) { $0.connections = 3 }
        #expect(driver.accepted == 3000 && seen.processed.count == 3000 && seen.repeated == 0)
        #expect(driver.writtenCount == 3000 && seen.connections == 3 && driver.events.allSatisfy { $0 == "opened" })
    }

    @Test("The server's stream limit is obeyed, also when it changes", arguments: engines)
    func streamLimit(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(maxConcurrentStreams: 4))
        #expect(driver.accepted == 500 && seen.mostStreams <= 4)
        let (second, later) = try run(engine, Script(maxConcurrentStreams: 1, laterMaxStreams: 20))
        #expect(second.accepted == 500 && later.mostStreams <= 20)
    }

    @Test("Payloads larger than the stream window wait for it and arrive whole", arguments: engines)
    func smallWindow(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(streamWindow: 64), count: 200, size: 4096)
        #expect(driver.accepted == 200 && seen.processed.count == 200)
    }

    @Test(
        "A server that gives the connection's window back late, or only when it is used up, gets every push whole",
        arguments: engines, [300, 1])
    func lateWindow(_ engine: TestedEngine, _ least: Int) throws {
        let left = Mutex((window: 65_535, lowest: 65_535))
        let resets = Atomic<Int>(0)
        let server = try RawServer(WirePair.frame(Frame.settings)) { frame in
            if frame.type == Frame.reset { resets.add(1, ordering: .relaxed) }
            guard frame.type == Frame.data else { return [] }
            var answer: [UInt8] = []
            left.withLock { left in
                left.window -= frame.length
                left.lowest = min(left.lowest, left.window)
                guard left.window < least else { return }
                let given = UInt32(65_535 - left.window)
                answer = WirePair.frame(Frame.windowUpdate, 0, 0, (0..<4).map { UInt8(given >> (24 - 8 * $0) & 0xFF) })
                left.window = 65_535
            }
            guard frame.flags & Frame.endStream != 0 else { return answer }
            return answer + WirePair.frame(Frame.headers, Frame.endStream | Frame.endHeaders, frame.stream, [0x88])
        }
        // 200 KB; the largest payload would be more than is left.
        let driver = CountingDriver(2000, size: 100)
        try engine.make(
            target: Target(address: server.address, host: "127.0.0.1", authority: "a", tls: nil),
            options: TransportOptions(), driver: driver, control: RunControl(), payloadCapacity: 4096
        ).run()
        #expect(driver.accepted == 2000 && driver.isBalanced)
        #expect(left.withLock { 0 <= $0.lowest && $0.lowest < least })
        // What was held back and then sent is no reason to reset the stream.
        #expect(resets.load(ordering: .relaxed) == 0)
    }

    @Test(
        "After GOAWAY the pushes above the last stream are sent again elsewhere, the others are not", arguments: engines
    )
    func goAway(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(goAwayAfter: 60), count: 1000)
        #expect(driver.accepted == 1000 && driver.failed == 0)
        #expect(seen.processed.count == 1000 && seen.repeated == 0)
        #expect(driver.events.contains("goAway") && seen.connections > 5)
    }

    @Test("A refused stream is sent again; too often refused, it fails", arguments: engines)
    func refused(_ engine: TestedEngine) throws {
        // One push may meet several refusals, as its new stream may be a tenth one too.
        let (driver, seen) = try run(engine, Script(resetEvery: (10, .refusedStream)), count: 500) {
            $0.retryLimit = 20
        }
        #expect(driver.accepted == 500 && driver.requeues >= 50 && seen.repeated == 0)
        let (hopeless, _) = try run(engine, Script(resetEvery: (1, .refusedStream)), count: 20) { $0.retryLimit = 3 }
        #expect(hopeless.failures == [.refusedTooOften: 20] && hopeless.requeues == 60)
    }

    @Test("A reset of another kind fails the push with its code", arguments: engines)
    func reset(_ engine: TestedEngine) throws {
        let (driver, _) = try run(engine, Script(resetEvery: (10, .internalError)), count: 500)
        #expect(driver.failures == [.streamReset(.internalError): 50] && driver.accepted == 450)
        #expect(FailureCause.streamReset(.internalError).description == "stream_reset_INTERNAL_ERROR")
    }

    @Test(
        "A cut connection fails what was written and unanswered, and the rest goes over a new one", arguments: engines)
    func cut(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(cutAfter: 100), count: 1000)
        #expect(driver.accepted + driver.failed == 1000 && driver.accepted > 0 && seen.connections > 2)
        #expect(driver.failures.keys.allSatisfy { [.connectionClosed, .connectionReset].contains($0) })
        #expect(seen.repeated == 0)
    }

    @Test("A push that is never answered fails after its time, the others do not", arguments: engines)
    func silent(_ engine: TestedEngine) throws {
        let (driver, _) = try run(engine, Script(silentEvery: 50), count: 500) { $0.pushTimeout = 1_500_000_000 }
        #expect(driver.failures == [.pushTimeout: 10] && driver.accepted == 490)
    }

    @Test("A server that never says its SETTINGS is given up, as is one where nobody listens", arguments: engines)
    func unusable(_ engine: TestedEngine) throws {
        let (driver, _) = try run(engine, Script(isMute: true), count: 10) {
            $0.connectTimeout = 100_000_000
            $0.giveUpAfter = 300_000_000
        }
        #expect(driver.abandonedBy == .connectTimeout && driver.next == 0 && driver.events.contains("reconnecting"))
        let port = try DeafPort()
        let nobody = try run(engine, port.address, count: 10) { $0.giveUpAfter = 200_000_000 }
        #expect(nobody.abandonedBy == .connectionRefused && !nobody.events.contains("reconnecting"))
    }

    @Test("A peer that vanishes is found out by PING, one that only answers PING is not", arguments: engines)
    func vanished(_ engine: TestedEngine) throws {
        func impatient(_ options: inout TransportOptions) {
            options.pingInterval = 50_000_000
            options.pingTimeout = 150_000_000
            options.pushTimeout = 1_000_000_000
            options.streams = 10
        }
        let (vanished, seen) = try run(engine, Script(freezeAfter: 100), count: 300, impatient)
        #expect(
            vanished.failures[.peerVanished, default: 0] > 0
                && vanished.failures.keys.allSatisfy { $0 == .peerVanished })
        #expect(vanished.accepted + vanished.failed == 300 && seen.connections > 1)
        let (alive, _) = try run(engine, Script(silentEvery: 1), count: 10) {
            impatient(&$0)
            $0.pingTimeout = 10_000_000_000
        }
        #expect(alive.failures == [.pushTimeout: 10])
    }

    @Test("Garbage from the peer ends the connection as a protocol violation", arguments: engines)
    func garbage(_ engine: TestedEngine) throws {
        let (driver, _) = try run(engine, Script(garbageAfter: 20), count: 60)
        #expect(driver.accepted + driver.failed == 60)
        #expect(driver.failures[.protocolViolation, default: 0] > 0)
    }

    @Test("A server that closes the first connections is reached by reconnecting", arguments: engines)
    func reconnect(_ engine: TestedEngine) throws {
        let (driver, seen) = try run(engine, Script(refuseFirst: 3), count: 100)
        #expect(driver.accepted == 100 && seen.connections == 4)
    }

    @Test("An error answer is told with status and body", arguments: engines)
    func rejected(_ engine: TestedEngine) throws {
        let (driver, _) = try run(engine, Script(reason: "Unregistered"), count: 100)
        #expect(driver.rejected == [410: 100] && driver.lastBody == "{\"reason\":\"Unregistered\",\"timestamp\":1}")
    }

    @Test(
        "What 429 and 503 say in Retry-After is told with each answer, and nothing of other statuses",
        arguments: engines)
    func retryAfter(_ engine: TestedEngine) throws {
        for (status, isTold) in [("429", true), ("503", true), ("500", false)] {
            let (driver, _) = try run(
                engine, Script(reason: "Unregistered", status: status, retryAfter: "7"), count: 100)
            #expect(driver.rejected == [UInt16(status)!: 100])
            #expect(driver.asked == (isTold ? Array(repeating: 7_000_000_000, count: 100) : []), "\(status)")
        }
        #expect(try run(engine, Script(reason: "Unregistered", status: "503"), count: 100).0.asked.isEmpty)
    }

    @Test("Retry-After is seconds or a date in one of its three forms; what is neither says nothing")
    func retryAfterForms() {
        // RFC 9110 section 5.6.7's example: 784,111,777.
        for (text, wait) in [
            ("0", 0), ("120", 120), ("99999999999999999999", 1_000_000_000), ("Sun, 06 Nov 1994 08:49:37 GMT", 10),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 10), ("Sun Nov  6 08:49:37 1994", 10),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 0), ("", nil), ("-1", nil), ("+5", nil), ("1.5", nil), ("soon", nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT+1", nil), ("Sun, 06 Nov 1994", nil),
        ] as [(String, UInt64?)] {
            let found = PushConnection.wait(retryAfter: text, unixTime: 784_111_767)
            #expect(found == wait.map { $0 * 1_000_000_000 }, "\(text)")
        }
    }

    @Test(
        "A push that was refused for a token that has been replaced is sent again, as often as a refused one at most",
        arguments: engines)
    func replacedToken(_ engine: TestedEngine) throws {
        let script = Script(reason: "ExpiredProviderToken", status: "403")
        let (some, _) = try run(engine, script, count: 100) { $0.retryLimit = 3 }
        #expect(some.rejected == [403: 100] && some.requeues == 0)
        let server = try ScriptedServer(script)
        let driver = CountingDriver(100, size: 10)
        driver.replacements = .max
        var options = TransportOptions()
        options.retryLimit = 3
        try engine.make(
            target: Target(address: server.address, host: "127.0.0.1", authority: "127.0.0.1", tls: nil),
            options: options, driver: driver, control: RunControl(), payloadCapacity: 10
        ).run()
        #expect(driver.rejected == [403: 100] && driver.requeues == 300 && driver.isBalanced)
        #expect(server.stop().requests == 400)
    }

    @Test("Stopped while nothing is answered, every push in flight fails as interrupted", arguments: engines)
    func abort(_ engine: TestedEngine) throws {
        let control = RunControl()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { control.ask(.abort) }
        let (driver, _) = try run(engine, Script(silentEvery: 1), count: 1000, control: control)
        #expect(driver.failures == [.interrupted: 50] && driver.next == 50)
    }

    @Test("Backoff begins with the second failed attempt, grows to its cap and starts again after a success")
    func backoff() {
        var backoff = Backoff(delay: 100, longest: 1000, seed: 1)
        let waits = (0..<200).map { _ in backoff.next() }
        #expect(waits[0] == 0 && waits[1] <= 100 && waits[2] <= 200 && waits.allSatisfy { $0 <= 1000 })
        #expect(waits.contains { $0 > 800 })
        backoff.reset()
        #expect(backoff.next() == 0 && backoff.next() <= 100)
    }

    @Test(
        "While connections are refused the backoff does not grow, for the attempts after that neither; of many it is longer"
    )
    func refusedBackoff() {
        var few = Backoff(delay: 1_000_000, longest: 1_000_000_000, seed: 1)
        #expect((0..<100).allSatisfy { _ in few.next(isRefused: true) <= 1_000_000 })
        #expect(few.next() <= 1_000_000 && few.next() <= 2_000_000)
        var many = Backoff(delay: 1_000_000, longest: 1_000_000_000, connections: 10, seed: 1)
        let waits = (0..<100).map { _ in many.next(isRefused: true) }
        #expect(waits[0] == 0 && waits.allSatisfy { $0 <= 5_000_000 } && waits.contains { $0 > 4_000_000 })
        var bounded = Backoff(delay: 1_000_000, longest: 2_000_000, connections: 10, seed: 1)
        #expect((0..<100).allSatisfy { _ in bounded.next(isRefused: true) <= 2_000_000 })
    }
}
