import Glibc
import HTTP2
import Logging
import Signing
import Testing

@testable import MockAPNs

/// What happens to connections as time passes and rules say, seen at the wire.
@Suite struct ConnectionTests {
    typealias Client = FrameClient

    private func start(_ change: (inout MockConfiguration) throws -> Void) throws -> MockServer {
        var configuration = MockConfiguration()
        try change(&configuration)
        return try MockServer(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func value(_ frame: ReceivedFrame?, of setting: UInt16) -> UInt32? {
        guard let frame, frame.type == Frame.settings else { return nil }
        for place in stride(from: 0, to: frame.payload.count, by: 6) {
            let entry = frame.payload[place..<(place + 6)].map(UInt32.init)
            if UInt16(entry[0] << 8 | entry[1]) == setting {
                return entry[2] << 24 | entry[3] << 16 | entry[4] << 8 | entry[5]
            }
        }
        return nil
    }

    /// Last stream, code and debug data.
    private func goAway(_ client: FrameClient) throws -> (last: UInt32, code: ErrorCode?, text: String) {
        let frame = try #require(client.wait { $0.type == Frame.goAway })
        let last = frame.payload[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        return (last, frame.code, String(decoding: frame.payload[8...], as: UTF8.self))
    }

    @Test("A token connection may have one stream until its first token was found valid, then the maximum")
    func oneStream() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        let server = try start {
            $0.accounts = [ProviderAccount(identity)]
            $0.maxConcurrentStreams = 77
        }
        let client = try Client(port: server.port)
        #expect(value(client.next(), of: 3) == 1)
        client.send(Client.push(1))
        #expect(client.wait { $0.type == Frame.headers && $0.stream == 1 } != nil)
        let token = try TokenSigner.bearer(identity, unixTime: Int64(time(nil)))
        client.send(
            Client.frame(
                Frame.headers, flags: Frame.endHeaders, stream: 3,
                Client.block(Client.request(more: [("authorization", token)])))
                + Client.frame(Frame.data, flags: Frame.endStream, stream: 3, Client.payload))
        var announced: UInt32?
        var isAccepted = false
        while announced == nil || !isAccepted, let frame = client.next() {
            announced = value(frame, of: 3) ?? announced
            if frame.stream == 3, frame.type == Frame.headers { isAccepted = frame.payload.contains(0x88) }
        }
        #expect(announced == 77 && isAccepted)
        let atOnce = try start {
            $0.accounts = [ProviderAccount(identity)]
            $0.allStreamsAtOnce = true
        }
        #expect(value(try Client(port: atOnce.port).next(), of: 3) == 1000)
        server.stop()
        atOnce.stop()
    }

    @Test("A silent connection is told IdleTimeout and the last stream handled, and is closed")
    func idle() throws {
        let server = try start { $0.idleTimeout = 300_000_000 }
        let client = try Client(port: server.port)
        #expect(client.isServed(1) && client.isServed(3))
        let told = try goAway(client)
        #expect(told.last == 3 && told.code == .noError && told.text == "{\"reason\":\"IdleTimeout\"}")
        while client.next() != nil {}
        #expect(client.isClosed)
        server.stop()
    }

    @Test("A connection that does not begin HTTP/2 is closed in time; one that has begun it may be silent for longer")
    func preface() throws {
        let server = try start { $0.handshakeTimeout = 2_000_000_000 }
        let greeted = try Client(port: server.port)
        for begun in [[], Array(Frame.preface.prefix(10)), Frame.preface] {
            let client = try Client(port: server.port, greeting: false)
            client.send(begun)
            while client.next() != nil {}
            #expect(client.isClosed, "\(begun)")
        }
        #expect(greeted.isServed(1))
        server.stop()
    }

    @Test("After its number of requests a connection is told to go away; what was begun is answered, nothing after it")
    func requests() throws {
        let server = try start {
            $0.faults.connections.goAwayAfter = 3
            var rule = FaultRule()
            rule.latency = .fixed(50_000_000)
            $0.faults.rules = [rule]
        }
        let client = try Client(port: server.port)
        client.send([1, 3, 5, 7, 9].flatMap { Client.push($0) })
        var answered: [Int32] = []
        var last: UInt32?
        while let frame = client.next() {
            if frame.type == Frame.headers { answered.append(frame.stream) }
            if frame.type == Frame.goAway { last = frame.payload[..<4].reduce(0) { $0 << 8 | UInt32($1) } }
        }
        let named = Int32(try #require(last))
        #expect(named >= 5 && answered.sorted() == Array(stride(from: 1, through: named, by: 2)) && client.isClosed)
        server.stop()
    }

    @Test("At its age a connection is told to go away, or reset")
    func age() throws {
        let server = try start { $0.faults.connections.goAwayAge = 100_000_000 }
        let client = try Client(port: server.port)
        #expect(try goAway(client).text == "{\"reason\":\"Shutdown\"}")
        server.stop()
        let rude = try start { $0.faults.connections.tcpResetEvery = 100_000_000 }
        let victim = try Client(port: rude.port)
        #expect(victim.isServed(1))
        while let frame = victim.next() { #expect(frame.type != Frame.goAway) }
        #expect(victim.isClosed)
        rude.stop()
    }

    @Test("A server that is stopped says Shutdown and still gives the answers that are due later")
    func stop() throws {
        let server = try start {
            var rule = FaultRule()
            rule.latency = .fixed(300_000_000)
            $0.faults.rules = [rule]
        }
        let client = try Client(port: server.port)
        client.send(Client.push(1) + Client.push(3))
        #expect(client.isAlive())
        server.stop()
        var answered: [Int32] = []
        var told = ""
        while let frame = client.next() {
            if frame.type == Frame.headers { answered.append(frame.stream) }
            if frame.type == Frame.goAway { told = String(decoding: frame.payload[8...], as: UTF8.self) }
        }
        #expect(answered.sorted() == [1, 3] && told == "{\"reason\":\"Shutdown\"}" && server.counts.accepted == 2)
    }

    @Test("A request that is not finished in time is answered IdleTimeout and its stream reset with NO_ERROR")
    func unfinished() throws {
        let server = try start { $0.requestTimeout = 200_000_000 }
        let client = try Client(port: server.port)
        client.send(Client.frame(Frame.headers, flags: Frame.endHeaders, stream: 1, Client.block(Client.request())))
        let body = try #require(client.wait { $0.type == Frame.data && $0.stream == 1 })
        #expect(String(decoding: body.payload, as: UTF8.self) == "{\"reason\":\"IdleTimeout\"}")
        #expect(client.resetCode(1) == .noError)
        #expect(client.isServed(3) && server.counts.reasons == ["IdleTimeout": 1])
        server.stop()
    }

    @Test("A header block that is not finished in time ends its connection, though nothing of the request is known")
    func unfinishedHeaders() throws {
        let server = try start { $0.requestTimeout = 200_000_000 }
        let client = try Client(port: server.port)
        #expect(client.isServed(1))
        client.send(Client.frame(Frame.headers, stream: 3, Client.block(Client.request())))
        let told = try goAway(client)
        #expect(told.last == 1 && told.code == .noError && told.text == "{\"reason\":\"IdleTimeout\"}")
        server.stop()
    }

    /// Asks until it is so, 20 s at most.
    private func becomes(_ isSo: () -> Bool) -> Bool {
        for _ in 0..<2000 {
            if isSo() { return true }
            usleep(10_000)
        }
        return isSo()
    }

    @Test("A request whose header bytes were too many, and that is not ended in time, is reset with NO_ERROR")
    func unfinishedAfterAnswer() throws {
        let server = try start { $0.requestTimeout = 200_000_000 }
        let client = try Client(port: server.port)
        let long = (1...3).map { ("x-\($0)", String(repeating: "x", count: 4000)) }
        client.send(Client.headers(1, Client.request(more: long), end: false))
        #expect(client.wait { $0.stream == 1 }?.payload == [0x08, 3] + Array("431".utf8))
        #expect(client.resetCode(1) == .noError)
        #expect(client.isServed(3) && server.counts.requests == 1)
        server.stop()
    }

    @Test("A stream whose answer waits too long for the client's window is reset; the connection goes on")
    func heldBack() throws {
        let server = try start { $0.writeTimeout = 300_000_000 }
        let client = try Client(port: server.port)
        // The second stream's window opens once, and not again; the third's opens in time.
        client.send(Client.frame(Frame.settings, Client.setting(4, 0)))
        for stream in [1, 3, 5] as [Int32] { client.send(Client.headers(stream, Client.request())) }
        client.send(Client.frame(Frame.windowUpdate, stream: 3, Client.number(1)))
        client.send(Client.frame(Frame.windowUpdate, stream: 5, Client.number(100)))
        var resets: [Int32: ErrorCode?] = [:]
        while resets.count < 2, let frame = client.next() {
            #expect(frame.type != Frame.goAway)
            if frame.type == Frame.reset { resets[frame.stream] = frame.code }
        }
        #expect(resets == [1: .cancel, 3: .cancel])
        #expect(client.isServed(7))
        #expect(server.counts.bounds == BoundFigures(heldBack: 2))
        server.stop()
    }

    @Test("A connection whose client does not read what was written for it is closed in time, and counted")
    func unread() throws {
        // No stream is refused: too many of those would end the connection before.
        let server = try start {
            $0.writeTimeout = 500_000_000
            $0.maxConcurrentStreams = 40_000
        }
        let client = try Client(port: server.port, receiveBuffer: 4096)
        client.send(
            Client.frame(Frame.settings, Client.setting(4, 0x7FFF_FFFF))
                + Client.frame(Frame.windowUpdate, Client.number(0x7FFF_FFFF - 65_535)))
        // GET / each: a few bytes for an answer with a body, more in all than two sockets take.
        for first in stride(from: 1, to: 80_000, by: 2000) as StrideTo<Int32> {
            let streams = stride(from: first, to: first + 2000, by: 2)
            client.send(streams.flatMap { Client.frame(Frame.headers, flags: 5, stream: $0, [0x82, 0x86, 0x84]) })
        }
        #expect(becomes { server.counts.bounds.unread == 1 && server.counts.connectionsOpen == 0 })
        #expect(try Client(port: server.port).isServed(1))
        server.stop()
    }

    @Test(
        "A silent connection is told IdleTimeout and closed though it holds streams that nothing will end",
        arguments: ["never answered", "held back"])
    func idleWithStreams(_ name: String) throws {
        let server = try start {
            $0.idleTimeout = 300_000_000
            $0.writeTimeout = 0
            var silent = FaultRule()
            silent.match.tokens = ["bb*"]
            silent.silentShare = 1
            $0.faults.rules = [silent]
        }
        let client = try Client(port: server.port)
        if name == "never answered" {
            client.send(Client.push(1, device: String(repeating: "bb", count: 32)))
        } else {
            client.send(Client.frame(Frame.settings, Client.setting(4, 0)) + Client.headers(1, Client.request()))
        }
        let told = try goAway(client)
        #expect(told.last == 1 && told.code == .noError && told.text == "{\"reason\":\"IdleTimeout\"}")
        while client.next() != nil {}
        #expect(client.isClosed)
        server.stop()
    }

    @Test(
        "When too much waits for clients whoever holds most of it is closed and counted, and the others are served",
        arguments: ["half requests", "half frames", "half header blocks", "shut windows"])
    func crowded(_ name: String) throws {
        let server = try start { $0.mostHeld = 500_000 }
        let good = try Client(port: server.port)
        #expect(good.isServed(1))
        let acknowledgement = Client.frame(Frame.settings, flags: Frame.acknowledgement)
        var hostile: [FrameClient] = []
        for _ in 0..<100 where server.counts.bounds.crowded == 0 {
            let client = try Client(port: server.port)
            hostile.append(client)
            switch name {
            case "half requests":
                for stream in stride(from: 1, to: 100, by: 2) as StrideTo<Int32> {
                    client.send(Client.open(stream) + Client.frame(Frame.data, stream: stream, [32]))
                }
            case "half frames":
                let frame = Client.frame(Frame.data, stream: 1, [UInt8](repeating: 32, count: 16_000))
                client.send(acknowledgement + Client.open(1) + frame.dropLast())
            case "half header blocks":
                let header = Client.block([("x", String(repeating: "x", count: 15_000))])
                client.send(Client.frame(Frame.headers, stream: 1, header))
                client.send(Client.frame(Frame.continuation, stream: 1, header))
            default:
                client.send(Client.frame(Frame.settings, Client.setting(4, 0)))
                client.send(
                    stride(from: 1, to: 200, by: 2).flatMap { Client.headers(Int32($0), Client.request()) })
            }
            usleep(10_000)
        }
        #expect(becomes { server.counts.bounds.crowded > 0 })
        #expect(good.isServed(3))
        #expect(server.counts.connectionsOpen > 1)
        withExtendedLifetime(hostile) {}
        server.stop()
    }

    @Test("Answers whose time comes later count in what waits for clients, and those that were taken do not")
    func crowdedLater() throws {
        let server = try start {
            $0.mostHeld = 2_000_000
            var late = FaultRule()
            late.latency = .fixed(300_000_000)
            late.match.tokens = ["bb*"]
            var answer = RawAnswer(status: 500)
            answer.body = [UInt8](repeating: 120, count: 60_000)
            late.answer = answer
            var batch = FaultRule()
            batch.batch = .init(count: 400)
            batch.batch?.within = 100_000_000
            $0.faults.rules = [late, batch]
        }
        // Each takes its answers before the next one comes: by and by ten times as much waits as may at once.
        var clients: [FrameClient] = []
        for _ in 0..<10 {
            let client = try Client(port: server.port)
            clients.append(client)
            client.send(stride(from: 1, to: 600, by: 2).flatMap { Client.push(Int32($0)) })
            for _ in 0..<300 { try #require(client.wait { $0.type == Frame.headers } != nil) }
        }
        #expect(server.counts.bounds.crowded == 0 && server.counts.accepted == 3000)
        var unread: [FrameClient] = []
        for _ in 0..<30 {
            let client = try Client(port: server.port, receiveBuffer: 4096)
            client.send(Client.frame(Frame.settings, Client.setting(4, 0x7FFF_FFFF)))
            client.send(Client.frame(Frame.windowUpdate, Client.number(0x7FFF_0000)))
            let device = String(repeating: "bb", count: 32)
            client.send(stride(from: 1, to: 20, by: 2).flatMap { Client.push(Int32($0), device: device) })
            unread.append(client)
        }
        #expect(becomes { server.counts.bounds.crowded > 0 })
        withExtendedLifetime((clients, unread)) {}
        server.stop()
    }

    @Test(
        "Memory kept for the next requests is little, and given back while a stream stays open that nothing comes for")
    func spareMemory() throws {
        let server = try start { _ in }
        let client = try Client(port: server.port)
        let streams = stride(from: 1, to: 100, by: 2).map { Int32($0) }
        let fields = Client.request(device: String(repeating: "ab", count: 3000))
        // All of them at once, so that each has memory of its own.
        client.send(Client.open(101) + streams.flatMap { Client.headers($0 + 102, fields, end: false) })
        client.send(streams.flatMap { Client.frame(Frame.data, flags: Frame.endStream, stream: $0 + 102, [32]) })
        for _ in streams { #expect(client.wait { $0.type == Frame.headers } != nil) }
        func spare() -> [Int] {
            server.ask { $0.connections.values.compactMap { $0.session?.spareMemory } }.flatMap { $0 }
        }
        #expect(spare().allSatisfy { $0 < 150_000 }, "large ones are not kept")
        #expect(becomes { spare() == [0] })
        client.send(Client.frame(Frame.data, flags: Frame.endStream, stream: 101, Client.payload))
        #expect(client.wait { $0.type == Frame.headers }?.stream == 101)
        server.stop()
    }

    @Test("A client that closes before HTTP/2 has begun is counted as such, one that says nothing too")
    func unbegun() throws {
        let server = try start { _ in }
        for bytes in [[], Array(Frame.preface.prefix(9)), Frame.preface] {
            let client = try Client(port: server.port, greeting: false)
            if !bytes.isEmpty { client.send(bytes) }
        }
        #expect(becomes { server.counts.handshakesFailed == 3 })
        #expect(try Client(port: server.port).isServed(1))
        #expect(server.counts.handshakesFailed == 3)
        server.stop()
    }

    @Test("An answer that is due later than the idle time-out is still given")
    func lateAnswer() throws {
        let server = try start {
            $0.idleTimeout = 300_000_000
            var rule = FaultRule()
            rule.latency = .fixed(1_500_000_000)
            $0.faults.rules = [rule]
        }
        let client = try Client(port: server.port)
        client.send(Client.push(1))
        #expect(client.wait { $0.type == Frame.headers || $0.type == Frame.goAway }?.stream == 1)
        server.stop()
    }

    @Test("A provider with many 4xx answers is slowed down by steps and then sent away; accepted pushes make good")
    func penalty() throws {
        let server = try start {
            $0.topics = ["com.example.app"]
            $0.maxConcurrentStreams = 100
            var penalty = PenaltySettings()
            (penalty.step, penalty.leastStreams, penalty.goAway) = (10, 30, 30)
            $0.faults.connections.penalty = penalty
        }
        let client = try Client(port: server.port)
        var stream: Int32 = -1
        /// SETTINGS_MAX_CONCURRENT_STREAMS announced with the answer to a push, if any was.
        func limit(after push: (Int32) -> [UInt8]) -> UInt32? {
            stream += 2
            let mark: [UInt8] = [8, 8, 8, 8, 8, 8, 8, 8]
            client.send(push(stream) + Client.frame(Frame.ping, mark))
            var found: UInt32?
            while let frame = client.next(), frame.type != Frame.ping {
                if frame.flags == 0 { found = value(frame, of: Frame.Setting.maxConcurrentStreams) ?? found }
            }
            return found
        }
        let good: (Int32) -> [UInt8] = { Client.push($0) }
        let badToken: (Int32) -> [UInt8] = { Client.push($0, device: "zz") }
        let badTopic: (Int32) -> [UInt8] = { stream in
            var fields = Client.request()
            fields[4].1 = "com.example.other"
            return Client.headers(stream, fields, end: false)
                + Client.frame(Frame.data, flags: Frame.endStream, stream: stream, Client.payload)
        }
        #expect(limit(after: good) == 100)
        #expect(limit(after: badToken) == nil && limit(after: badToken) == 50)
        // Ten points are there; ten pushes that are accepted take them back.
        for _ in 0..<9 { #expect(limit(after: good) == nil) }
        #expect(limit(after: good) == 100)
        for _ in 0..<9 { #expect(limit(after: badTopic) == nil) }
        #expect(limit(after: badTopic) == 50)
        #expect(limit(after: badToken) == nil && limit(after: badToken) == 30)
        #expect(limit(after: badToken) == nil)
        stream += 2
        client.send(badToken(stream))
        let told = try goAway(client)
        #expect(told.last == UInt32(stream) && told.code == .noError && told.text == "{\"reason\":\"BadDeviceToken\"}")
        while client.next() != nil {}
        #expect(client.isClosed && server.counts.bounds == BoundFigures(slowed: 3, cutOff: 1))
        server.stop()
    }

    @Test("An answer that waits gives its place back when its stream is over, or its connection")
    func abandonedAnswers() throws {
        let server = try start {
            $0.maxWaitingAnswers = 10
            var (slow, other) = (FaultRule(), FaultRule())
            slow.match.tokens = ["ff*"]
            slow.latency = .fixed(3_600_000_000_000)
            other.latency = .fixed(1_000_000)
            $0.faults.rules = [slow, other]
        }
        let slow = String(repeating: "ff", count: 32)
        let client = try Client(port: server.port)
        for stream in stride(from: 1, to: 200, by: 2) as StrideTo<Int32> {
            client.send(
                Client.push(stream, device: slow) + Client.frame(Frame.windowUpdate, stream: stream, Client.number(0)))
        }
        #expect(client.resetCode(199) == .protocolError)
        #expect(client.isServed(201) && server.counts.reasons.isEmpty)
        // Streams that are open keep their places, until their connection is over.
        do {
            let leaving = try Client(port: server.port)
            for stream in stride(from: 1, to: 20, by: 2) as StrideTo<Int32> {
                leaving.send(Client.push(stream, device: slow))
            }
            #expect(leaving.isAlive() && !client.isServed(203))
        }
        var stream: Int32 = 205
        while !client.isServed(stream), stream < 20_205 {
            usleep(1000)
            stream += 2
        }
        #expect(stream < 20_205)
        server.stop()
    }

    @Test("What is left of answers whose streams are over is removed before it is much")
    func abandonedWork() {
        var work = LaterWork()
        var open: Set<Int32> = []
        for stream in 0..<3000 as Range<Int32> {
            work.add(.accepted, connection: 1, stream: stream, due: 5)
            open.insert(stream)
            if stream % 3 == 0 { continue }
            open.remove(stream)
            work.abandon { $0 == 1 && open.contains($1) }
        }
        #expect(work.waiting == 1000)
        var taken = 0
        while let item = work.take(now: 5) {
            guard case .answer(_, _, let stream) = item else { continue }
            taken += 1
            work.didEnd(isGiven: open.contains(stream))
        }
        #expect(taken < 3000 && work.waiting == 0)
    }

    @Test("SETTINGS change as the plan says")
    func settings() throws {
        let server = try start {
            var change = ConnectionFaults.SettingsChange(after: 50_000_000)
            change.maxConcurrentStreams = 7
            change.streamWindow = 99
            change.maxFrameSize = 20_000
            change.headerTableSize = 0
            $0.faults.connections.settings = [change]
        }
        let client = try Client(port: server.port)
        _ = client.next()
        let change = try #require(client.wait { $0.type == Frame.settings && $0.flags == 0 })
        #expect(value(change, of: 3) == 7 && value(change, of: 4) == 99)
        #expect(value(change, of: 5) == 20_000 && value(change, of: 1) == 0)
        server.stop()
    }

    @Test(
        "6.5.3: fewer streams, smaller frames and smaller windows bind a client once it has acknowledged them, and no sooner"
    )
    func acknowledgement() throws {
        let identity = try ProviderIdentity(key: .ephemeral(), keyID: "ABC123DEFG", teamID: "TEAM567890")
        let server = try start {
            $0.accounts = [ProviderAccount(identity)]
            $0.maxConcurrentStreams = 5
        }
        let token = try TokenSigner.bearer(identity, unixTime: Int64(time(nil)))
        func request(_ stream: Int32) -> [UInt8] {
            Client.frame(
                Frame.headers, flags: Frame.endHeaders, stream: stream,
                Client.block(Client.request(more: [("authorization", token)])))
        }
        let payload = { Client.frame(Frame.data, flags: Frame.endStream, stream: $0, Client.payload) }
        let acknowledgement = Client.frame(Frame.settings, flags: Frame.acknowledgement)
        // As Node's client: a hundred streams before it has read anything, though one is allowed.
        let burst: [Int32] = (0..<100).map { 2 * $0 + 1 }
        let client = try Client(port: server.port)
        client.send(burst.flatMap(request) + burst.flatMap(payload))
        var answered: [Int32] = []
        while answered.count < burst.count, let frame = client.next() {
            #expect(frame.type != Frame.reset && frame.type != Frame.goAway)
            if frame.type == Frame.headers { answered.append(frame.stream) }
        }
        #expect(answered.sorted() == burst)
        // The first SETTINGS (1 stream) acknowledged, but not the second (5): it already allows more.
        client.send(acknowledgement + [201, 203, 205, 207, 209, 211].flatMap(request))
        #expect(client.resetCode(211) == .refusedStream && client.isAlive())
        client.send(acknowledgement + request(213))
        #expect(client.resetCode(213) == .refusedStream)
        client.send(payload(201) + request(215) + payload(215))
        #expect(client.wait { $0.type == Frame.headers && $0.stream == 215 } != nil)
        // A client that never acknowledges stays with what RFC 9113 leaves open, within bounds.
        let strict = try Client(port: server.port)
        strict.send(acknowledgement + request(1) + request(3))
        #expect(strict.resetCode(3) == .refusedStream)
        server.stop()
    }

    @Test("6.9.2: a stream whose window SETTINGS made negative may still be ended with an empty frame")
    func negativeWindow() throws {
        let server = try start { $0.streamWindow = 10 }
        let client = try Client(port: server.port)
        let headers = {
            Client.frame(Frame.headers, flags: Frame.endHeaders, stream: $0, Client.block(Client.request()))
        }
        let long = Array("{\"aps\":{},\"x\":\"\(String(repeating: "y", count: 200))\"}".utf8)
        client.send(headers(1) + Client.frame(Frame.data, stream: 1, long))
        client.send(Client.frame(Frame.settings, flags: Frame.acknowledgement))
        client.send(Client.frame(Frame.data, flags: Frame.endStream, stream: 1))
        #expect(client.wait { $0.type == Frame.headers && $0.stream == 1 }?.payload.contains(0x88) == true)
        client.send(headers(3) + Client.frame(Frame.data, flags: Frame.endStream, stream: 3, long))
        #expect(client.resetCode(3) == .flowControlError)
        server.stop()
    }

    @Test("A stream is reset with the code of the rule, and a silent one never answered")
    func fates() throws {
        let server = try start {
            var reset = FaultRule()
            reset.match.tokens = ["aa*"]
            reset.resetShare = 1
            reset.resetCode = .refusedStream
            var silent = FaultRule()
            silent.match.tokens = ["bb*"]
            silent.silentShare = 1
            $0.faults.rules = [reset, silent]
        }
        let client = try Client(port: server.port)
        client.send(Client.push(1, device: String(repeating: "bb", count: 32)))
        client.send(Client.push(3, device: String(repeating: "aa", count: 32)))
        #expect(client.resetCode(3) == .refusedStream)
        #expect(client.isServed(5))
        let counts = server.counts
        #expect(counts.requests == 3 && counts.accepted == 1 && counts.silenced == 1 && counts.reset == 1)
        server.stop()
    }
}
