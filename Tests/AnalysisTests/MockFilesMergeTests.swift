import Foundation
import Measurement
import Results
import SampleRuns
import Testing

@testable import Analysis

/// The folder of a run of two workers, and what two mocks wrote.
@Suite final class MockFilesMergeTests {
    private static let run: UInt64 = 0xab
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rendezvous-\(UUID())").path
    /// Which pushes each mock has had.
    private let books = (0..<2).map { _ in LedgerBook(capacity: 1000, timesInterval: 2) }
    private let accepted = (0..<2).map { _ in DeliveryLedger(capacity: 1000)! }
    private let times = (0..<2).map { _ in PushTimes(interval: 2)! }

    init() throws {
        for worker in 0..<2 {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/worker-\(worker)", withIntermediateDirectories: true)
        }
        try write("run.json", #"{"id": "00000000000000ab", "workers": 2, "created": 1.5}"#)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    /// A push of one of the workers, every other one's, that took so long either way and no time in the mock.
    private func push(_ number: UInt64, to mock: Int, isAccepted: Bool = true, ways: UInt64 = 1_000_000) {
        let entry = books[mock].entry(run: Self.run)!
        entry.ledger.mark(number)
        let worker = Int(number % 2)
        if isAccepted { accepted[worker].mark(number) }
        let sample = times[worker].sample(number)
        guard sample >= 0, isAccepted else { return }
        let sent = 1_000_000_000 + number * 5_000_000
        times[worker].note(.departure, sample: sample, at: sent)
        times[worker].note(.arrival, sample: sample, at: sent + 2 * ways)
        entry.times?.note(.arrival, sample: sample, at: sent + ways)
        entry.times?.note(.departure, sample: sample, at: sent + ways)
    }

    /// Writes everything.
    ///
    /// - Parameters:
    ///   - known: pushes that each worker's result has as accepted; nil: as many as were.
    ///   - attempts: of worker 1.
    private func finish(known: [UInt64]? = nil, attempts: Int = 1) throws -> CompletedRun {
        var whole = SampleRun.make("r", 1)
        whole.workers = []
        whole.pushes.accepted = 0
        for worker in 0..<2 {
            var shard = SampleRun.make("r", 1)
            shard.pushes.planned = 100
            shard.pushes.accepted = known?[worker] ?? accepted[worker].delivered
            whole.pushes.accepted += shard.pushes.accepted
            whole.workers?.append(
                .init(
                    index: worker, host: "h", state: .done, attempts: worker == 1 ? attempts : 1, pushes: shard.pushes))
            try ResultFile.write(shard, to: "\(folder)/worker-\(worker)/result.json")
            try AcceptedFile.write(accepted[worker], run: Self.run, to: "\(folder)/worker-\(worker)/accepted.ledger")
            try PushTimesFile.write(times[worker], run: Self.run, to: "\(folder)/worker-\(worker)/times")
        }
        for (mock, book) in books.enumerated() {
            try LedgerFile.write(book, to: "\(folder)/ledger-\(mock)")
            if let times = book.runs.first?.times {
                try PushTimesFile.write(times, run: Self.run, of: .mock, to: "\(folder)/times-\(mock)")
            } else {
                try PushTimesFile.writeNone(interval: 2, to: "\(folder)/times-\(mock)")
            }
        }
        (whole.pushes.lost, whole.pushes.duplicated) = (nil, nil)
        whole.pushes.planned = 200
        try ResultFile.write(whole, to: "\(folder)/result.json")
        return try CompletedRun(folder)
    }

    /// The result with what the mocks wrote.
    private func merged(_ ledgers: [String], _ times: [String] = []) throws -> ResultDocument {
        try MockFilesMerge.complete(
            try CompletedRun(folder), try ResultFile.read(folder + "/result.json"), ledgers: ledgers, times: times)
    }

    private var ledgerFiles: [String] { (0..<2).map { "\(folder)/ledger-\($0)" } }
    private var timesFiles: [String] { (0..<2).map { "\(folder)/times-\($0)" } }

    private func problem(_ ledgers: [String], _ times: [String] = []) throws -> String {
        do {
            _ = try merged(ledgers, times)
        } catch { return "\(error)" }
        return ""
    }

    @Test("Lost and doubled pushes are counted over all mocks and workers")
    func ledgers() throws {
        for number in 0..<200 as Range<UInt64> where number % 50 != 3 { push(number, to: Int(number / 2 % 2)) }
        // At both; twice at one; never at any, though accepted; answered to nobody.
        push(10, to: 0)
        push(10, to: 1)
        push(20, to: 0, isAccepted: false)
        for number in [3, 53] as [UInt64] { accepted[1].mark(number) }
        push(199, to: 1, isAccepted: false)
        _ = try finish()
        let result = try merged(ledgerFiles)
        // 10 had been at mock 1, 20 at mock 0, 199 at mock 1.
        #expect(result.pushes.lost == 2 && result.pushes.duplicated == 4, "\(result.pushes)")
        #expect(result.clocks == nil && result.notes.isEmpty && !RunVerdict(result).isGood)
        // Of one mock alone half is lost.
        let half = try merged([ledgerFiles[0]])
        #expect((half.pushes.lost ?? 0) > 90)
    }

    @Test("A worker that left no books counts nowhere, and that is said")
    func lostWorker() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        accepted[0].mark(500)
        _ = try finish(known: [0, 100])
        try FileManager.default.removeItem(atPath: folder + "/worker-0/accepted.ledger")
        let result = try merged([ledgerFiles[0]])
        #expect(result.pushes.lost == 0 && result.pushes.duplicated == 0)
        #expect(
            result.notes == [
                "mocks' ledgers: worker 0 left no accepted pushes (accepted.ledger): lost ones are those of the other workers"
            ])
        try FileManager.default.removeItem(atPath: folder + "/worker-1/accepted.ledger")
        #expect(
            try problem([ledgerFiles[0]])
                == "\(folder): no worker left its accepted pushes (worker-0/accepted.ledger, …)")
    }

    @Test(
        "The ways there and back come from each pair's clocks, which are told; another merge takes the place of the first"
    )
    func clocks() throws {
        for number in 0..<200 as Range<UInt64> {
            push(number, to: Int(number / 2 % 2), ways: 1_000_000 + number * 1000)
        }
        _ = try finish()
        let result = try merged(ledgerFiles, timesFiles)
        let clocks = try #require(result.clocks)
        #expect(clocks.map { "\($0.worker) \($0.mock)" } == ["0 times-0", "0 times-1", "1 times-0", "1 times-1"])
        for clock in clocks {
            // What a wall clock is ahead of a monotonic one by is read for each file.
            #expect(abs(clock.offset) <= 1_000_000 && clock.bound >= 1_000_000 && clock.bound < 1_050_000, "\(clock)")
            #expect(clock.samples > 10 && clock.drift == nil)
        }
        #expect(clocks.reduce(0) { $0 + $1.samples } == 100)
        #expect(result.latency[.toMock].count == 100 && result.latency[.inMock].count == 100)
        #expect(abs(Int64(result.latency[.fromMock].p50) - 1_100_000) < 10_000, "\(result.latency[.fromMock])")
        #expect(try result.censoredHistogram("to_mock").count == 100)
        #expect(
            result.notes.count == 1 && result.notes[0].hasPrefix("push times: to_mock and from_mock are by the clocks"))
        try ResultFile.write(result, to: folder + "/result.json")
        #expect(try merged(ledgerFiles, timesFiles) == result)
        #expect(try ResultFile.read(folder + "/result.json") == result)
    }

    @Test("A file that is missing, cut short, foreign, of another run or named twice is one line that says so")
    func refused() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        _ = try finish()
        let (ledger, times) = (ledgerFiles[0], timesFiles[0])
        #expect(try problem([ledger], [times]) == "")
        #expect(try problem(["/nowhere"]) == "cannot read the ledger file /nowhere: No such file or directory")
        #expect(try problem([times]) == "\(times): not a ledger file")
        #expect(try problem([], [ledger]) == "\(ledger): not a file of push times")
        #expect(
            try problem([ledger, "\(folder)/./ledger-0"])
                == "\(folder)/./ledger-0: named twice; expected each mock's file once")
        let cut = folder + "/cut"
        try Data(contentsOf: URL(fileURLWithPath: ledger)).prefix(60).write(to: URL(fileURLWithPath: cut))
        #expect(try problem([cut]) == "\(cut): the ledger file is truncated")
        let foreign = folder + "/foreign"
        let book = LedgerBook(capacity: 10, timesInterval: 2)
        book.entry(run: 0xcd)?.ledger.mark(1)
        try LedgerFile.write(book, to: foreign)
        #expect(
            try problem([foreign]) == "\(foreign): a ledger of run 00000000000000cd, not of 00000000000000ab")
        try PushTimesFile.write(PushTimes(interval: 4)!, run: 0xcd, of: .mock, to: foreign)
        #expect(try problem([], [foreign]) == "\(foreign): push times of another run")
        try PushTimesFile.write(PushTimes(interval: 4)!, run: Self.run, of: .mock, to: foreign)
        #expect(
            try problem([], [foreign])
                == "\(foreign): times of one push in 4, but \(folder)/worker-0/times has one in 2 (mock-apns --times-every)"
        )
        accepted[0].mark(900)
        try AcceptedFile.write(accepted[0], run: Self.run, to: folder + "/worker-0/accepted.ledger")
        #expect(
            try problem([ledger])
                == "\(folder)/worker-0/accepted.ledger: has a push beyond the last one of the run, 199")
    }

    @Test("Fewer pushes written down than accepted: what was lost is not known, and that is no good run")
    func short() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        _ = try finish(known: [100, 120])
        let result = try merged([ledgerFiles[0]])
        #expect(result.pushes.lost == nil && result.pushes.duplicated == 0)
        #expect(
            result.notes == [
                "mocks' ledgers: worker 1 wrote down 100 of its 120 accepted pushes (accepted.ledger): what was lost of the "
                    + "others is not known"
            ])
        #expect(
            RunVerdict(result).problems.contains(
                "what was lost is not known, though there are ledgers of the mocks (the notes say why)"))
        // What can be told is.
        #expect(
            try merged([ledgerFiles[1]]).notes.contains(
                "mocks' ledgers: at least 200 accepted pushes in none of the ledgers"))
        // None at all, at either end.
        for worker in 0..<2 {
            try AcceptedFile.write(
                DeliveryLedger(capacity: 1)!, run: Self.run, to: "\(folder)/worker-\(worker)/accepted.ledger")
        }
        let none = try merged([ledgerFiles[1]])
        #expect(none.pushes.lost == nil && !RunVerdict(none).isGood && none.notes.count == 3, "\(none.notes)")
        // A worker without a file, though it had pushes accepted.
        try FileManager.default.removeItem(atPath: folder + "/worker-0/accepted.ledger")
        #expect(try merged([ledgerFiles[0]]).pushes.lost == nil)
    }

    @Test("Of a worker that was taken up again more may be written down than its result has, which is told")
    func more() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        accepted[1].mark(3)
        _ = try finish(known: [100, 90], attempts: 2)
        let result = try merged([ledgerFiles[0]])
        #expect(result.pushes.lost == 0)
        #expect(
            result.notes == [
                "mocks' ledgers: worker 1 wrote down 10 accepted pushes more than its result has: it was lost before it wrote that "
                    + "anew"
            ])
    }

    @Test("Numbers of a closed loop that was taken up again reach as far as its journal says")
    func takenUp() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        accepted[1].mark(901)
        _ = try finish()
        let said = "\(folder)/worker-1/accepted.ledger: has a push beyond the last one of the run, 199"
        #expect(try problem([ledgerFiles[0]]) == said)
        // One that has a number of pushes goes no further.
        try write("worker-1/begun-1.json", #"{"host": "h", "positions": [0], "planned": 100, "begun": 0}"#)
        try write("worker-1/journal.json", #"{"positions": [451], "elapsed": 5}"#)
        #expect(try problem([ledgerFiles[0]]) == said)
        try write("worker-1/begun-1.json", #"{"host": "h", "positions": [0], "begun": 0}"#)
        // No mock has it.
        #expect(try merged([ledgerFiles[0]]).pushes.lost == 1)
        try write("worker-1/journal.json", #"{"positions": [450], "elapsed": 5}"#)
        #expect(try problem([ledgerFiles[0]]).hasSuffix("beyond the last one of the run, 899"))
        // Without a journal by where its last attempt began, and how many it sent.
        try FileManager.default.removeItem(atPath: folder + "/worker-1/journal.json")
        try write("worker-1/begun-2.json", #"{"host": "h", "positions": [351], "begun": 1}"#)
        #expect(try merged([ledgerFiles[0]]).pushes.lost == 1)
        // Of one whose result cannot be read by how many it was to send.
        try write("worker-1/begun-1.json", #"{"host": "h", "positions": [0], "planned": 100, "begun": 0}"#)
        try write("worker-1/begun-2.json", #"{"host": "h", "positions": [51, 50], "planned": 350, "begun": 0}"#)
        try write("worker-1/result.json", "{")
        #expect(try merged([ledgerFiles[0]]).pushes.lost == 1)
        var own = try ResultFile.read(folder + "/worker-0/result.json")
        own.pushes.planned = 100
        try ResultFile.write(own, to: folder + "/worker-1/result.json")
        try FileManager.default.removeItem(atPath: folder + "/worker-1/begun-1.json")
        // Of two threads each has every other push of the worker's.
        try write("worker-1/begun-2.json", #"{"host": "h", "positions": [126, 0], "begun": 1}"#)
        #expect(try merged([ledgerFiles[0]]).pushes.lost == 1)
    }

    @Test("Where a ledger is missing nothing is called lost; where all pushes are found none is missed")
    func fewerLedgers() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: number < 150 ? 0 : 1) }
        _ = try finish()
        var whole = try ResultFile.read(folder + "/result.json")
        whole.targets = [.init(target: "https://a:1"), .init(target: "https://b:1")]
        try ResultFile.write(whole, to: folder + "/result.json")
        let half = try merged([ledgerFiles[0]])
        #expect(half.pushes.lost == nil && half.pushes.duplicated == nil && !RunVerdict(half).isGood)
        #expect(
            half.notes == [
                "mocks' ledgers: 1 ledger for 2 targets: is one missing? 50 accepted pushes in none of them; what was lost or doubled "
                    + "is not known"
            ])
        let all = try merged(ledgerFiles)
        #expect(all.pushes.lost == 0 && all.pushes.duplicated == 0 && all.notes.isEmpty)
    }

    @Test("A worker's times are not a mock's; of a mock to which no push came there is a file that says so")
    func sides() throws {
        for number in 0..<200 as Range<UInt64> { push(number, to: 0) }
        _ = try finish()
        let own = folder + "/worker-0/times"
        #expect(
            try problem([], [own])
                == "\(own): push times of a worker; expected a mock's (mock-apns serve --times-out)")
        let result = try merged([], timesFiles)
        #expect(result.latency[.inMock].count == 100)
        #expect(result.notes.contains("push times: \(timesFiles[1]): no push came to this mock"), "\(result.notes)")
        try FileManager.default.removeItem(atPath: own)
        try FileManager.default.copyItem(atPath: timesFiles[0], toPath: own)
        #expect(try problem([], timesFiles) == "\(own): push times of a mock; expected the worker's own")
    }

    @Test("What is no folder of a run of several workers is refused")
    func folders() throws {
        func problem(_ path: String) -> String {
            do { _ = try CompletedRun(path) } catch { return "\(error)" }
            return ""
        }
        #expect(problem("/nowhere") == "/nowhere: not a rendezvous folder: there is no run.json")
        for (text, said) in [
            ("{", "not complete JSON; the file is truncated or damaged"),
            (#"{"id": "xyz"}"#, "\"id\" is missing or not 16 hexadecimal digits"),
            (#"{"id": "00000000000000ab", "workers": 0}"#, "\"workers\" is missing or not 1 to 65536"),
        ] {
            try write("run.json", text)
            #expect(problem(folder) == "\(folder)/run.json: \(said)")
        }
    }
}
