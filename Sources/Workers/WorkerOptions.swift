import ArgumentParser
import Foundation
import Harness
import Scenarios
import Settings

/// The flags of a run of several workers.
package struct WorkerOptions: ParsableArguments {
    package init() {}

    @Option(
        help: ArgumentHelp(
            "Which of how many workers this is, as in 0/4; /4 under a launcher that says which. Default: what srun, mpirun or an Indexed Job says.",
            valueName: "I/N", visibility: .hidden))
    package var worker: String?

    @Option(
        help: ArgumentHelp(
            "Folder that all workers of the run share: they start together there, and the result of all is put there.",
            valueName: "folder", visibility: .hidden))
    package var rendezvous: String?

    @Option(
        help: ArgumentHelp(
            "How long a worker waits for all to be ready. Default: 60s.", valueName: "time", visibility: .hidden))
    package var startTimeout: String?

    @Option(
        help: ArgumentHelp(
            "When workers have not come by then: stop, or start without them. Default: stop.", valueName: "stop|start",
            visibility: .hidden))
    package var missing: String?

    @Option(
        help: ArgumentHelp(
            "A worker that has written nothing for so long is lost. Default: 30s.", valueName: "time",
            visibility: .hidden))
    package var lostAfter: String?

    /// Which worker this is; nil: the run has no others.
    package func rank() throws(HarnessError) -> WorkerRank? {
        guard let folder = rendezvous else {
            let given = [
                ("--worker", worker), ("--start-timeout", startTimeout), ("--missing", missing),
                ("--lost-after", lostAfter),
            ].first { $0.1 != nil }
            if let (name, value) = given {
                throw HarnessError("\(name) \(value ?? ""): goes with --rendezvous, the folder that all workers share")
            }
            return nil
        }
        guard !folder.isEmpty else { throw HarnessError("--rendezvous: expected the folder that all workers share") }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue {
            throw HarnessError("--rendezvous \(folder): it is no folder")
        }
        return try WorkerRank(worker, ProcessInfo.processInfo.environment)
    }

    package func options() throws(HarnessError) -> WorkerSession.Options {
        func time(_ name: String, _ text: String?, _ standard: UInt64) throws(HarnessError) -> UInt64 {
            guard let text else { return standard }
            guard let time = try? Units.duration(text), time >= 1_000_000_000, time <= 1_000_000_000_000_000 else {
                throw HarnessError("\(name) \(text): expected a time of 1s or more, such as 60s or 5m")
            }
            return time
        }
        if let missing, !["stop", "start"].contains(missing) {
            throw HarnessError("--missing \(missing): expected stop or start")
        }
        return .init(
            startTimeout: try time("--start-timeout", startTimeout, 60_000_000_000),
            startsWithoutMissing: missing == "start",
            lostAfter: try time("--lost-after", lostAfter, 30_000_000_000))
    }
}
