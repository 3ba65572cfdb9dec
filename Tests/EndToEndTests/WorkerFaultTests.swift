import Foundation
import Results
import Testing

/// Runs of several workers of which some do not come, are killed, or lose the folder that all share.
@Suite(.waitsForPrograms) struct WorkerFaultTests {
    // MARK: Workers that do not come

    @Test("A worker that never comes is named, and nothing is sent; the folder takes nobody any more")
    func missing() throws {
        let group = try WorkerGroup(
            3, ["--pushes", "300", "--connections", "3", "--start-timeout", "2s", "--quiet"])
        for finished in try [0, 2].map({ try group.start($0) }).map({ try $0.wait() }) {
            finished.expectLine(
                1, "pushload: the run has not begun, and nothing was sent: worker 1 of 3 has not come within 2",
                "(--start-timeout; --missing start goes on without)")
        }
        #expect(!group.has("start.json") && !group.has("result.json") && !group.has("end.json"))
        try group.start(1).wait().expectLine(64, "holds a run that was given up before it began: worker 1 of 3 has not")
        #expect(!group.has("worker-1"))
        try group.expectNothingSent()
    }

    @Test("Workers that start without one say that its part was not sent; started later, it sends it")
    func startsWithout() throws {
        let group = try WorkerGroup(
            3,
            [
                "--pushes", "900", "--connections", "3", "--start-timeout", "2s", "--missing", "start", "--lost-after",
                "5s",
            ])
        let finished = try WorkerGroup.ends(try [0, 1].map { try group.start($0) }, status: 1)
        #expect(finished[0].output.contains("FAILED: 300 pushes were not sent: worker_lost 300"), "\(finished[0])")
        let partial = try group.expectBooks(planned: 900)
        #expect(partial.notes.contains { $0.hasPrefix("partial: worker 2 of 3 was lost: ") }, "\(partial.notes)")
        #expect(partial.pushes.accepted == 600 && partial.notSent == ["worker_lost": 300], "\(partial.notSent)")
        #expect(!partial.run.complete && partial.workers?.map { $0.state == .lost } == [false, false, true])
        let last = try WorkerGroup.ends([try group.start(2)], status: 0)
        #expect(last[0].error.contains("300 of 300 pushes accepted; the whole run: "), "\(last[0])")
        let result = try group.expectBooks(planned: 900)
        #expect(result.run.complete && result.pushes.accepted == 900, "\(result.pushes)")
        #expect(!result.notes.contains { $0.hasPrefix("partial: ") }, "\(result.notes)")
        #expect(result.workers?[2].state == .late && result.workers?[2].lateSeconds ?? 0 > 0)
        try group.expectArrived(result)
    }

    // MARK: Workers that are killed

    @Test("Workers killed before the start are waited for, and take part when they are started again")
    func killedBeforeStart() throws {
        let group = try WorkerGroup(3, ["--pushes", "900", "--connections", "3", "--lost-after", "2s"])
        var workers = try [0, 1].map { try group.start($0) }
        // So long that worker 0 has seen it alive.
        try group.wait(1, for: "beats") { $0.state == "ready" && $0.beat >= 10 }
        try WorkerGroup.kill(workers[1])
        let early = try group.start(2)
        try wait(for: "worker 2") { group.has("worker-2/claim-1") }
        try WorkerGroup.kill(early)
        // It makes sure that nobody is worker 2 any more, for 3 s; so long worker 1 has been silent.
        workers.append(try group.start(2))
        try group.wait(2, for: "beats") { $0.attempt == 2 && $0.beat >= 10 }
        #expect(!group.has("start.json"))
        workers[1] = try group.start(1)
        try WorkerGroup.ends(workers, status: 0)
        let result = try group.expectBooks(planned: 900)
        #expect(result.run.complete && result.pushes.accepted == 900, "\(result.pushes)")
        #expect(result.workers?.map(\.attempts) == [1, 2, 2], "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    @Test(
        "A worker killed in the middle, and started again before or after the others give it up, sends what nobody can have sent",
        arguments: [(hasBegun: true, isInTime: true), (true, false), (false, true)])
    func killedInTheMiddle(hasBegun: Bool, isInTime: Bool) throws {
        let group = try WorkerGroup(
            2,
            [
                "--rate", "500", "--pushes", "2500", "--connections", "2", "--lost-after", isInTime ? "2m" : "2s",
            ])
        let workers = try group.startAll()
        if hasBegun { try group.waitForLoad([0, 1]) } else { try wait(for: "the start") { group.has("start.json") } }
        try WorkerGroup.kill(workers[1])
        if !isInTime {
            let finished = try WorkerGroup.ends([workers[0]], status: 1)
            #expect(finished[0].output.contains("worker_lost"), "\(finished[0])")
            let partial = try group.expectBooks(planned: 2500)
            #expect(partial.notes.contains { $0.hasPrefix("partial: worker 1 of 2 was lost: ") }, "\(partial.notes)")
            #expect(!partial.run.complete && partial.workers?.map { $0.state == .lost } == [false, true])
            #expect(partial.pushes.accepted >= 1300 && partial.notSent["worker_lost", default: 0] > 0)
        }
        let again = try group.start(1)
        let ends = try (isInTime ? [workers[0], again] : [again]).map { try $0.wait() }
        let result = try group.expectBooks(planned: 2500)
        let failed = result.pushes.failed
        #expect(ends.allSatisfy { $0.status == (failed == 0 ? 0 : 1) }, "\(ends)")
        #expect(result.run.complete && result.pushes.accepted + failed == 2500, "\(result.pushes)")
        #expect(result.failures == (failed == 0 ? [:] : ["worker_lost": failed]), "\(result.failures)")
        #expect(result.workers?.map(\.attempts) == [1, 2], "\(result.workers ?? [])")
        let said = result.notes.contains { $0.contains("lost in attempt 1, and taken up again: ") }
        #expect(said == (failed > 0), "\(result.notes)")
        try group.expectArrived(result)
    }

    @Test(
        "A run that ended without a killed worker is merged at once; one whose workers were all killed after its own --lost-after"
    )
    func mergedAfterKill() throws {
        let ended = try WorkerGroup(
            2, ["--rate", "500", "--pushes", "2000", "--connections", "2", "--lost-after", "1s"])
        let workers = try ended.startAll()
        try ended.waitForLoad([0, 1])
        try WorkerGroup.kill(workers[1])
        try WorkerGroup.ends([workers[0]], status: 1)
        let output = ended.output.path + "/merged.json"
        let merged = try Programs.run("pushload", ["merge", ended.run.folder, "--output", output])
        #expect(merged.status == 1 && merged.output.contains("worker_lost"), "\(merged)")
        #expect(try ResultFile.read(output).workers?.map { $0.state == .lost } == [false, true])

        // Nobody ends it.
        let left = try WorkerGroup(
            2, ["--rate", "500", "--pushes", "60000", "--connections", "2", "--lost-after", "6s"])
        let gone = try left.startAll()
        try left.waitForLoad([0, 1])
        for worker in gone { try WorkerGroup.kill(worker) }
        let early = try Programs.run("pushload", ["merge", left.run.folder, "--output", output])
        #expect(early.status == 64 && early.error.contains("nothing was written for 6.00 s (--lost-after)"), "\(early)")
        // As if these had passed; 30 s would be the default.
        for index in 0..<2 {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -15)], ofItemAtPath: left.path(index, "status.json"))
        }
        let late = try Programs.run("pushload", ["merge", left.run.folder, "--output", output])
        #expect(late.status == 1, "\(late)")
        #expect(try ResultFile.read(output).workers?.map { $0.state == .lost } == [true, true])
    }

    @Test(
        "Workers killed when their pushes have ended, one before it said that its result is whole, end the run when they are back"
    )
    func killedAtTheEnd() throws {
        let group = try WorkerGroup(
            3, ["--rate", "900", "--pushes", "900", "--connections", "3", "--lost-after", "2m"])
        var workers = try group.startAll()
        try group.wait(2, for: "the start") { $0.state == "running" }
        kill(workers[2].process.processIdentifier, SIGSTOP)
        for index in 0..<2 { try group.wait(index, for: "its end") { $0.state == "waiting" } }
        try wait(for: "results") { (0..<2).allSatisfy { group.has("worker-\($0)/shard.json") } }
        for index in 0..<2 { try WorkerGroup.kill(workers[index]) }
        // As if it had been killed a moment sooner.
        try FileManager.default.removeItem(atPath: group.path(1, "shard.json"))
        for index in 0..<2 { workers[index] = try group.start(index) }
        for index in 0..<2 { try group.wait(index, for: "its end") { $0.attempt == 2 && $0.state == "waiting" } }
        kill(workers[2].process.processIdentifier, SIGCONT)
        try WorkerGroup.ends(workers, status: 0)
        let result = try group.expectBooks(planned: 900)
        #expect(result.run.complete && result.pushes.accepted == 900, "\(result.pushes)")
        #expect(result.workers?.map(\.attempts) == [1, 2, 1], "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    @Test("When the worker that would put the result together is killed, another one does")
    func killedMerger() throws {
        let group = try WorkerGroup(
            3, ["--rate", "900", "--pushes", "900", "--connections", "3", "--lost-after", "10s"])
        let workers = try group.startAll()
        try group.wait(2, for: "the start") { $0.state == "running" }
        kill(workers[2].process.processIdentifier, SIGSTOP)
        for index in 0..<2 { try group.wait(index, for: "its end") { $0.state == "waiting" } }
        try wait(for: "its result") { group.has("worker-0/shard.json") }
        try WorkerGroup.kill(workers[0])
        kill(workers[2].process.processIdentifier, SIGCONT)
        try WorkerGroup.ends(Array(workers[1...]), status: 0)
        let result = try group.expectBooks(planned: 900)
        #expect(result.run.complete && result.pushes.accepted == 900, "\(result.pushes)")
        #expect(result.workers?.allSatisfy { $0.state != .lost } == true, "\(result.workers ?? [])")
        try group.start(0).wait().expectLine(64, "holds a run that has ended", "nothing was sent")
        try group.expectArrived(result)
    }

    // MARK: Workers that stand still

    @Test(
        "A worker that stood still, and is taken up by another process meanwhile, stops and leaves the part to that one"
    )
    func replaced() throws {
        let group = try WorkerGroup(
            2, ["--rate", "500", "--pushes", "2500", "--connections", "2", "--lost-after", "2m"])
        let workers = try group.startAll()
        try group.waitForLoad([0, 1])
        kill(workers[1].process.processIdentifier, SIGSTOP)
        let again = try group.start(1)
        try group.wait(1, for: "load once more") { $0.attempt == 2 && $0.accepted >= 50 }
        kill(workers[1].process.processIdentifier, SIGCONT)
        let finished = try WorkerGroup.ends([workers[1]], status: 1)[0]
        #expect(
            finished.error.contains("pushload: worker 1: another process has taken its part up: what this one sent "),
            "\(finished)")
        let ends = try [workers[0], again].map { try $0.wait() }
        let result = try group.expectBooks(planned: 2500)
        let failed = result.pushes.failed
        #expect(ends.allSatisfy { $0.status == (failed == 0 ? 0 : 1) }, "\(ends)")
        #expect(result.run.complete && result.pushes.accepted + failed == 2500, "\(result.pushes)")
        #expect(!result.run.interrupted && result.workers?.map(\.attempts) == [1, 2], "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    @Test("A worker that was given up by the others, and comes back, completes their result")
    func back() throws {
        let group = try WorkerGroup(
            2, ["--rate", "500", "--pushes", "2500", "--connections", "2", "--lost-after", "2s"])
        let workers = try group.startAll()
        try group.waitForLoad([0, 1])
        kill(workers[1].process.processIdentifier, SIGSTOP)
        try WorkerGroup.ends([workers[0]], status: 1)
        let partial = try group.expectBooks(planned: 2500)
        #expect(partial.workers?.map { $0.state == .lost } == [false, true] && !partial.run.complete)
        kill(workers[1].process.processIdentifier, SIGCONT)
        try WorkerGroup.ends([workers[1]], status: 0)
        let result = try group.expectBooks(planned: 2500)
        #expect(result.run.complete && result.pushes.accepted == 2500, "\(result.pushes)")
        #expect(!(result.workers ?? []).contains { $0.state == .lost }, "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    // MARK: A folder that takes nothing

    @Test("A folder that vanishes ends its workers by themselves; each says where its result is instead")
    func vanished() throws {
        let group = try WorkerGroup(
            2, ["--rate", "400", "--duration", "60s", "--connections", "2", "--lost-after", "2s"])
        let own = ["TMPDIR": group.output.path]
        let workers = try (0..<2).map { try group.start($0, environment: own) }
        try group.waitForLoad([0, 1])
        // In one step: removing it file by file, a worker may write another one meanwhile.
        try FileManager.default.moveItem(atPath: group.run.folder, toPath: group.output.path + "/gone")
        let results = try rescued(workers, group)
        #expect(results[0] != results[1])
        for result in results {
            let why = "journal.json: No such file or directory: a worker without a journal may not go on"
            #expect(result.notes.contains { $0.hasPrefix("ended early: ") && $0.hasSuffix(why) }, "\(result.notes)")
            #expect(result.run.interrupted && result.pushes.planned == 12_000, "\(result.pushes)")
        }
        #expect(!FileManager.default.fileExists(atPath: group.run.folder))
        try expectArrived(results, group)
    }

    @Test(
        "A full disk ends no run, and results are written elsewhere; with room again the workers send what is left",
        .enabled(if: geteuid() == 0, "a file system of its own needs root"))
    func full() throws {
        let disk = try SmallDisk(megabytes: 8)
        let group = try WorkerGroup(
            2, ["--rate", "400", "--duration", "5s", "--connections", "2", "--lost-after", "2s"],
            in: disk.path + "/run")
        let own = ["TMPDIR": group.output.path]
        let workers = try (0..<2).map { try group.start($0, environment: own) }
        try group.waitForLoad([0, 1])
        try disk.fill()
        let results = try rescued(workers, group)
        #expect(!group.has("end.json"))
        try disk.makeRoom()
        let again = try (0..<2).map { try group.start($0, environment: own) }.map { try $0.wait() }
        let result = try group.expectBooks(planned: 2000)
        let failed = result.pushes.failed
        #expect(again.allSatisfy { $0.status == (failed == 0 ? 0 : 1) }, "\(again)")
        #expect(result.run.complete && result.pushes.accepted + failed == 2000, "\(result.pushes)")
        #expect(failed == result.failures["worker_lost", default: 0], "\(result.failures)")
        #expect(results.reduce(0) { $0 + $1.pushes.accepted } <= result.pushes.accepted + failed)
        try group.expectArrived(result)
    }

    /// Workers whose results could not be written where they belong.
    ///
    /// - Returns: these, from where each said that it is.
    private func rescued(_ workers: [Running], _ group: WorkerGroup) throws -> [ResultDocument] {
        try workers.enumerated().map { index, worker in
            let finished = try worker.wait()
            finished.expectLine(74, "cannot write \(group.path(index, "result.json"))", "; the result is in ")
            let path = try #require(finished.error.split(separator: "; the result is in ").last)
                .split(separator: " instead")[0]
            let result = try ResultFile.read(String(path))
            #expect(result.pushes.planned == result.pushes.ended && result.pushes.accepted > 0, "\(result.pushes)")
            return result
        }
    }

    private func expectArrived(_ results: [ResultDocument], _ group: WorkerGroup) throws {
        var all = ResultDocument()
        for result in results {
            all.pushes.accepted += result.pushes.accepted
            all.pushes.failed += result.pushes.failed
        }
        try group.expectArrived(all)
    }
}

/// A file system of some megabytes, in memory; needs root. Unmounted with this object.
private final class SmallDisk {
    let path: String
    private let folder: OutputFolder

    init(megabytes: Int) throws {
        folder = try OutputFolder.made()
        path = folder.path
        let mounted = try Programs.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "none", path])
        try #require(mounted.status == 0, "\(mounted)")
    }

    deinit { _ = try? Programs.run("/bin/umount", ["--lazy", path]) }

    func fill() throws {
        let filled = try Programs.run("/bin/dd", ["if=/dev/zero", "of=\(path)/fill", "bs=4k"])
        #expect(filled.error.contains("No space left on device"), "\(filled)")
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: path + "/fill") }
}
