import Foundation
import Measurement
import Testing

@testable import Harness

/// The mock's device log beside the times at which pushes were due.
@Suite struct DeviceOutcomesTests {
    private let names = ["banner", "stored", "fetched", "fetch_failed", "suppressed"]
    private let path = FileManager.default.temporaryDirectory.path + "/device-log-\(UInt64.random(in: 0 ... .max))"

    /// A log as docs of `DeviceLog` describe it, written by hand.
    private func write(_ records: [(sequence: UInt64, run: UInt64, code: UInt64, time: UInt64)], isWhole: Bool = true)
        throws
    {
        var bytes = Array("PUSHDEVS".utf8)
        func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        let list = Array(names.joined(separator: ",").utf8)
        add(UInt64(list.count))
        bytes += list
        for (place, run) in [(UInt64(0), UInt64(7)), (1, 8)] {
            add(place << 16 | 255)
            add(run)
        }
        for record in records {
            add(record.sequence << 16 | record.run << 8 | record.code)
            add(record.time)
        }
        if isWhole {
            add(254)
            add(0)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func read(accepted: UInt64, due: [UInt64: UInt64]) throws -> (DeviceOutcomes, String?) {
        let times = try #require(IntendedTimes(capacity: 100))
        for (sequence, time) in due { times.note(sequence, due: time) }
        var outcomes = DeviceOutcomes(unknown: accepted)
        // Even ones are alerts, odd ones silent.
        let problem = outcomes.read(path, run: 7, accepted: accepted, due: times, end: 9000) { $0 % 2 == 0 }
        try? FileManager.default.removeItem(atPath: path)
        return (outcomes, problem)
    }

    @Test("Each accepted push has one outcome, with its times from when it was due; others, and other runs', have none")
    func join() throws {
        try write([
            (0, 0, 0, 1500), (1, 0, 2, 2200), (1, 0, 200, 2200), (2, 0, 1, 0), (3, 0, 3, 4000), (3, 0, 201, 4000),
            (4, 0, 4, 4100), (5, 0, 1, 0), (6, 0, 3, 5000), (6, 0, 201, 0),
            // Of another run, of one that the client has no acceptance of, and of one that was taken twice.
            (0, 1, 4, 9), (50, 0, 0, 77), (0, 0, 4, 8000), (1, 0, 201, 8500),
        ])
        let due: [UInt64: UInt64] = [0: 1000, 1: 2000, 2: 3000, 3: 3500, 4: 4000, 5: 4500, 6: 4600, 7: 4700]
        let (outcomes, problem) = try read(accepted: 8, due: due)
        #expect(problem == nil)
        #expect(
            outcomes.counts == [
                "banner": 1, "fetched": 1, "stored": 2, "fetch_failed": 2, "suppressed": 1, "unknown": 1,
            ])
        #expect(outcomes.beyondAccepted == 1)
        #expect(outcomes.screen.answered.count == 1 && outcomes.screen.answered.summary.max == 500)
        // Stored or failed alerts were to be seen, silent ones were not: 9000 - 3000 and 5000 - 4600.
        #expect(outcomes.screen.unanswered.count == 2)
        #expect(outcomes.screen.unanswered.summary.min == 400)
        #expect(outcomes.content.answered.count == 1 && outcomes.content.answered.summary.max == 200)
        #expect(outcomes.content.unanswered.count == 2)
    }

    @Test("Of a log that is cut short what is there counts, the rest is unknown, and it is said")
    func cut() throws {
        try write([(0, 0, 0, 1500)], isWhole: false)
        let (outcomes, problem) = try read(accepted: 3, due: [0: 1000, 1: 1000, 2: 1000])
        #expect(outcomes.counts == ["banner": 1, "unknown": 2])
        #expect(problem?.hasSuffix("the device log is truncated") == true, "\(problem ?? "")")
        let (none, missing) = try read(accepted: 3, due: [:])
        #expect(none.counts == ["unknown": 3] && missing?.contains("No such file") == true)
    }
}

/// Requests of devices over the run's time.
@Suite struct EchoCurveTests {
    private func series(_ requests: [UInt64], start: UInt64, interval: UInt64 = 100) -> EchoReport.Series {
        .init(start: start, interval: interval, requests: requests, answered: requests)
    }

    @Test(
        "The peak is the fullest second wherever it begins, in seconds after the run's start; no request is in no second"
    )
    func peak() {
        // From 2.3 s on: 5 a tenth, of which 0.7 s later 40 a tenth for 1.2 s.
        let requests = [UInt64](repeating: 5, count: 7) + [UInt64](repeating: 40, count: 12) + [3]
        let curve = EchoCurve(series(requests, start: 12_300_000_000), start: 10_000_000_000)
        #expect(curve.peak.count == 400 && abs(curve.peak.after - 3.0) < 1e-9)
        #expect(curve.points.map { ($0.time * 10).rounded() } == [23, 33, 43])
        #expect(curve.points.map(\.requests) == [0, 155, 363])
        #expect(curve.points.reduce(0) { $0 + $1.answered } == requests.reduce(0, +))
    }

    @Test("Random series, with a printed seed: against the fullest of all seconds counted one by one")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func below(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        for _ in 0..<200 {
            let requests = (0..<below(60)).map { _ in below(4) == 0 ? below(1000) : 0 }
            let start = 5_000_000_000 + below(30) * 100_000_000
            let curve = EchoCurve(series(requests, start: start), start: 5_000_000_000)
            var most: UInt64 = 0
            for first in requests.indices {
                most = max(most, requests[first..<min(first + 10, requests.count)].reduce(0, +))
            }
            #expect(curve.peak.count == most, "seed \(seed)")
            #expect(curve.points.reduce(0) { $0 + $1.requests } == requests.reduce(0, +), "seed \(seed)")
        }
        #expect(EchoCurve(series([], start: 0), start: 5).peak.count == 0)
        #expect(EchoCurve(series([3], start: 0, interval: .max), start: .max).points.count == 1)
    }

    @Test("Intervals longer than a second are a mean over each")
    func coarse() {
        let curve = EchoCurve(series([1000, 6400, 10], start: 0, interval: 3200), start: 1)
        #expect(curve.peak.count == 2000)
    }
}
