import Foundation
import Payloads
import Scenarios
import Testing

@testable import Harness
@testable import Measurement

@Suite struct ReplayTests {
    /// A recording that is removed at the end.
    private final class Scratch {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID())").path

        init(
            _ pushes: [RecordedPush], topics: [String] = ["com.example.a", "com.example.a.voip"], ends: Bool = true,
            limit: UInt64 = 1 << 30
        ) throws {
            let writer = RecordingWriter(
                path, types: ["alert", "background", "voip", "unheard"], reasons: ["BadPath", "MissingTopic"],
                limit: limit)
            try writer.begin()
            for topic in topics { _ = Array(topic.utf8).withUnsafeBytes { writer.topic($0) } }
            let block = RecordingBlock(writer, thread: 0)
            for push in pushes { block.add(push) }
            block.flush()
            if ends { _ = try writer.end() }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func push(
        _ time: UInt64, size: UInt32 = 200, device: UInt64 = 1, connection: UInt32 = 0, type: UInt8 = 0,
        topic: UInt16 = 1
    ) -> RecordedPush {
        var push = RecordedPush()
        (push.time, push.size, push.device, push.connection) = (time, size, device, connection)
        (push.type, push.topic, push.priority, push.givesType, push.givesPriority) = (type, topic, 10, true, true)
        return push
    }

    private static let times: [UInt64] = [5_000_000_007, 5_000_000_007, 5_000_000_010, 5_123_456_789, 6_999_999_999]

    private static func inputs(_ recording: Scratch, _ change: (inout Scenario) -> Void = { _ in }) throws -> RunInputs
    {
        var scenario = Scenario()
        scenario.replay = recording.path
        change(&scenario)
        return try RunInputs(scenario)
    }

    private static func dues(_ inputs: RunInputs) throws -> [UInt64] {
        let schedule = try #require(inputs.schedule)
        var cursor = schedule.cursor()
        return (0..<schedule.count).map { cursor.due($0) }
    }

    @Test("Pushes are due when they were recorded, to the nanosecond, and at a speed in the time divided by it")
    func dues() throws {
        let recording = try Scratch(Self.times.map { Self.push($0) })
        #expect(try Self.dues(Self.inputs(recording)) == Self.times.map { $0 - Self.times[0] })
        for speed in [0.01, 0.5, 2, 3, 1000] {
            let found = try Self.dues(Self.inputs(recording) { $0.speed = speed })
            #expect(found == Self.times.map { UInt64((Double($0 - Self.times[0]) / speed).rounded()) }, "\(speed)")
        }
        #expect(try Self.dues(Self.inputs(recording) { $0.pushes = 3 }) == [0, 0, 3])
        #expect(try Self.dues(Self.inputs(recording) { $0.duration = 1_000_000_000 }) == [0, 0, 3, 123_456_782])
    }

    @Test("Each push has the size, headers, device and connection of its own, and as many of both as were recorded")
    func pushes() throws {
        var pushes = [
            Self.push(1, size: 300, device: 7, connection: 5),
            Self.push(2, size: 31, device: 8, connection: 9, type: 1),
            Self.push(3, size: 5000, device: 7, connection: 5, type: 2, topic: 2),
            Self.push(4, size: 20_000, device: 9, connection: 6, type: 3, topic: 0),
        ]
        (pushes[1].priority, pushes[1].expiration, pushes[1].collapseID) = (5, .once, 77)
        (pushes[2].givesPriority, pushes[2].collapseID) = (false, 78)
        pushes[3].givesType = false
        let inputs = try Self.inputs(try Scratch(pushes))
        #expect(inputs.scenario.connections == 3 && inputs.scenario.devices == 3)
        let replay = try #require(inputs.replay)
        #expect((0..<4).map { replay.connection($0) } == [0, 1, 0, 2])
        #expect((0..<4).map { replay.device($0) } == [0, 1, 0, 2])
        #expect((0..<4).map { replay.isTraced($0) } == [true, false, true, true] && replay.untraced == 1)
        let sample = PushSample(inputs)
        var seen: [(Int, String, String)] = []
        for number in 0..<UInt64(4) {
            sample.make(number, unixTime: 1_700_000_000) {
                seen.append(($0.payload.count, String(decoding: $0.token, as: UTF8.self), $0.type.rawValue))
            }
        }
        #expect(seen.map(\.0) == [300, 31, 5000, Replay.largestPayload])
        #expect(seen.map(\.2) == ["alert", "background", "voip", "alert"])
        let tokens = seen.map(\.1)
        #expect(tokens[0] == tokens[2] && Set(tokens).count == 3)
        let fields = (0..<UInt64(4)).map { number in
            inputs.headers[replay.kind(number)].fields.map { "\($0.0): \($0.1)" }
        }
        #expect(fields[0] == ["apns-topic: com.example.a", "apns-push-type: alert", "apns-priority: 10"])
        #expect(
            fields[1] == [
                "apns-topic: com.example.a", "apns-push-type: background", "apns-priority: 5", "apns-expiration: 0",
                "apns-collapse-id: replay-1",
            ])
        #expect(
            fields[2] == ["apns-topic: com.example.a.voip", "apns-push-type: voip", "apns-collapse-id: replay-2"])
        #expect(fields[3] == ["apns-priority: 10"])
        for words in ["too small for the trace tag", "without a topic", "that APNs has not", "16,384 B"] {
            #expect(replay.notes.contains { $0.hasPrefix("1 push of the recording") && $0.contains(words) }, "\(words)")
        }
        #expect(replay.notes.count == 4)
    }

    @Test("A topic that is given is all pushes' own, with the suffix of their types")
    func topic() throws {
        let recording = try Scratch([Self.push(1), Self.push(2, type: 2, topic: 2), Self.push(3, topic: 0)])
        let inputs = try Self.inputs(recording) { $0.topic = "org.example.b" }
        #expect(Set(inputs.headers.map(\.topic)) == ["org.example.b", "org.example.b.voip"])
        #expect(inputs.replay?.notes == [])
    }

    @Test("A recording that is not complete, or left pushes out, says so; its figures are those of its pushes")
    func facts() throws {
        let pushes = (0..<UInt64(100)).map { number in
            Self.push(
                number * 50_000_000, size: UInt32(number + 1), device: number % 4 + 1, connection: UInt32(number % 2))
        }
        let inputs = try Self.inputs(try Scratch(pushes, ends: false))
        let facts = try #require(inputs.replayFacts)
        #expect(facts.pushes == 100 && facts.span == 99 * 50_000_000 && facts.peak == 20 && !facts.isComplete)
        #expect(facts.connections == 2 && facts.devices == 4)
        #expect(facts.sizes.p50 == 50 && facts.sizes.p99 == 99 && facts.sizes.max == 100)
        #expect(facts.topics.map(\.name) == ["com.example.a"] && facts.types.map(\.pushes) == [100])
        #expect(
            inputs.replay?.notes.first
                == "the recording is not complete: its mock was killed, or could not write all of it")
        #expect(facts.check.count == 16 && inputs.scenario.replayCheck == facts.check)
    }

    @Test(
        "Pushes that were rejected, had no device token or an unknown priority are said, as are answers and what was left out"
    )
    func rejected() throws {
        var pushes = (0..<UInt64(8)).map { Self.push($0, device: $0 % 2 + 1) }
        for (place, push) in pushes.enumerated() { pushes[place].status = push.time < 3 ? 200 : 400 }
        (pushes[3].status, pushes[3].reason, pushes[3].device) = (404, 0, 0)
        (pushes[4].reason, pushes[5].priority, pushes[2].status) = (1, 0, 0)
        let inputs = try Self.inputs(try Scratch(pushes, limit: 6))
        let facts = try #require(inputs.replayFacts)
        #expect(facts.devices == 2 && facts.tokenless == 1 && facts.leftOut == 2)
        #expect(facts.statuses.map { "\($0.name) \($0.pushes)" } == ["200 2", "400 2", "404 1", "no answer 1"])
        #expect(facts.reasons.map { "\($0.name) \($0.pushes)" } == ["BadPath 1", "MissingTopic 1"])
        #expect(
            inputs.replay?.notes == [
                "the recording leaves out 2 pushes that came after its limit",
                "3 pushes of the recording that had been rejected: what was wrong with a path, a method, a header, a token or a "
                    + "payload is not recorded, and they are sent as good ones",
                "1 push of the recording without a device token: sent to a device of their own",
                "1 push of the recording with a priority that APNs has not: sent without one",
            ])
    }

    private func problem(_ recording: Scratch, place: RunPlace = .alone, _ change: (inout Scenario) -> Void = { _ in })
        -> String?
    {
        var scenario = Scenario()
        scenario.replay = recording.path
        change(&scenario)
        do { _ = try RunInputs(scenario, place: place) } catch {
            return error.description.replacing(recording.path, with: "FILE")
        }
        return nil
    }

    @Test("What cannot be sent as it was recorded is refused in one line")
    func refusals() throws {
        let recording = try Scratch([Self.push(0), Self.push(40_000_000_000_000_000, connection: 1)])
        #expect(problem(recording)?.hasPrefix("replay FILE: takes longer than 30 days at speed 1.0") == true)
        #expect(problem(recording) { $0.speed = 1000 } == nil)
        #expect(problem(recording) { $0.speed = 0 } == "speed 0.0: expected 0.01 to 1000")
        #expect(problem(recording) { $0.speed = .nan } == "speed nan: expected 0.01 to 1000")
        #expect(
            problem(recording) { ($0.threads, $0.connections) = (2, 2) }
                == "threads 2: a recording is sent by one, so that each push goes over its connection; leave it out")
        #expect(problem(recording) { $0.rate = 5 } == "rate: does not go with replay, the recording says it")
        let short = try Scratch([Self.push(0), Self.push(1, connection: 1)])
        #expect(
            problem(short, place: RunPlace(index: 1, workers: 2))
                == "replay FILE: a recording is sent by one process, so that each push goes over its connection; leave the workers out"
        )
        #expect(
            problem(short) { $0.replayCheck = "0123456789abcdef" }?.contains("another recording") == true)
        #expect(try Self.inputs(short) { $0.connections = 5 }.scenario.connections == 5)
        var speed = Scenario()
        (speed.pushes, speed.speed) = (1, 2)
        #expect(speed.validate() == ["speed: goes with replay, the recording that is sent again"])
    }

    @Test("More collapse ids than headers are kept for are sent with fewer, and that is said")
    func collapseIDs() throws {
        let pushes = (0..<UInt64(3000)).map { number -> RecordedPush in
            var push = Self.push(number)
            push.collapseID = number + 1
            return push
        }
        let inputs = try Self.inputs(try Scratch(pushes))
        #expect(inputs.headers.count == Replay.mostCollapseIDs)
        #expect(inputs.replay?.notes == ["3,000 collapse ids in the recording: sent with 1,024 different ones"])
    }
}
