import Devices
import Foundation
import Payloads
import Synchronization
import Testing

@testable import MockAPNs

/// Devices whose pushes come in on several threads.
@Suite struct DeviceFleetsTests {
    private static let second: UInt64 = 1_000_000_000

    /// All are phones, online, and shown what they get.
    private static let plain = """
        platforms: {phone: 100%}
        online: {share: 100%}
        unlocked: {share: 0%}
        authorization: {never_asked: 0%, alert: 100%, sound: 100%, badge: 100%, changed: {share: 0%}}
        reaction: {opens: 0%, dismisses: 0%}

        """

    private func fleets(_ model: String = plain) throws -> DeviceFleets {
        let model = try DeviceModelFile.parse(model, file: "model")
        return DeviceFleets(model, seed: 1, count: 3, startedAt: 0, startTime: 1_700_000_000_000)
    }

    private func request(_ token: String, _ body: String, type: PushType = .alert, collapseID: String? = nil)
        -> RequestState
    {
        let state = RequestState()
        for (header, value) in [(.path, "/3/device/" + token), (.collapseID, collapseID)] as [(KnownHeader, String?)] {
            guard let value else { continue }
            Array(value.utf8).withUnsafeBufferPointer { state.set(header, $0.baseAddress!, $0.count) }
        }
        state.pushType = type
        Array(body.utf8).withUnsafeBufferPointer {
            _ = state.append($0.baseAddress!, $0.count)
            state.keepBorrowed()
        }
        return state
    }

    private final class Turn: Sendable {
        let number = Mutex(0)
    }

    private func token(_ number: Int) -> String { SyntheticDevices(seed: 1, count: .max).token(UInt64(number)) }

    @Test("Each device has all its pushes in their order, whichever threads they come in on, and they add up")
    func threads() throws {
        let fleets = try fleets()
        let (devices, pushes, threads) = (40, 60, 4)
        // Whoever sends a device's next push has had the answer to the last.
        let turns = (0..<devices).map { _ in Turn() }
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for _ in 0..<pushes {
                for device in 0..<devices {
                    turns[device].number.withLock { turn in
                        let push = request(token(device), "{\"aps\":{\"alert\":\"\(turn)\"}}")
                        turn += 1
                        fleets.receive(push, sequence: UInt64(turn), isOffline: false, now: 5, by: thread % 3)
                    }
                }
                _ = fleets.advance(thread % 3, now: 6)
            }
        }
        let all = pushes * threads
        for device in 0..<devices {
            let shown = fleets.use(token(device), now: 7) { $0.screen(of: $1, at: $3).notifications.map(\.body) }
            #expect(shown == (0..<all).suffix(100).reversed().map(String.init), "device \(device)")
        }
        let figures = fleets.figures(now: 8)
        #expect(figures.received == UInt64(devices * all) && figures.touched == devices)
        #expect(figures.outcomes.values.reduce(0, +) == figures.received)
        #expect(figures.outcomes["lock_screen"] == figures.received)
        #expect(figures.events["crowded_out"] == UInt64(devices * (all - 100)))
    }

    @Test("Without a backend every request of a device fails at once, counted by its kind")
    func requests() throws {
        let fleets = try fleets(
            """
            platforms: {phone: 100%}
            online: {share: 100%}
            unlocked: {share: 100%}
            hours: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
            foreground: {share: 0%}
            authorization: {never_asked: 0%, alert: 100%, changed: {share: 0%}}
            silent: {per_hour: unlimited}
            service_extension: {time: {median: 1s, sigma: 0}, crashes: 0%}
            reaction: {opens: 100%, dismisses: 0%, delay: {median: 1s, sigma: 0}}
            """)
        let silent = "{\"aps\":{\"content-available\":1}}"
        let rich = "{\"aps\":{\"content-available\":1},\"richId\":\"7\",\"richType\":\"img\",\"richMessage\":\"m\"}"
        let attached = "{\"aps\":{\"alert\":\"a\",\"mutable-content\":1},\"attachment-url\":\"https://x/y\"}"
        for device in 0..<9 {
            fleets.receive(
                request(token(device), silent, type: .background), sequence: nil, isOffline: false, now: 1, by: 0)
            fleets.receive(
                request(token(device), rich, type: .background), sequence: nil, isOffline: false, now: 1, by: 0)
            fleets.receive(request(token(device), attached), sequence: nil, isOffline: false, now: 1, by: 0)
        }
        let before = fleets.figures(now: 2)
        #expect(before.outcomes["fetch_failed"] == 18 && before.outcomes["extending"] == 9 && before.settling == 9)
        #expect(before.requestsFailed == ["fetch": 9, "rich": 9, "attachment": 9, "action": 0])
        for worker in 0..<3 { #expect(fleets.advance(worker, now: 3) == Self.second + 1) }
        let after = fleets.figures(now: 5 * Self.second)
        #expect(after.received == 27 && after.outcomes.values.reduce(0, +) == 27)
        #expect(after.events["opened"] == 9 && after.events["callback_failed"] == 9)
        #expect(after.requestsFailed?["action"] == 9 && after.events["extension_in_time"] == 9)
    }

    @Test("A device that somebody says is offline keeps its pushes at APNs until it is said to be online; then, anew")
    func offline() throws {
        let fleets = try fleets()
        fleets.receive(request(token(1), "{\"aps\":{\"alert\":\"a\"}}"), sequence: 1, isOffline: true, now: 1, by: 0)
        #expect(fleets.figures(now: 2).outcomes["stored"] == 1)
        fleets.use(token(1), now: 3) { $0.set(.online(true), on: $1, number: $2, at: $3) }
        #expect(fleets.figures(now: 4).outcomes["lock_screen"] == 1)
        fleets.reset(now: 5)
        let figures = fleets.figures(now: 6)
        #expect(figures.received == 0 && figures.touched == 0 && figures.outcomes.values.allSatisfy { $0 == 0 })
    }
}
