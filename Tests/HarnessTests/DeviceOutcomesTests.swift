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
        let problem = outcomes.read(
            path, run: 7, accepted: accepted, due: times, end: 9000, shows: { $0 % 2 == 0 }, hasContent: { $0 % 2 == 1 }
        )
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
        // With one whose outcome nobody knows; the longest is 9000 - 4600.
        #expect(
            outcomes.content.unanswered.count == 3 && (4400...4420).contains(outcomes.content.unanswered.summary.max))
        #expect(outcomes.contentKnown == 0)
    }

    @Test("Pushes of a warm-up have an outcome, and are in no latency")
    func warmup() throws {
        try write([(0, 0, 0, 1500), (1, 0, 2, 2200), (1, 0, 200, 2200), (2, 0, 0, 2500)])
        let times = try #require(IntendedTimes(capacity: 10))
        times.note(0, due: 1000, isMeasured: false)
        times.note(1, due: 1000, isMeasured: false)
        times.note(2, due: 2000)
        var outcomes = DeviceOutcomes()
        let problem = outcomes.read(
            path, run: 7, accepted: 3, due: times, end: 9000, shows: { _ in true }, hasContent: { _ in true })
        #expect(problem == nil && outcomes.counts == ["banner": 2, "fetched": 1])
        #expect(outcomes.screen.count == 1 && outcomes.content.count == 0)
    }

    @Test("Both ends agree as long as what the backend counted more may be what was cancelled or asked again")
    func agreement() throws {
        func disagreement(_ counts: [String: UInt64], givenUp: UInt64 = 0, underWay: UInt64 = 0) throws -> String? {
            let all = 10 + givenUp + underWay
            let kind =
                "{\"requests\":\(all),\"answered\":10,\"failed\":0,\"given_up\":\(givenUp),\"not_begun\":0,\"under_way\":\(underWay)}"
            let json = """
                {"requests":\(all),"answered":10,"failed":0,"given_up":\(givenUp),"not_begun":0,"under_way":\(underWay),"retries":0,
                "bytes":0,"connections_opened":0,"by_kind":{"fetch":\(kind)},"statuses":{},"failures":{},"histograms":{},
                "series":{"start_ns":0,"interval_ms":100,"requests":[],"answered":[]}}
                """
            var account = DeviceAccount(nil, accepted: 0, backend: "", waited: 0)
            account.echo = try JSONDecoder().decode(EchoReport.self, from: Data(json.utf8))
            account.backendCounts = counts
            return account.disagreement
        }
        #expect(try disagreement(["content": 7, "no_content": 3]) == nil)
        #expect(try disagreement(["content": 12], givenUp: 1, underWay: 1) == nil)
        #expect(
            try disagreement(["content": 9])
                == "devices and backend do not agree: fetch 10 answered, 9 counted by the backend")
        #expect(try disagreement(["content": 13], givenUp: 1, underWay: 1) != nil)
    }

    @Test("Of a log that is cut short what is there counts, the rest is unknown, and it is said")
    func cut() throws {
        try write([(0, 0, 0, 1500)], isWhole: false)
        let (outcomes, problem) = try read(accepted: 3, due: [0: 1000, 1: 1000, 2: 1000])
        #expect(outcomes.counts == ["banner": 1, "unknown": 2])
        #expect(outcomes.screen.count == 2 && (8000...8040).contains(outcomes.screen.unanswered.summary.max))
        #expect(outcomes.content.unanswered.count == 1)
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
        // 200 each 400 ms: three of them are more than a second.
        let steady = EchoCurve(series([UInt64](repeating: 200, count: 30), start: 0, interval: 400), start: 1)
        #expect(steady.peak.count == 500 && steady.points.allSatisfy { $0.requests == 600 })
        #expect(steady.points.map { ($0.time * 10).rounded() }.prefix(3) == [12, 24, 36])
        let slow = EchoCurve(series([UInt64](repeating: 400, count: 10), start: 0, interval: 800), start: 1)
        #expect(slow.peak.count == 500)
    }
}
