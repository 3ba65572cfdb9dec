import Foundation
import Measurement
import Results
import Testing

/// Runs of several workers in which nothing is lost.
@Suite(.waitsForPrograms) struct WorkerRunTests {
    @Test("Three workers do what one process does, push for push and stage for stage")
    func stages() throws {
        let mocks = try MockPair()
        let load =
            ["--stages", "ramp 1k 2k 1s, hold 1500 1s", "--arrivals", "poisson", "--connections", "6"] + mocks.targets
            + WorkerGroup.anyRate
        let run = WholeRun(folder: mocks.folder.path + "/run")
        let workers = try (0..<3).map {
            try Programs.start("pushload", ["run", "--worker", "\($0)/3", "--rendezvous", run.folder] + load)
        }
        for finished in try WorkerGroup.ends(workers, status: 0).dropFirst() {
            #expect(finished.error.contains("the whole run: \(run.folder)/result.json"), "\(finished)")
        }
        // After it, because mocks keep the times of the first run.
        let alone = try Programs.load(load)
        try mocks.stop()
        let merged = try mocks.merge(run.folder)
        #expect(merged.status == 0 && merged.output.contains("0 lost, 0 doubled"), "\(merged)")
        try run.expectSame(as: alone.result, mocks.ledgers, workers: 3)
        let result = try run.result
        func counts(_ result: ResultDocument) throws -> [String: UInt64] {
            try #require(result.breakdown["stage"]).mapValues { $0.accepted &+ $0.rejected &+ $0.failed &+ $0.notSent }
        }
        #expect(try counts(result) == counts(alone.result) && counts(result).count == 2, "\(result.breakdown)")
        // One machine has one clock.
        let clocks = try #require(result.clocks)
        #expect(!clocks.isEmpty && clocks.allSatisfy { abs($0.offset) <= $0.bound }, "\(clocks)")
    }

    @Test("A closed loop of several sends pushes to each registration once")
    func sends() throws {
        let folder = try OutputFolder.made()
        let rows = (1...303).map { number in
            let hex = String(number, radix: 16)
            return "\(String(repeating: "0", count: 64 - hex.count) + hex),\(number <= 101 ? "x" : "y")\n"
        }
        let path = folder.path + "/r.csv"
        try ("token,tags\n" + rows.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        let group = try WorkerGroup(
            2,
            [
                "--registrations", path, "--send", "{name: a, audience: x}", "--send", "{name: b, audience: y}",
                "--connections", "3",
            ])
        try WorkerGroup.ends(try group.startAll(), status: 0)
        let result = try group.expectBooks(planned: 303)
        #expect(result.run.complete && result.pushes.accepted == 303, "\(result.pushes)")
        let sends = try #require(result.sends)
        #expect(sends.map(\.name) == ["a", "b"] && sends.map(\.pushes) == [101, 202], "\(sends)")
        #expect(sends.map(\.devices) == [101, 202] && sends.map(\.accepted) == [101, 202], "\(sends)")
        // Of each send worker 0 has the one that is left over.
        #expect(result.workers?.map(\.pushes) == [152, 151], "\(result.workers ?? [])")
        try group.expectArrived(result)
    }

    @Test("Workers whose clocks are 2 s apart start together, and their results say how far they are")
    func clocks() throws {
        let group = try WorkerGroup(3, ["--rate", "1500", "--pushes", "3000", "--connections", "3"])
        let shifted = try ShiftedClock(seconds: 2, in: group.output)
        let workers = try (0..<3).map {
            try group.start($0, environment: $0 == 1 ? ["LD_PRELOAD": shifted.library] : [:])
        }
        try WorkerGroup.ends(workers, status: 0)
        let result = try group.expectBooks(planned: 3000)
        let rows = try #require(result.workers)
        #expect(result.pushes.accepted == 3000 && rows.allSatisfy { $0.state != .late }, "\(rows)")
        // To be added to its clock, which is ahead.
        let (offset, bound) = (try #require(rows[1].clockOffset), try #require(rows[1].clockBound))
        #expect(offset.advanced(by: 2_000_000_000).magnitude <= bound, "\(rows[1])")
        let other = try #require(rows[2].clockOffset)
        #expect(other.magnitude <= rows[2].clockBound ?? 0, "\(rows[2])")
        let starts = try (0..<3).map { try start(of: $0, group, id: result.run.id) }
        let apart = try #require(starts.max()) - #require(starts.min())
        #expect(apart <= 1 + 2 * Double(bound) / 1e9, "\(starts)")
        try group.expectArrived(result)
    }

    /// When a worker's pushes were due from on, seconds by the clock that all have in common, as its push times tell.
    private func start(of worker: Int, _ group: WorkerGroup, id: String) throws -> Double {
        let run = try #require(UInt64(id, radix: 16))
        let times = try PushTimesFile.read(group.path(worker, "times"), run: run)
        let picked = try #require(PushTimes(interval: times.interval))
        var due: [Int: Double] = [:]
        for push in 0..<UInt64(3000) where picked.sample(push) >= 0 { due[picked.sample(push)] = Double(push) / 1500 }
        // The one that left soonest after it was due.
        return try #require(
            times.samples.compactMap { sample in due[sample.number].map { Double(sample.departure) / 1e9 - $0 } }.min(),
            "no push times of worker \(worker)")
    }

    @Test("Ctrl-C at all workers: a result of what was sent, which says so")
    func interrupted() throws {
        let group = try WorkerGroup(2, ["--rate", "400", "--duration", "60s", "--connections", "2"])
        let workers = try group.startAll()
        try group.waitForLoad([0, 1])
        for worker in workers { kill(worker.process.processIdentifier, SIGINT) }
        for finished in try WorkerGroup.ends(workers, status: 1) {
            #expect(finished.error.contains("stopping: open pushes may still be answered"), "\(finished)")
        }
        let result = try group.expectBooks(planned: 24_000)
        #expect(result.run.interrupted && !result.run.complete && result.pushes.accepted >= 100)
        #expect(result.notSent["interrupted", default: 0] > 0, "\(result.notSent)")
        try group.expectArrived(result)
    }

    @Test("Ctrl-C at a worker that waits for the others: it leaves with one line, and they go on")
    func left() throws {
        let group = try WorkerGroup(2, ["--rate", "1k", "--pushes", "1000", "--connections", "2", "--quiet"])
        let workers = try group.startAll()
        try group.wait(1, for: "the start") { $0.state == "running" }
        kill(workers[1].process.processIdentifier, SIGSTOP)
        try group.wait(0, for: "its end") { $0.state == "waiting" }
        for _ in 0..<2 { kill(workers[0].process.processIdentifier, SIGINT) }
        try workers[0].wait().expectLine(
            1, "pushload: left before all workers had ended: \(group.run.folder)/result.json is not whole")
        kill(workers[1].process.processIdentifier, SIGCONT)
        try WorkerGroup.ends([workers[1]], status: 0)
        let result = try group.expectBooks(planned: 1000)
        #expect(result.run.complete && result.pushes.accepted == 1000, "\(result.pushes)")
        try group.expectArrived(result)
    }

    @Test("A worker that sees a threshold crossed stops all, and all exit with 99")
    func aborted() throws {
        let group = try WorkerGroup(
            2,
            [
                "--rate", "400", "--duration", "60s", "--connections", "2", "--threshold", "p90 < 1s",
                "--abort-on-fail",
            ])
        let workers = try group.startAll()
        try group.waitForLoad([0, 1])
        // What comes due meanwhile is late, of this one only.
        kill(workers[1].process.processIdentifier, SIGSTOP)
        sleep(5)
        kill(workers[1].process.processIdentifier, SIGCONT)
        let finished = try WorkerGroup.ends(workers, status: 99)
        let stop = try String(contentsOfFile: group.run.folder + "/stop.json", encoding: .utf8)
        #expect(stop.contains("\"worker\":1}") && stop.contains("p90 < 1s was crossed"), "\(stop)")
        #expect(finished[0].error.contains("worker 1 asks all to stop: p90 < 1s was crossed"), "\(finished[0])")
        let result = try group.expectBooks(planned: 24_000)
        #expect(result.run.interrupted && result.pushes.accepted > 0 && result.pushes.notSent > 0, "\(result.pushes)")
        #expect(result.notes.contains { $0.contains("worker 1") && $0.contains("ended early: p90 < 1s was crossed") })
        try group.expectArrived(result)
    }
}

/// A wall clock that is wrong, for programs that have the library loaded before others (`LD_PRELOAD`).
private struct ShiftedClock {
    let library: String

    init(seconds: Int, in folder: OutputFolder) throws {
        library = folder.path + "/clock.so"
        let source = """
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            int clock_gettime(clockid_t clock, struct timespec *now) {
                long status = syscall(SYS_clock_gettime, clock, now);
                if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += \(seconds);
                return (int)status;
            }

            """
        try source.write(toFile: folder.path + "/clock.c", atomically: true, encoding: .utf8)
        let compiler = try Programs.run(
            "/usr/bin/env", ["clang", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, folder.path + "/clock.c"])
        try #require(compiler.status == 0, "\(compiler)")
    }
}
