import HTTP2
import Logging
import PlainHTTP
import Testing

@testable import MockAPNs

/// What is kept of pushes for who asks.
@Suite struct KeptPushesTests {
    private func entry(_ number: UInt64, topic: String = "com.a", status: Int = 200) -> RecentPushes.Entry {
        .init(
            number: number, namespace: nil, time: Int64(number) * 10, status: status,
            reason: status == 200 ? nil : "BadTopic", unanswered: nil, identifier: "ID",
            unique: RandomUUID(high: number, low: 0),
            token: "0a", topic: topic, pushType: .alert, priority: 10, collapseID: nil, expiration: nil, connection: 1,
            environment: .production, headers: HeaderRecord(), payload: [])
    }

    @Test("The last ones are kept, oldest first, and counted by their numbers, before and after the first are lost")
    func ring() {
        var recent = RecentPushes(capacity: 5, room: .init(100))
        for number in 1...13 as ClosedRange<UInt64> {
            recent.add(entry(number, topic: number % 2 == 0 ? "com.a" : "com.b"))
            let first = number > 5 ? number - 4 : 1
            #expect(recent.list(PushFilter()).map(\.number) == Array(first...number))
            for after in 0...number {
                for last in after...number {
                    let expected = (first...number).filter { $0 > after && $0 <= last && $0 % 2 == 0 }.count
                    var filter = PushFilter()
                    filter.topic = "com.a"
                    #expect(recent.count(filter, after: after, through: last) == expected)
                }
            }
        }
        recent.reset()
        #expect(recent.list(PushFilter()).isEmpty && recent.count(PushFilter(), after: 0, through: 99) == 0)
    }

    @Test(
        "Many namespaces keep no more together than there is room for, and each its last sixteen; a reset gives room back"
    )
    func room() {
        let room = RecentPushes.Room(100)
        var all = (0..<20).map { _ in RecentPushes(capacity: 60, room: room) }
        for number in 1...80 as ClosedRange<UInt64> {
            for place in all.indices { all[place].add(entry(number)) }
        }
        let counts = all.map { $0.list(PushFilter()).count }
        #expect(counts.allSatisfy { $0 >= 16 } && counts.reduce(0, +) <= 100 + 20 * 16, "\(counts)")
        for recent in all { #expect(recent.list(PushFilter()).last?.number == 80) }
        for place in all.indices { all[place].reset() }
        for number in 1...80 as ClosedRange<UInt64> { all[0].add(entry(number)) }
        #expect(all[0].list(PushFilter()).map(\.number) == Array(21...80))
    }

    @Test("Header fields are kept byte for byte in their order; what has no room is counted")
    func headers() {
        var record = HeaderRecord()
        func add(_ name: [UInt8], _ value: [UInt8]) {
            name.withUnsafeBufferPointer { name in
                value.withUnsafeBufferPointer { value in
                    var field = HPACKField()
                    if !name.isEmpty { (field.name, field.nameLength) = (name.baseAddress!, name.count) }
                    if !value.isEmpty { (field.value, field.valueLength) = (value.baseAddress!, value.count) }
                    record.add(field)
                }
            }
        }
        let long = [UInt8](repeating: 0x78, count: 700)
        add(Array("a".utf8), long)
        add([], [])
        add(Array("b".utf8), [0xFF, 0x41])
        #expect(record.fields.map(\.name) == ["a", "", "b"])
        #expect(record.fields.map(\.value) == [String(repeating: "x", count: 700), "", "\u{FFFD}A"])
        add(Array("c".utf8), [UInt8](repeating: 0x79, count: HeaderRecord.capacity))
        #expect(record.fields.count == 3 && record.lost == 1)
        record.reset()
        #expect(record.fields.isEmpty && record.lost == 0)
    }

    @Test("A UUID's text is read as it was written")
    func uuid() {
        let uuid = RandomUUID(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)
        #expect(uuid.text == "01234567-89ab-4def-8123-456789abcdef")
        #expect(RandomUUID(uuid.text.uppercased()) == uuid && RandomUUID("17") == nil && RandomUUID("") == nil)
        let blocks = AnswerBlocks(seed: 3, startTime: 0)
        let drawn = blocks.draw()
        #expect(blocks.text(drawn) == drawn.text)
    }

    @Test("What became of pushes is kept of the last ones, and the last of it")
    func log() {
        let log = DeliveryLog(capacity: 3)
        for number in 1...5 as ClosedRange<UInt64> { log.note(.stored, RandomUUID(high: number, low: 0)) }
        #expect(log.entries(of: RandomUUID(high: 2, low: 0)).isEmpty)
        let last = RandomUUID(high: 5, low: 0)
        log.note(.delivered, nil)
        log.note(.delivered, last, outcome: "banner")
        #expect(log.entries(of: last).map(\.event) == [.stored, .delivered])
        #expect(log.entries(of: last).last?.outcome == "banner")
        for _ in 0..<20 { log.note(.replaced, last) }
        #expect(log.entries(of: last).count == 16)
        for number in 6...8 as ClosedRange<UInt64> { log.note(.stored, RandomUUID(high: number, low: 0)) }
        #expect(log.entries(of: last).isEmpty)
    }

    private func query(_ text: String, _ server: MockServer) throws -> PushQuery {
        let asked = "GET /pushes?\(text) HTTP/1.1\r\nHost: x\r\n\r\n"
        guard case .request(let request, _) = PlainRequest.parse(Array(asked.utf8)) else { fatalError("not read") }
        return try PushQuery(request, of: server)
    }

    private func start(_ change: (inout MockConfiguration) -> Void = { _ in }) throws -> MockServer {
        var configuration = MockConfiguration()
        configuration.adminPort = 0
        change(&configuration)
        return try MockServer(configuration, logger: Logger(label: "mock-apns") { _ in SwiftLogNoOpLogHandler() })
    }

    /// One more push, kept by a worker.
    private func keep(_ number: UInt64, _ server: MockServer, worker place: Int = 0) {
        let entry = entry(number)
        _ = server.ask { worker in if worker.number == place { worker.home.recent.add(entry) } }
        server.shared.watch.tell()
    }

    @Test("Who waits for so many pushes waits anew after a reset")
    func waitsReset() throws {
        let server = try start()
        defer { server.stop() }
        let watch = server.shared.watch
        var waits = PushWaits(server)
        let none = waits.add(try query("wait=5s&count=2", server), for: 1, now: 0)
        #expect(none == nil)
        keep(watch.next(), server)
        waits.look(now: 1_000_000_000)
        server.reset()
        for time in [2_000_000_000, 3_000_000_000] as [UInt64] {
            let early = waits.next()
            #expect(early == nil && waits.count == 1)
            keep(watch.next(), server)
            waits.look(now: time)
        }
        let answer = waits.next()
        #expect(answer?.request == 1 && waits.count == 0)
    }

    @Test("No push is listed while one with a lower number may still come")
    func order() throws {
        let server = try start { $0.threads = 2 }
        defer { server.stop() }
        let watch = server.shared.watch
        keep(watch.next(), server)
        let asked = watch.last
        // As if the first worker were asked now, and the second after its next push.
        let late = watch.next()
        keep(watch.next(), server, worker: 1)
        let pushes = KeptPushes(server: server)
        #expect(try pushes.list(query("after=0", server), through: asked).map(\.number) == [1])
        keep(late, server)
        #expect(try pushes.list(query("after=1", server)).map(\.number) == [2, 3])
    }

    @Test("Of requests that waited each is answered with what there is when the one before has its answer")
    func waits() throws {
        let server = try start { $0.namespaceRule = .topic }
        defer { server.stop() }
        var waits = PushWaits(server)
        for number in 1...3 as ClosedRange<UInt64> {
            let answer = waits.add(try query("namespace=com.a&wait=5s", server), for: number, now: 0)
            #expect(answer == nil)
        }
        waits.look(now: 1)
        let early = waits.next()
        #expect(early == nil && waits.count == 3)
        waits.look(now: 5_000_000_000)
        let first = waits.next()
        #expect(first?.request == 1 && first?.answer.status == 404 && waits.count == 2)
        #expect(server.shared.namespaces?.named("com.a") != nil)
        let second = waits.next()
        #expect(second?.request == 2 && second?.answer.body == Array("[]\n".utf8))
        let (third, last) = (waits.next(), waits.next())
        #expect(third?.request == 3 && last == nil && waits.count == 0)
    }

    @Test("Namespaces come into being when they are named, up to a thousand")
    func namespaces() {
        #expect(NamespaceRule.bundleID(ofTopic: "com.a.push-type.liveactivity") == "com.a")
        #expect(
            NamespaceRule.bundleID(ofTopic: "com.a.voip") == "com.a"
                && NamespaceRule.bundleID(ofTopic: ".voip") == ".voip")
        #expect(NamespaceRule.bundleID(ofTopic: "com.voip.a") == "com.voip.a")
        let configuration = MockConfiguration()
        let hub = EventHub(wakeUp: .init())
        let all = Namespaces(.topic, rules: FaultScript(FaultPlan(), startedAt: 0)) {
            Namespace(name: $0, configuration, rules: $1, hub: hub, log: nil, startedAt: 0, startTime: 0)
        }
        for number in 0..<Namespaces.most { #expect(all.named("com.app\(number)")?.name == "com.app\(number)") }
        #expect(all.named("com.more") == nil && all.named("com.app7") === all.all[7])
        all.countRefused()
        #expect(all.refused == 1 && all.forgetEmpty().count == Namespaces.most && all.refused == 0)
    }
}
