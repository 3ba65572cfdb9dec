import Foundation
import Results
import Testing

/// Workers that are told to end before their parts are sent, as schedulers do with what they start again elsewhere.
@Suite(.serialized, .waitsForPrograms) struct DismissedWorkerTests {
    @Test(
        "SIGTERM ends the workers and not their run: started again they send the rest, every push once",
        arguments: [true, false])
    func takenUpAgain(isOpenLoop: Bool) throws {
        let mock = try Mock(isOpenLoop ? [] : ["--latency", "20ms"])
        let output = try OutputFolder.made()
        let run = WholeRun(folder: output.path + "/run")
        let load = isOpenLoop ? ["--rate", "1000", "--duration", "4s"] : ["--pushes", "4000", "--streams", "10"]

        func start(_ index: Int) throws -> Running {
            try Programs.start(
                "pushload",
                ["run", "--worker", "\(index)/2", "--rendezvous", run.folder, "--lost-after", "2m"] + load
                    + ["--connections", "2", "--target", mock.url, "--credentials", mock.folder])
        }

        let first = try (0..<2).map(start)
        try wait(for: "load") {
            (0..<2).allSatisfy { run.status($0).map { $0.state == "running" && $0.accepted >= 100 } ?? false }
        }
        for worker in first { kill(worker.process.processIdentifier, SIGTERM) }
        for (index, worker) in first.enumerated() {
            let finished = try worker.wait()
            let told = "worker \(index): told to end (SIGTERM) before its part was sent; started again"
            #expect(finished.status == 1 && finished.error.contains(told), "\(finished)")
        }
        #expect(!run.hasEnded)
        for worker in try (0..<2).map(start) {
            let finished = try worker.wait()
            #expect(finished.status == 0, "\(finished)")
        }
        let result = try run.result
        #expect(result.pushes.planned == 4000 && result.pushes.accepted == 4000, "\(result.pushes)")
        #expect(result.run.complete && result.workers?.map(\.attempts) == [2, 2], "\(result.workers ?? [])")
        #expect(try mock.stop().output.contains("4,000 different pushes, 0 repeated"))
    }
}
