import Devices
import Foundation
import Measurement
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
                        fleets.receive(
                            push, .init(run: 7, place: 0, sequence: UInt64(turn)), isOffline: false, now: 5,
                            by: thread % 3)
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
                request(token(device), silent, type: .background), nil, isOffline: false, now: 1, by: 0)
            fleets.receive(
                request(token(device), rich, type: .background), nil, isOffline: false, now: 1, by: 0)
            fleets.receive(request(token(device), attached), nil, isOffline: false, now: 1, by: 0)
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
        fleets.receive(request(token(1), "{\"aps\":{\"alert\":\"a\"}}"), nil, isOffline: true, now: 1, by: 0)
        #expect(fleets.figures(now: 2).outcomes["stored"] == 1)
        fleets.use(token(1), now: 3) { $0.set(.online(true), on: $1, number: $2, at: $3) }
        #expect(fleets.figures(now: 4).outcomes["lock_screen"] == 1)
        fleets.reset(now: 5)
        let figures = fleets.figures(now: 6)
        #expect(figures.received == 0 && figures.touched == 0 && figures.outcomes.values.allSatisfy { $0 == 0 })
    }

    // MARK: The device log

    private func said(_ path: String, run: UInt64) throws -> [UInt64: [String]] {
        var (said, names): ([UInt64: [String]], [String]) = ([:], [])
        try DeviceLogFile.read(path, run: run) {
            names = $0
        } _: { sequence, event, time in
            let what: String =
                switch event {
                case .outcome(let code): names[code]
                case .content: "content"
                case .noContent: "no content"
                }
            said[sequence, default: []].append("\(what) \(time)")
        }
        // Of different devices they are in no order.
        return said.mapValues { $0.sorted() }
    }

    @Test(
        "The log tells the pushes of each run apart, with the times of what was stored first, and begins anew with the devices"
    )
    func log() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let fleets = DeviceFleets(
            try DeviceModelFile.parse(Self.plain, file: "model"), seed: 1, count: 3, startedAt: 1000,
            startTime: 1_700_000_000_000,
            log: DeviceLogWriter(path, names: DeviceOutcome.allCases.map(\.name)))
        func push(_ device: Int, _ push: TracedPush?, isOffline: Bool = false, now: UInt64, _ type: PushType = .alert) {
            let body =
                type == .alert ? "{\"aps\":{\"alert\":\"a\"}}" : "{\"aps\":{\"content-available\":1}}"
            fleets.receive(request(token(device), body, type: type), push, isOffline: isOffline, now: now, by: 0)
        }
        push(1, .init(run: 6, place: 0, sequence: 1), now: 1500)
        fleets.reset(now: 1600)
        func run(of device: Int) -> (UInt64, Int) { device % 2 == 0 ? (77, 0) : (88, 63) }
        for device in 0..<6 {
            let (run, place) = run(of: device)
            push(device, .init(run: run, place: place, sequence: 5), isOffline: device == 2, now: 2000 + UInt64(device))
        }
        for device in 0..<3 {
            let (run, place) = run(of: device)
            push(device, .init(run: run, place: place, sequence: 9), now: 3000, .background)
        }
        push(9, nil, now: 4000)
        push(9, .init(run: 77, place: 0, sequence: DeviceLog.highestSequence + 1), now: 4000)
        push(8, .init(run: 77, place: 0, sequence: DeviceLog.highestSequence), isOffline: true, now: 4000)
        fleets.use(token(2), now: 5000) { $0.set(.online(true), on: $1, number: $2, at: $3) }
        let figures = fleets.figures(now: 6000)
        try fleets.endLog()
        // The first has been replaced in the store by the second, which failed when its device came back.
        let first = try said(path, run: 77)
        #expect(
            first
                == [
                    5: ["lock_screen 2000", "replaced 3000", "lock_screen 2004"],
                    9: ["fetch_failed 3000", "no content 3000", "fetch_failed 5000", "no content 5000"],
                    DeviceLog.highestSequence: ["stored 0"],
                ].mapValues { $0.sorted() }, "\(first)")
        let second = try said(path, run: 88)
        #expect(
            second == [
                5: ["lock_screen 2001", "lock_screen 2003", "lock_screen 2005"],
                9: ["fetch_failed 3000", "no content 3000"],
            ], "\(second)")
        #expect(throws: DeviceLog.Failure.self) { try said(path, run: 6) }
        #expect(figures.received == 12)
        #expect(try DeviceLogFile.read(path, run: 88, names: { _ in }) { _, _, _ in } == 2)
    }

    @Test("A push's name at its device is its own, whatever its run and number, and the first run's is its number")
    func tickets() {
        var words: Set<UInt64> = []
        for place in [0, 1, 62, 63] {
            for sequence in [0, 1, 2, 1 << 32, DeviceLog.highestSequence] as [UInt64] {
                let ticket = DeviceTicket(TracedPush(run: 3, place: place, sequence: sequence))
                #expect(ticket?.place == place && ticket?.sequence == sequence)
                if place == 0 { #expect(ticket?.word == sequence) }
                if let ticket { #expect(words.insert(ticket.word).inserted) }
            }
        }
        #expect(DeviceTicket(TracedPush(run: 3, place: 0, sequence: DeviceLog.highestSequence + 1)) == nil)
        for number in [1, 2, 1 << 47] as [UInt64] {
            let ticket = DeviceTicket(untagged: number)
            #expect(ticket.place == nil && words.insert(ticket.word).inserted)
        }
    }
}
