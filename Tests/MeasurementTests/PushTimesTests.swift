import Foundation
import Testing

@testable import Measurement

@Suite struct PushTimesTests {
    @Test("One push of each interval is a sample, and none is preferred", arguments: [UInt64(2), 16, 100, 128])
    func samples(_ interval: UInt64) throws {
        let times = try #require(PushTimes(interval: interval))
        #expect(times.interval >= interval && times.interval.nonzeroBitCount == 1)
        var byRemainder: [UInt64: Int] = [:]
        for block in 0..<UInt64(4000) {
            let chosen = (block * times.interval..<(block + 1) * times.interval).filter { times.sample($0) >= 0 }
            try #require(chosen.count == 1 && times.sample(chosen[0]) == Int(block))
            byRemainder[chosen[0] % times.interval, default: 0] += 1
        }
        let expected = 4000 / Double(times.interval)
        for remainder in 0..<times.interval {
            let count = Double(byRemainder[remainder] ?? 0)
            #expect(abs(count - expected) < 6 * expected.squareRoot() + 1, "remainder \(remainder): \(count)")
        }
        #expect(times.sample(UInt64(PushTimes.most) * times.interval) == -1)
    }

    @Test("Both ends' times make the parts of the round trip; what does not belong together is counted")
    func join() throws {
        let client = try #require(PushTimes(interval: 16))
        let mock = try #require(PushTimes(interval: 16))
        for sample in 0..<100 {
            let sent = UInt64(1_000_000 + sample * 1000)
            client.note(.departure, sample: sample, at: sent)
            client.note(.arrival, sample: sample, at: sent + 800_000)
            mock.note(.arrival, sample: sample, at: sent + 100_000)
            mock.note(.departure, sample: sample, at: sent + 400_000)
        }
        // Received before it was sent: the mock saw another attempt.
        mock.note(.arrival, sample: 7, at: 5)
        // Never answered at the client; nothing to measure.
        client.note(.arrival, sample: 8, at: 0)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("times-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PushTimesFile.write(mock, run: 77, of: .mock, to: path)
        let joined = try PushTimesFile.join(path, run: 77, client: client)
        #expect(joined.unmatched == 1)
        for (histogram, mean) in [(joined.toMock, 100_000.0), (joined.inMock, 300_000), (joined.fromMock, 400_000)] {
            #expect(histogram.count == 98 && histogram.summary.mean == mean)
        }
        #expect { try PushTimesFile.join(path, run: 78, client: client) } throws: {
            "\($0)" == "\(path): push times of another run"
        }
        let contents = try PushTimesFile.read(path, run: 77, of: .mock)
        #expect(contents.interval == 16 && contents.samples.map(\.number) == Array(0..<100))
        #expect(contents.samples[9].arrival == 1_109_000 && contents.samples[9].departure == 1_409_000)
        // A machine's wall clock counts from 1970, its monotonic one from its start.
        #expect(contents.wallClock > 0 && contents.wallClock < 5_000_000_000_000_000_000)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for (length, problem) in [
            (20, "the file of push times is truncated"), (100, "the file of push times is truncated"),
            (bytes.count - 1, "the file of push times is truncated"),
        ] {
            try bytes.prefix(length).write(to: URL(fileURLWithPath: path))
            #expect { try PushTimesFile.join(path, run: 77, client: client) } throws: {
                "\($0)" == "\(path): \(problem)"
            }
        }
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 4
            try damaged.write(to: URL(fileURLWithPath: path))
            #expect(throws: PushTimesFile.Failure.self, "byte \(place)") {
                try PushTimesFile.read(path, run: 77, of: .mock)
            }
        }
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path))
        #expect { try PushTimesFile.join(path, run: 77, client: client) } throws: {
            "\($0)" == "\(path): not a file of push times"
        }
    }

    @Test("A file says whose it is, and one of a mock to which no push came fits every run")
    func sides() throws {
        let times = try #require(PushTimes(interval: 16))
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("times-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try PushTimesFile.write(times, run: 77, to: path)
        #expect(try PushTimesFile.read(path, run: 77).samples.isEmpty)
        #expect { try PushTimesFile.read(path, run: 77, of: .mock) } throws: {
            "\($0)" == "\(path): push times of a worker; expected a mock's (mock-apns serve --times-out)"
        }
        try PushTimesFile.writeNone(interval: 16, to: path)
        let none = try PushTimesFile.read(path, run: 77, of: .mock)
        #expect(none.run == 0 && none.interval == 16 && none.samples.isEmpty)
        #expect { try PushTimesFile.read(path, run: 77) } throws: {
            "\($0)" == "\(path): push times of a mock; expected the worker's own"
        }
        #expect { try PushTimesFile.join(path, run: 77, client: times) } throws: {
            "\($0)" == "\(path): push times of another run"
        }
    }
}
