import Foundation
import Harness
import Measurement
import Results
import Synchronization
import Testing

@testable import Workers

@Suite struct RendezvousTests {
    private final class Folder: Sendable {
        let folder = RendezvousFolder(FileManager.default.temporaryDirectory.path + "/rendezvous-\(UUID())")
        init() throws { try folder.make() }
        deinit { try? FileManager.default.removeItem(atPath: folder.path) }
    }

    @Test("Of many who write the same name at once one wins, and all read what it wrote")
    func first() throws {
        let place = try Folder()
        for round in 0..<20 {
            let winners = Mutex<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { index in
                let isFirst = try? place.folder.writeOnce(
                    EndFile(complete: true, status: Int32(index), lost: []), to: "end-\(round)")
                if isFirst == true { winners.withLock { $0.append(index) } }
            }
            let file: EndFile = try #require(place.folder.read("end-\(round)"))
            #expect(winners.withLock { $0 } == [Int(file.status)])
        }
        #expect(place.folder.names().filter { !$0.hasPrefix(".") }.count == 20)
    }

    @Test("What is no file, or larger than any of them gets, is not read", .timeLimit(.minutes(1)))
    func strange() throws {
        let place = try Folder()
        let end = EndFile(complete: true, status: 0, lost: [])
        try place.folder.write(end, to: "end.json")
        #expect(place.folder.read("end.json") == end)
        #expect(mkfifo(place.folder.place("fifo"), 0o600) == 0)
        #expect(place.folder.read("fifo", as: EndFile.self) == nil)
        #expect(place.folder.contents("fifo", atMost: 1) == nil && place.folder.contents("", atMost: 1 << 20) == nil)
        // Of text that is read up to its end, and so large that nobody wrote it.
        let text = try #require(place.folder.contents("end.json", atMost: 1000))
        try (text + Data(repeating: 32, count: 17 << 20)).write(
            to: URL(fileURLWithPath: place.folder.place("large")))
        #expect(place.folder.read("large", as: EndFile.self) == nil)
    }

    @Test("What strangers wrote is read as one line of plain text")
    func plain() throws {
        let place = try Folder()
        let evil = "a\u{1B}[2J\nb"
        try place.folder.write(StopFile(worker: 1, reason: evil), to: "stop.json")
        let stop: StopFile = try #require(place.folder.read("stop.json"))
        #expect(stop.reason == "a?[2J?b" && stop.worker == 1)
        try place.folder.write(
            StatusFile(worker: 0, workers: 1, host: evil, pid: 1, attempt: 1, state: .ready), to: "status.json")
        let status: StatusFile = try #require(place.folder.read("status.json"))
        #expect(status.host == "a?[2J?b" && status.problem.isEmpty)
    }

    @Test("How many begin together is what the start says; a run that was given up cannot be merged, and why is said")
    func begun() throws {
        let place = try Folder()
        try place.folder.write(RunFile(id: "ab", workers: 3, created: 1, scenario: [:]), to: "run.json")
        try place.folder.make("worker-0")
        #expect(WorkerFolder.begun(place.folder.path) == nil)
        try place.folder.write(StopFile(worker: 0, reason: "worker 2 has not come"), to: "stop.json")
        do throws(HarnessError) {
            _ = try WorkerFolder.merged(place.folder.path)
            Issue.record("merged")
        } catch {
            #expect(
                error.description
                    == "\(place.folder.path): the run was given up before it began, and nothing was sent: worker 2 has not come"
            )
        }
        try place.folder.write(StartFile(at: 1, clockOf: 0, written: 1, without: [2], seen: []), to: "start.json")
        let begun = try #require(WorkerFolder.begun(place.folder.path))
        #expect(begun == (2, 3))
    }

    @Test("A clock is off where four time stamps prove it, and by what they prove")
    func clock() {
        // 2 s behind; 10 ms to be seen, 30 ms back.
        let behind = WorkerClock(t1: 100, t2: 102.010, t3: 103, t4: 101.030)
        #expect(abs(behind.offset - 1.99) < 1e-9 && abs(behind.bound - 0.02) < 1e-9 && behind.isOff)
        #expect(abs(behind.own(110) - 108.01) < 1e-9)
        #expect(abs(behind.offset - 2) <= behind.bound)
        let right = WorkerClock(t1: 100, t2: 100.010, t3: 101, t4: 101.005)
        #expect(!right.isOff && right.own(110) == 110)
    }

    private func partial() -> ResultDocument {
        var result = ResultDocument()
        result.pushes.planned = 1000
        (result.pushes.accepted, result.pushes.rejected) = (300, 20)
        (result.pushes.failed, result.pushes.notSent) = (15, 665)
        result.failures = ["interrupted": 10, "push_timeout": 5]
        result.notSent = ["interrupted": 660, "overflowed": 5]
        result.notes = [ResultDocument.partialMark + "still going on"]
        return result
    }

    @Test("The books of one that was lost balance: what it may have sent has failed, the rest was not sent")
    func closed() {
        let lost = ClosedShard.close(partial(), planned: 1000, reserved: 500)
        #expect(lost.pushes.planned == 1000 && lost.pushes.ended == 1000)
        // 340 are known; 160 more of the 500 may have been sent.
        #expect(lost.failures == ["worker_lost": 170, "push_timeout": 5] && lost.pushes.failed == 175)
        #expect(lost.notSent == ["worker_lost": 500, "overflowed": 5] && lost.pushes.notSent == 505)
        #expect(!lost.isPartial && !lost.run.complete)

        let takenUp = ClosedShard.close(partial(), planned: 1000, reserved: 500, left: 500)
        #expect(takenUp.pushes.planned == 500 && takenUp.pushes.ended == 500)
        #expect(takenUp.failures == ["worker_lost": 170, "push_timeout": 5] && takenUp.notSent == ["overflowed": 5])

        let never = ClosedShard.close(nil, planned: 70, reserved: 0)
        #expect(never.pushes.planned == 70 && never.notSent == ["worker_lost": 70] && never.failures.isEmpty)
        let early = ClosedShard.close(nil, planned: 70, reserved: 30)
        #expect(early.failures == ["worker_lost": 30] && early.notSent == ["worker_lost": 40])
        #expect(early.latency[.total].unanswered == 30)
    }

    @Test("A worker's attempts are what each brought home, whatever moment it was lost at")
    func attempts() throws {
        let place = try Folder()
        let shard = ShardFolder(folder: place.folder, index: 0)
        try place.folder.make(shard.name)
        func begun(_ positions: [UInt64], _ planned: UInt64, late: Double? = nil) -> BegunFile {
            BegunFile(
                host: "h", positions: positions, planned: planned, late: late, begun: late ?? 0, clockOffset: nil,
                clockBound: nil)
        }
        func journal(_ positions: [UInt64]) throws {
            try place.folder.write(
                RunJournal.Document(positions: positions, elapsed: 7), to: shard.name + "/" + RunOutput.journal)
        }
        func books() throws -> [[UInt64]] {
            try shard.shards(planned: 1000).map {
                #expect($0.result.pushes.planned == $0.result.pushes.ended)
                return [
                    $0.result.pushes.planned, $0.result.pushes.accepted, $0.result.pushes.failed,
                    $0.result.pushes.notSent,
                ]
            }
        }
        // Nobody ever came.
        #expect(try books() == [[1000, 0, 0, 1000]])
        // Killed before it had written anything but its journal.
        try shard.begin(1, begun([0], 1000))
        #expect(try books() == [[1000, 0, 0, 1000]])
        try journal([40])
        #expect(try books() == [[1000, 0, 40, 960]])
        // Killed in the middle.
        try ResultFile.write(partial(), to: shard.place("result.json"))
        try journal([500])
        #expect(try books() == [[1000, 300, 175, 505]])
        #expect(shard.resumed(since: 3)?.positions == [500])
        // Taken up again, and killed before anything came of it.
        try shard.begin(2, begun([500], 500, late: 12))
        #expect(try books() == [[500, 300, 175, 5], [500, 0, 0, 500]])
        try journal([620])
        #expect(try books() == [[500, 300, 175, 5], [500, 0, 120, 380]])
        // The third brings it home.
        try shard.begin(3, begun([620], 380, late: 30))
        var rest = ResultDocument()
        (rest.pushes.planned, rest.pushes.accepted) = (380, 380)
        try ResultFile.write(rest, to: shard.place("result.json"))
        try shard.end(3)
        #expect(try books() == [[500, 300, 175, 5], [120, 0, 120, 0], [380, 380, 0, 0]])
        // Of an attempt that was replaced it says nothing.
        try shard.end(2)
        #expect(!shard.isDone)
        try shard.end(3)
        // Nor for another worker's folder that leads here.
        let other = ShardFolder(folder: place.folder, index: 1)
        try FileManager.default.createSymbolicLink(
            atPath: place.folder.place(other.name), withDestinationPath: place.folder.place(shard.name))
        #expect(!other.isDone)
        let states = try shard.shards(planned: 1000).map(\.state)
        #expect(shard.isDone && states == [.lost, .lost, .done])
    }
}
