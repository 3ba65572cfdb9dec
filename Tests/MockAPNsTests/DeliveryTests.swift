import Foundation
import Networking
import Payloads
import Settings
import Testing

@testable import MockAPNs

@Suite struct DeliveryTests {
    private static let second: UInt64 = 1_000_000_000
    private let directory = DeviceDirectory(.everybody, startedAt: 0, startTime: 0)
    private let reactor: Reactor
    private let hub: EventHub
    init() throws {
        reactor = try Reactor()
        hub = EventHub(wakeUp: reactor.wakeUp)
        hub.setSubscribers(1)
    }

    private func desk(_ change: (inout DeliverySettings) -> Void) -> DeliveryDesk {
        var settings = DeliverySettings()
        change(&settings)
        return DeliveryDesk(settings, directory: directory, hub: hub, startedAt: 0)
    }

    private func push(
        _ name: String, device: String = "aa", topic: String = "com.example.app", type: PushType = .alert,
        priority: Int = 10, collapseID: String? = nil, expiration: Int64? = nil
    ) -> DeliveredPush {
        DeliveredPush(
            token: device, key: TokenKey(device), channel: nil, topic: topic, pushType: type, priority: priority,
            identifier: name, collapseID: collapseID, expiration: expiration, acceptedAt: 0, payload: Array("{}".utf8))
    }

    private func shown() -> [String] { hub.take().map(\.identifier) }

    @Test("A device that is there gets its push at once")
    func online() {
        let desk = desk { _ in }
        #expect(desk.deliver(push("a"), now: 1, unixTime: 100) == nil)
        #expect(shown() == ["a"] && desk.counts.delivered == 1 && desk.counts.stored == 0)
    }

    @Test("A worker whose clock is a little behind counts in the window that another has begun")
    func clocks() {
        let desk = desk { ($0.perDeviceLimit, $0.perDevicePeriod, $0.backgroundPerHour) = (1, 10, 1) }
        #expect(desk.admit(TokenKey("aa"), now: 100) == nil)
        #expect(desk.admit(TokenKey("aa"), now: 99) == .tooManyRequests)
        #expect(desk.admit(TokenKey("aa"), now: 110) == nil)
        #expect(desk.deliver(push("a", type: .background), now: 100, unixTime: 100) == nil)
        #expect(desk.deliver(push("b", type: .background), now: 99, unixTime: 100) == nil)
        #expect(shown() == ["a"] && desk.counts.throttled == 1)
    }

    @Test("Of more devices than are counted, those that had a push last are still held to their limit")
    func windows() {
        var settings = DeliverySettings()
        (settings.perDeviceLimit, settings.perDevicePeriod) = (2, 100 * Self.second)
        let desk = DeliveryDesk(settings, directory: directory, hub: hub, mostWindows: 10, startedAt: 0)
        // Ten at a time are all remembered, however often they come.
        for _ in 0..<2 {
            for device in 0..<10 { #expect(desk.admit(TokenKey("a\(device)"), now: 1) == nil) }
        }
        for device in 0..<10 { #expect(desk.admit(TokenKey("a\(device)"), now: 2) == .tooManyRequests) }
        for device in 0..<50 {
            #expect(desk.admit(TokenKey("b\(device + 10)"), now: 3) == nil)
            #expect(desk.admit(TokenKey("a1"), now: 3) == .tooManyRequests)
        }
        #expect(desk.admit(TokenKey("a2"), now: 3) == nil, "forgotten: long since the last push")
        #expect(desk.admit(TokenKey("a1"), now: 3 + 100 * Self.second) == nil)
    }

    @Test("Desks that share a room store as many as it has, and each gives back what it held")
    func room() {
        var settings = DeliverySettings()
        settings.onlineByAttachment = true
        let room = SharedRoom(2)
        let one = DeliveryDesk(settings, directory: directory, hub: hub, room: room, startedAt: 0)
        settings.priority5Interval = Self.second
        settings.onlineByAttachment = false
        do {
            let other = DeliveryDesk(settings, directory: directory, hub: hub, room: room, startedAt: 0)
            #expect(one.deliver(push("a"), now: 1, unixTime: 100) == nil)
            #expect(other.deliver(push("b", priority: 5), now: 1, unixTime: 100) == nil)
            #expect(one.deliver(push("c", device: "bb"), now: 1, unixTime: 100) == .internalServerError)
            #expect(other.deliver(push("d", priority: 5), now: 1, unixTime: 100) == .internalServerError)
            _ = other.advance(now: Self.second, unixTime: 101)
            #expect(other.deliver(push("e", priority: 5), now: Self.second, unixTime: 101) == nil)
        }
        #expect(one.deliver(push("f", device: "bb"), now: 1, unixTime: 100) == nil, "the other desk is gone")
        one.attach(TokenKey("aa"), now: 2)
        #expect(one.deliver(push("g", device: "cc"), now: 3, unixTime: 100) == nil)
        one.reset()
        #expect(one.deliver(push("h", device: "bb"), now: 4, unixTime: 100) == nil)
        #expect(one.deliver(push("i", device: "cc"), now: 4, unixTime: 100) == nil)
        #expect(one.deliver(push("j", device: "dd"), now: 4, unixTime: 100) == .internalServerError)
    }

    @Test("Channels are bounded over all apps, and an app without any takes nothing")
    func channels() throws {
        let room = SharedRoom(3)
        let channels = ChannelDirectory(limit: 2, enabled: nil, room: room)
        let first = try #require(channels.create("com.a", .production, storagePolicy: 0))
        #expect(channels.create("com.a", .production, storagePolicy: 0) != nil)
        #expect(channels.create("com.a", .production, storagePolicy: 0) == nil)
        let second = try #require(channels.create("com.b", .production, storagePolicy: 0))
        #expect(channels.create("com.c", .production, storagePolicy: 0) == nil && channels.appCount == 2)
        #expect(channels.remove(second, "com.b", .production) && channels.appCount == 1)
        #expect(!channels.remove(second, "com.b", .production) && !channels.remove(first, "com.b", .production))
        #expect(channels.create("com.c", .production, storagePolicy: 0) != nil)
        channels.reset()
        #expect(channels.appCount == 0)
        for app in ["com.d", "com.e", "com.f"] {
            #expect(channels.create(app, .production, storagePolicy: 0) != nil)
        }
    }

    @Test("For an offline device the latest push of each app is kept, and given when it comes back")
    func offline() {
        let desk = desk { $0.onlineByAttachment = true }
        for (name, topic) in [("a", "com.one"), ("b", "com.one"), ("c", "com.two"), ("d", "com.one")] {
            #expect(desk.deliver(push(name, topic: topic), now: 1, unixTime: 100) == nil)
        }
        #expect(shown() == [] && desk.counts.waiting == 2 && desk.counts.replaced == 2 && desk.counts.collapsed == 0)
        desk.attach(TokenKey("AA"), now: 2)
        #expect(shown() == ["c", "d"])
        #expect(desk.counts.delivered == 2 && desk.counts.deliveredLate == 2 && desk.counts.waiting == 0)
        _ = desk.deliver(push("e"), now: 3, unixTime: 100)
        #expect(shown() == ["e"])
        desk.detach(TokenKey("aa"))
        _ = desk.deliver(push("f", collapseID: "x"), now: 4, unixTime: 100)
        _ = desk.deliver(push("g", collapseID: "x"), now: 5, unixTime: 100)
        #expect(shown() == [] && desk.counts.collapsed == 1)
    }

    @Test("apns-expiration 0 is not stored, a time that has come drops the push, 30 days end every storage")
    func expiration() {
        let desk = desk { $0.onlineByAttachment = true }
        _ = desk.deliver(push("now", expiration: 0), now: 0, unixTime: 100)
        #expect(desk.counts.notStored == 1 && desk.counts.waiting == 0)
        _ = desk.deliver(push("soon", expiration: 110), now: 0, unixTime: 100)
        #expect(desk.counts.waiting == 1)
        #expect(desk.advance(now: 9 * Self.second, unixTime: 109) == 10 * Self.second)
        #expect(desk.counts.waiting == 1)
        _ = desk.advance(now: 10 * Self.second, unixTime: 110)
        #expect(desk.counts.waiting == 0 && desk.counts.expired == 1)
        _ = desk.deliver(push("late", expiration: 50), now: 0, unixTime: 100)
        #expect(desk.counts.expired == 2)
        _ = desk.deliver(push("long", expiration: 100_000_000_000), now: 0, unixTime: 100)
        #expect(desk.advance(now: 1, unixTime: 100) == UInt64(30 * 86_400) * Self.second)
        desk.attach(TokenKey("aa"), now: 2)
        #expect(shown() == ["long"])
    }

    @Test("Priority 5 and 1 wait for their interval and come together; 10 does not")
    func priorities() {
        let desk = desk {
            $0.priority5Interval = Self.second
            $0.priority1Interval = 10 * Self.second
        }
        for (name, priority) in [("a", 10), ("b", 5), ("c", 1), ("d", 5)] {
            _ = desk.deliver(push(name, priority: priority), now: Self.second / 2, unixTime: 0)
        }
        #expect(shown() == ["a"])
        #expect(desk.advance(now: Self.second, unixTime: 1) == 10 * Self.second)
        #expect(Set(shown()) == ["b", "d"])
        _ = desk.advance(now: 10 * Self.second, unixTime: 10)
        #expect(shown() == ["c"] && desk.counts.grouped == 3 && desk.counts.delivered == 4)
    }

    @Test("Background pushes beyond the hour's number are held back until the hour is over")
    func throttling() {
        let desk = desk { $0.backgroundPerHour = 2 }
        for name in ["a", "b", "c", "d"] {
            _ = desk.deliver(push(name, type: .background, priority: 5), now: Self.second, unixTime: 0)
        }
        #expect(shown() == ["a", "b"] && desk.counts.throttled == 2 && desk.counts.waiting == 1)
        _ = desk.deliver(push("other", device: "bb", type: .background), now: Self.second, unixTime: 0)
        #expect(shown() == ["other"])
        _ = desk.advance(now: 3601 * Self.second, unixTime: 3600)
        #expect(shown() == ["d"])
    }

    @Test("A device token gets so many pushes a period, more are too many; a full store refuses")
    func limits() {
        let desk = desk {
            $0.perDeviceLimit = 2
            $0.perDevicePeriod = Self.second
            $0.storeCapacity = 1
            $0.onlineByAttachment = true
        }
        let key = TokenKey("aa")
        #expect(desk.admit(key, now: 0) == nil && desk.admit(key, now: 1) == nil)
        #expect(desk.admit(key, now: 2) == .tooManyRequests && desk.admit(TokenKey("bb"), now: 2) == nil)
        #expect(desk.admit(key, now: Self.second) == nil)
        #expect(desk.deliver(push("a"), now: 0, unixTime: 0) == nil)
        #expect(desk.deliver(push("b", device: "bb"), now: 0, unixTime: 0) == .internalServerError)
        #expect(desk.deliver(push("c"), now: 0, unixTime: 0) == nil)
    }

    @Test(
        "Pushes that replace each other, or come and are taken, leave nothing planned behind; who is held back counts as stored"
    )
    func plan() {
        let desk = desk { $0.onlineByAttachment = true }
        for number in 0..<10_000 {
            #expect(desk.deliver(push("\(number)", expiration: 9_000_000_000), now: 1000, unixTime: 100) == nil)
        }
        #expect(desk.planned <= 70 && desk.counts.waiting == 1 && desk.counts.replaced == 9_999)
        // The one that waits still expires at its time.
        _ = desk.advance(
            now: 1000 + UInt64(DeliverySettings.longestStorage + 1) * 1_000_000_000, unixTime: 9_000_000_000)
        #expect(desk.counts.expired == 1 && desk.counts.waiting == 0 && desk.planned == 0)
        let grouping = self.desk {
            $0.storeCapacity = 3
            $0.priority5Interval = 10_000
        }
        let held = (0..<4).map { grouping.deliver(push("\($0)", priority: 5), now: 1000, unixTime: 100) }
        #expect(held == [nil, nil, nil, .internalServerError] && grouping.counts.grouped == 3)
    }

    @Test(
        "A push that was held back for its priority keeps its place where its device has gone, however full the store is"
    )
    func keptPlace() {
        var settings = DeliverySettings()
        (settings.priority5Interval, settings.onlineByAttachment) = (10_000, true)
        let (room, key) = (SharedRoom(1), TokenKey("aa"))
        let desk = DeliveryDesk(settings, directory: directory, hub: hub, room: room, startedAt: 0)
        desk.attach(key, now: 0)
        #expect(desk.deliver(push("a", priority: 5), now: 1, unixTime: 0) == nil)
        desk.detach(key)
        // As if another namespace took the place as soon as it is left.
        room.give(-1)
        _ = desk.advance(now: 20_000, unixTime: 0)
        #expect(desk.counts.stored == 1 && desk.counts.waiting == 1)
        desk.attach(key, now: 20_000)
        room.give(1)
        #expect(shown() == ["a"] && room.take() && !room.take())
    }

    @Test("Devices drawn offline are the share asked for, the same for the same seed, and come back in time")
    func offlineShare() {
        let settings: (inout DeliverySettings) -> Void = {
            $0.offlineShare = 0.3
            $0.offlineWithin = 10 * Self.second
            $0.seed = 5
        }
        let (first, second) = (desk(settings), desk(settings))
        for index in 0..<10_000 {
            _ = first.deliver(push("\(index)", device: "\(index)"), now: 1, unixTime: 0)
            _ = second.deliver(push("\(index)", device: "\(index)"), now: 1, unixTime: 0)
        }
        #expect((2800...3200).contains(first.counts.waiting) && first.counts == second.counts)
        _ = first.advance(now: 5 * Self.second, unixTime: 5)
        #expect((1300...1700).contains(first.counts.waiting))
        _ = first.advance(now: 10 * Self.second, unixTime: 10)
        #expect(first.counts.waiting == 0 && first.counts.delivered == 10_000)
    }

    @Test("Tokens that become invalid are the share asked for, each at its time, and stay so")
    func decay() {
        let directory = DeviceDirectory(
            .everybody, decay: .init(share: 0.2, within: 10 * Self.second), startedAt: 0, startTime: 1_000_000)
        func invalid(at time: UInt64) -> [String: Int64] {
            var found: [String: Int64] = [:]
            for index in 0..<5000 {
                let token = "device\(index)"
                let answer = Array(token.utf8).withUnsafeBytes {
                    directory.check(
                        $0, topic: UnsafeRawBufferPointer(start: nil, count: 0), environment: .production, now: time)
                }
                if answer.reason == .unregistered { found[token] = answer.timestamp }
            }
            return found
        }
        let (early, half, late) = (invalid(at: 0), invalid(at: 5 * Self.second), invalid(at: 60 * Self.second))
        #expect(early.count < 5 && (400...600).contains(half.count) && (900...1100).contains(late.count))
        for (token, time) in half { #expect(late[token] == time && time >= 1_000_000 && time <= 1_005_000) }
    }

    @Test("A device file has a header line or none, its columns in any order, and empty lines at its end")
    func deviceFiles() throws {
        let (first, second) = (String(repeating: "ab", count: 32), String(repeating: "0F", count: 32))
        for text in [
            "\(first)\n\(second)", "\(first),state;tag0\n\(second)\n\r\n\n",
            "\u{FEFF}token\r\n\(first)\r\n\(second)\r\n",
        ] {
            let register = try DeviceRegister(parsing: Data(text.utf8), file: "f")
            #expect(register.count == 2 && register.record(TokenKey(second.lowercased())) == DeviceRecord(), "\(text)")
        }
        let text =
            "state,tags,since,token,topic,environment\nexpired,a;b,7,\(first),com.example,development\n,,,\(second)\n"
        let register = try DeviceRegister(parsing: Data(text.utf8), file: "f")
        let expected = DeviceRecord(state: .expired, since: 7000, topic: "com.example", environment: .development)
        #expect(register.record(TokenKey(first)) == expected && register.record(TokenKey(second)) == DeviceRecord())
    }

    @Test(
        "A device file says what is wrong where",
        arguments: [
            (
                "token,state\n\(String(repeating: "a", count: 64)),lost\n",
                "f:2: state \"lost\"; expected registered, unregistered, expired, disabled or offline"
            ),
            (
                "xyz\n",
                "f:1: the device token \"xyz\" has 3 digits; expected an even number from 64 to 400 (--token-digits)"
            ),
            (
                String(repeating: "a", count: 63) + "\u{1B}\n",
                "f:1: the device token \"\(String(repeating: "a", count: 63))\\u{1B}\" has other characters than hexadecimal digits"
            ),
            ("token\n", "f: no device token in it; expected one a line"),
            ("\n\n", "f: no device token in it; expected one a line"),
            (
                "token,stat\n\(String(repeating: "a", count: 64)),lost\n",
                "f:1: unknown column \"stat\"; did you mean \"state\"?"
            ),
            (
                "Token\n\(String(repeating: "a", count: 64))\n",
                "f:1: unknown column \"Token\"; did you mean \"token\"?"
            ),
            (
                "token,colour\n",
                "f:1: unknown column \"colour\"; expected one of token, tags, topic, environment, state, since"
            ),
            ("token,state,state\n", "f:1: column \"state\" is named twice"),
            (
                "token,topic\n\(String(repeating: "a", count: 64)),my app\n",
                "f:2: topic \"my app\": expected a bundle id, as in com.example.app"
            ),
            ("state,tags\n", "f:1: no column \"token\"; this line names state, tags"),
            (
                "\(String(repeating: "a", count: 64)),sports,unregistered\n",
                "f:1: 3 fields; without a header line there are token,tags"
            ),
            (
                "state,token\nexpired\n", "f:2: no device token on this line; expected hexadecimal digits"
            ),
            (
                "\(String(repeating: "a", count: 64))\n\n\(String(repeating: "b", count: 64))\n",
                "f:2: no device token on this line; expected hexadecimal digits"
            ),
            (
                "token,state\n\(String(repeating: "a", count: 64)),offline\n\(String(repeating: "A", count: 64)),\n",
                "f:3: this device was listed before, with another topic, environment, state or since"
            ),
            (
                "token,environment\n\(String(repeating: "a", count: 64)),test\n",
                "f:2: \"test\" is not an environment; expected production or development"
            ),
        ])
    func badFiles(_ text: String, _ message: String) {
        #expect(throws: SettingsError(message)) { try DeviceRegister(parsing: Data(text.utf8), file: "f") }
    }
}
