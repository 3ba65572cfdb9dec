import Foundation
import Payloads
import TestSupport
import Testing

@testable import Devices

@Suite("Fleets of devices")
struct DeviceFleetTests {
    static let second: UInt64 = 1_000_000_000
    static let start: UInt64 = 1_790_208_000 * second
    private let fleet: DeviceFleet
    private let key = DeviceKey("abcdef")

    /// A phone in use, with the app in the background, whose user leaves everything alone.
    init() {
        var model = DeviceModel()
        model.reaction = .init(opens: 0, dismisses: 0)
        model.silent.perHour = 2
        model.serviceExtension.time.sigma = 0
        model.serviceExtension.crashes = 0
        fleet = DeviceFleet(model, seed: 1, sealingSeed: nil, startedAt: Self.start, isReporting: true)
        for trait in [
            .online(true), .unlocked(true), .app(.background), .platform(.phone), .level(.alert, .granted),
            .level(.sound, .granted), .level(.badge, .granted),
        ] as [DeviceFleet.Trait] { fleet.set(trait, on: key, at: Self.start) }
    }

    @discardableResult
    private func push(
        _ payload: String, ticket: UInt64 = 1, type: PushType = .alert, collapse: String = "", expiration: Int64? = nil,
        seconds: UInt64 = 0
    ) -> DeviceOutcome {
        Array(collapse.utf8).withUnsafeBytes { collapse in
            Array(payload.utf8).withUnsafeBytes { payload in
                fleet.receive(
                    DevicePush(
                        device: key, number: 0, ticket: ticket, type: type, priority: 10, collapseID: collapse,
                        expiration: expiration, payload: payload), at: Self.start + seconds * Self.second)
            }
        }
    }

    private func screen(_ seconds: UInt64) -> DeviceScreen {
        fleet.screen(of: key, at: Self.start + seconds * Self.second)
    }

    @Test("A rich push is the reference's four steps")
    func rich() throws {
        let payload =
            #"{"aps":{"content-available":1,"sound":""},"richId":"17","richMessage":"Hello","richType":"img"}"#
        #expect(push(payload, type: .background) == .fetching)
        let request = try #require(fleet.requests.first)
        #expect(request.kind == .rich && request.path == "/api/notifications/17" && request.ticket == 1)
        #expect(request.deadline == Self.start + 30 * Self.second)
        #expect(fleet.finished(request.id, .newData, at: Self.start + 2 * Self.second))
        #expect(fleet.counts[.pending] == 1 && fleet.counts[.wakeNewData] == 1)
        #expect(screen(6).notifications.isEmpty)
        let shown = try #require(screen(7).notifications.first)
        #expect(shown.body == "Hello" && shown.category == "richPush" && shown.actions == ["More"])
        #expect(shown.shownAt == Self.start / Self.second + 7)
        #expect(fleet.counts[.banner] == 1 && fleet.counts.total == 1)
        let at = Self.start + 8 * Self.second
        #expect(fleet.act("More", on: shown.handle, of: key, at: at) == .done)
        #expect(fleet.requests.last?.kind == .action && fleet.requests.last?.action == "More")
        #expect(fleet.act("More", on: shown.handle, of: key, at: at) == .noNotification)
        #expect(
            fleet.reports == [
                .init(ticket: 1, kind: .content, at: Self.start + 2 * Self.second),
                .init(ticket: 1, kind: .outcome(.banner), at: Self.start + 7 * Self.second),
            ])
        // In the foreground the app shows an alert of its own.
        fleet.requests = []
        push(payload, ticket: 2, type: .background, seconds: 10)
        fleet.set(.app(.foreground), on: key, at: Self.start + 11 * Self.second)
        fleet.finished(fleet.requests[0].id, .newData, at: Self.start + 12 * Self.second)
        let own = try #require(screen(17).notifications.first)
        #expect(own.place == "in_app" && own.actions == ["More"] && fleet.counts[.inApp] == 1)
    }

    @Test("A rich push whose fetch ends shortly before its time is up is shown 5 s later all the same")
    func lateRich() throws {
        push(
            #"{"aps":{"content-available":1},"richId":"17","richMessage":"Hello","richType":"img"}"#, type: .background)
        #expect(fleet.finished(try #require(fleet.requests.first).id, .newData, at: Self.start + 28 * Self.second))
        #expect(screen(32).notifications.isEmpty && fleet.counts[.pending] == 1)
        #expect(screen(33).notifications.first?.shownAt == Self.start / Self.second + 33)
    }

    @Test("A fetch that has not ended after 30 s has failed, and its answer is too late")
    func timeOut() {
        #expect(push(#"{"aps":{"content-available":1}}"#, type: .background) == .fetching)
        let id = fleet.requests[0].id
        #expect(!fleet.finished(id, .newData, at: Self.start + 30 * Self.second))
        #expect(fleet.counts[.fetchFailed] == 1 && fleet.counts[.wakeTimedOut] == 1)
        let end = Self.start + 30 * Self.second
        #expect(
            fleet.reports == [
                .init(ticket: 1, kind: .outcome(.fetchFailed), at: end), .init(ticket: 1, kind: .noContent, at: end),
            ])
    }

    @Test("Wakes beyond the hour's are held, the newest only, until the next hour")
    func throttled() {
        let payload = #"{"aps":{"content-available":1}}"#
        for ticket in 1...4 { push(payload, ticket: UInt64(ticket), type: .background, seconds: UInt64(ticket)) }
        #expect(fleet.requests.count == 2)
        #expect(fleet.counts[.throttled] == 1 && fleet.counts[.replaced] == 1 && fleet.counts[.everThrottled] == 2)
        fleet.advance(to: Self.start + 3600 * Self.second)
        #expect(fleet.requests.count == 2)
        fleet.advance(to: Self.start + 3601 * Self.second)
        #expect(fleet.requests.count == 3 && fleet.requests[2].ticket == 4)
        #expect(fleet.counts.total == 4)
    }

    @Test("A device that is offline gets the latest push when it comes back, unless it has expired")
    func stored() {
        fleet.set(.online(false), on: key, at: Self.start)
        #expect(push(#"{"aps":{"alert":"a"}}"#, ticket: 1, expiration: 0) == .notStored)
        #expect(push(#"{"aps":{"alert":"b"}}"#, ticket: 2) == .stored)
        #expect(push(#"{"aps":{"alert":"c"}}"#, ticket: 3) == .stored)
        fleet.set(.online(true), on: key, at: Self.start + 50 * Self.second)
        #expect(screen(50).notifications.map(\.body) == ["c"])
        #expect(fleet.counts[.replaced] == 1 && fleet.counts[.banner] == 1)
        #expect(fleet.reports.last == .init(ticket: 3, kind: .outcome(.banner), at: Self.start + 50 * Self.second))
        fleet.set(.online(false), on: key, at: Self.start + 60 * Self.second)
        push(#"{"aps":{"alert":"d"}}"#, ticket: 4, expiration: Int64(Self.start / Self.second) + 70, seconds: 60)
        fleet.set(.online(true), on: key, at: Self.start + 70 * Self.second)
        #expect(fleet.counts[.expired] == 1 && screen(70).notifications.count == 1)
        #expect(fleet.counts.total == fleet.counts.received)
    }

    @Test("One notification a collapse id, the latest on top, and no more than a notification centre holds")
    func collapsed() {
        for ticket in 0..<300 as Range<UInt64> {
            push(#"{"aps":{"alert":"score \#(ticket)"}}"#, ticket: ticket, collapse: "match\(ticket % 3)")
        }
        #expect(screen(0).notifications.map(\.body) == ["score 299", "score 298", "score 297"])
        #expect(fleet.counts[.banner] == 300 && fleet.counts[.updated] == 297)
        for ticket in 300..<420 as Range<UInt64> { push(#"{"aps":{"alert":"x"}}"#, ticket: ticket) }
        #expect(screen(0).notifications.count == DeviceModel.mostDelivered && fleet.counts[.crowdedOut] == 23)
    }

    @Test("What comes of a payload that is no JSON, or says what nobody expects, is counted and does no harm")
    func strangers() {
        let seed = UInt64.random(in: 0...1_000_000)
        var random = SeededRandom(seed)
        let whole =
            #"{"aps":{"alert":{"title":"\u00e4\ud83d","body":"b\"c"},"badge":-1e5,"sound":{"critical":1},"mutable-content":1,"category":"M","thread-id":"t"},"encrypted-content":"AA==","attachment-url":"\/a","richId":{},"richType":[]}"#
        let odd = [
            "", "{", "{\"aps\"", "{\"aps\":", "{\"aps\":{\"alert\":\"", "[]", "{\"aps\":[1,{\"a\":2}],\"b\":\"\\",
            "{\"aps\":{\"alert\":\"\\u12\"}}", "{\"aps\":{\"badge\":99999999999999999999,\"alert\":\"x\\",
            #"{"\u0061ps":{"\u0061lert":"escaped"}}"#,
        ]
        var payloads = odd + (0...whole.utf8.count).map { String(whole.prefix($0)) }
        for _ in 0..<2000 {
            var bytes = Array(whole.utf8)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.one(of: Array("\"\\{}[],:x0 ".utf8))
            }
            payloads.append(String(decoding: bytes, as: UTF8.self))
        }
        for (number, payload) in payloads.enumerated() {
            push(payload, ticket: UInt64(number), seconds: UInt64(number))
        }
        let all = screen(UInt64(payloads.count) + 60)
        #expect(!all.notifications.isEmpty)
        #expect(
            fleet.counts.received == UInt64(payloads.count) && fleet.counts.total == fleet.counts.received, "\(seed)")
        #expect(DeviceOutcome.allCases.filter(\.isUnderWay).allSatisfy { fleet.counts[$0] == 0 })
    }

    @Test("A device that was set by hand first has the number that its pushes say")
    func number() throws {
        let other = DeviceKey("fedcba")
        fleet.set(.online(true), on: other, at: Self.start)
        let payload = Array(#"{"aps":{"content-available":1}}"#.utf8)
        payload.withUnsafeBytes {
            _ = fleet.receive(
                DevicePush(
                    device: other, number: 42, ticket: 9, type: .background, priority: 5,
                    collapseID: UnsafeRawBufferPointer(start: nil, count: 0), expiration: nil, payload: $0),
                at: Self.start)
        }
        #expect(try #require(fleet.requests.first).number == 42)
    }

    @Test("The longest texts that a payload can have fit, whatever they are")
    func longest() {
        let title = String(repeating: "t", count: 5000)
        let outcome = push(
            #"{"aps":{"alert":{"title":"\#(title)","body":"b"},"thread-id":"\#(title)"}}"#, collapse: "c", seconds: 1)
        #expect(outcome == .banner && screen(1).notifications.first?.title == title)
        let rich = #"{"aps":{"content-available":1},"richId":"\#(title)","richMessage":"\#(title)"}"#
        #expect(push(rich, ticket: 2, type: .background, seconds: 2) == .pending)
        var request = LocalRequest(
            identifier: String(repeating: "é", count: 32), body: String(repeating: "\u{1}", count: 1000),
            trigger: .interval(1, repeats: false))
        request.thread = String(repeating: "\u{2}", count: 64)
        #expect(fleet.add(request, on: key, at: Self.start + 3 * Self.second) == .added)
        #expect(screen(20).notifications.contains { $0.body == request.body && $0.identifier == request.identifier })
    }

    @Test("A key with escapes is the key that they stand for")
    func escapedKey() {
        #expect(push(#"{"\u0061ps":{"\u0061lert":"escaped"}}"#) == .banner)
        #expect(screen(0).notifications.first?.body == "escaped")
    }

    @Test("A badge beyond what can be shown is the largest that can; one that is no whole number is none")
    func badges() {
        push(#"{"aps":{"badge":99999999999999999999}}"#)
        #expect(screen(0).badge == Int(Int32.max))
        #expect(push(#"{"aps":{"badge":1.5}}"#) == .handedOver)
        push(#"{"aps":{"badge":0}}"#)
        #expect(screen(0).badge == 0)
    }

    @Test("Times that go back are taken for the last; the end of time is no trap")
    func time() {
        push(#"{"aps":{"alert":"a","mutable-content":1}}"#, seconds: 100)
        push(#"{"aps":{"alert":"b"}}"#, ticket: 2, seconds: 50)
        #expect(fleet.reports.allSatisfy { $0.at < Self.start + 1000 * Self.second })
        fleet.advance(to: .max)
        push(#"{"aps":{"content-available":1}}"#, ticket: 3, type: .background)
        push(#"{"aps":{"alert":"a","mutable-content":1}}"#, ticket: 4)
        var request = LocalRequest(identifier: "x", body: "y", trigger: .interval(.max, repeats: false))
        #expect(fleet.add(request, on: key, at: .max) == .refused)
        request.trigger = .calendar(CalendarTime(hour: 8), repeats: true)
        _ = fleet.add(request, on: key, at: .max)
        #expect(fleet.counts.total == 4)
    }

    @Test(
        "What is still under way at the end of a run is told with the outcome it has, and so is content that has not come"
    )
    func unfinished() {
        push(#"{"aps":{"content-available":1}}"#, ticket: 5, type: .background)
        push(#"{"aps":{"content-available":1},"richId":"1","richMessage":"m"}"#, ticket: 8, type: .background)
        fleet.set(.online(false), on: key, at: Self.start)
        push(#"{"aps":{"alert":"b"}}"#, ticket: 6, seconds: 1)
        let lost = #"{"aps":{"alert":"c","mutable-content":1},"attachment-url":"/a"}"#
        push(lost, ticket: 7, expiration: 0, seconds: 1)
        let at = Self.start + Self.second
        #expect(
            fleet.reports == [
                .init(ticket: 7, kind: .noContent, at: at), .init(ticket: 7, kind: .outcome(.notStored), at: at),
            ])
        func unfinished() -> [DeviceReport] {
            var left: [DeviceReport] = []
            fleet.tellUnfinished { left.append($0) }
            return left.sorted { $0.ticket < $1.ticket }
        }
        #expect(
            unfinished() == [
                .init(ticket: 5, kind: .outcome(.fetching), at: 0), .init(ticket: 5, kind: .noContent, at: 0),
                .init(ticket: 6, kind: .outcome(.stored), at: 0), .init(ticket: 8, kind: .outcome(.pending), at: 0),
            ])
        // What is stored is content for the app.
        push(lost, ticket: 9, seconds: 2)
        #expect(fleet.reports.last == .init(ticket: 6, kind: .outcome(.replaced), at: Self.start + 2 * Self.second))
        #expect(unfinished().filter { $0.ticket == 9 }.map(\.kind) == [.outcome(.stored), .noContent])
    }

    @Test("A fleet that is not asked what became of pushes tells nothing, and does the same")
    func silence() {
        let silent = DeviceFleet(DeviceModel(), seed: 1, sealingSeed: nil, startedAt: Self.start)
        let telling = DeviceFleet(DeviceModel(), seed: 1, sealingSeed: nil, startedAt: Self.start, isReporting: true)
        for fleet in [silent, telling] {
            for number in 0..<2000 as Range<UInt64> {
                Array(#"{"aps":{"alert":"a","mutable-content":1},"attachment-url":"/a"}"#.utf8).withUnsafeBytes {
                    _ = fleet.receive(
                        DevicePush(
                            device: DeviceKey("device \(number % 500)"), number: number, ticket: number, type: .alert,
                            priority: 10, collapseID: UnsafeRawBufferPointer(start: nil, count: 0), expiration: nil,
                            payload: $0), at: Self.start + number * Self.second)
                }
            }
        }
        #expect(silent.reports.isEmpty && silent.counts == telling.counts && silent.memory == telling.memory)
        var last: [UInt64: DeviceOutcome] = [:]
        func note(_ report: DeviceReport) {
            if case .outcome(let outcome) = report.kind {
                #expect(last.updateValue(outcome, forKey: report.ticket) == nil)
            }
        }
        telling.reports.forEach(note)
        telling.tellUnfinished(note)
        #expect(last.count == 2000)
        for outcome in DeviceOutcome.allCases {
            #expect(UInt64(last.values.count { $0 == outcome }) == telling.counts[outcome], "\(outcome)")
        }
    }

    @Test("Requests of the app: 64 pending, no repetition within a minute, nothing without a moment")
    func requests() {
        func add(_ name: String, _ trigger: LocalRequest.Trigger) -> DeviceFleet.Adding {
            fleet.add(LocalRequest(identifier: name, body: "b", trigger: trigger), on: key, at: Self.start)
        }
        for number in 0..<64 { #expect(add("\(number)", .region("home", entering: true, repeats: false)) == .added) }
        #expect(add("64", .interval(1, repeats: false)) == .refused)
        #expect(add("63", .interval(1, repeats: false)) == .replaced)
        #expect(add("0", .interval(59 * Self.second, repeats: true)) == .refused)
        #expect(add("0", .calendar(CalendarTime(month: 2, day: 30), repeats: false)) == .refused)
        #expect(add("0", .calendar(CalendarTime(hour: 24), repeats: false)) == .refused)
        #expect(add("", .interval(1, repeats: false)) == .refused)
        #expect(fleet.counts[.localRefused] == 5)
    }
}
