import Foundation
import Glibc
import Harness
import Results
import Scenarios
import Settings

/// The folder of a sweep: `sweep.json`, the plan, and a folder for each run with an ordinary `result.json`, or with
/// `failure.json` where there is none.
struct SweepStore: Sendable {
    /// What is kept of a run.
    enum Kept: Sendable {
        case result(ResultDocument)
        case failure(String)
    }

    let folder: String

    static let planName = "sweep.json"
    private static let own: Set<String> = [planName, "outcome.json", "points.csv"]

    private init(folder: String) { self.folder = folder }

    /// The plan of an interrupted sweep.
    static func plan(in folder: String) throws(HarnessError) -> SweepPlan {
        let path = "\(folder)/\(planName)"
        guard let data = FileManager.default.contents(atPath: path) else {
            throw HarnessError("cannot read \(path); expected the folder of a sweep")
        }
        do throws(SettingsError) { return try SweepPlanFile.decode(Array(data), origin: path) } catch {
            throw HarnessError(error.description)
        }
    }

    /// Takes a new or empty folder, or one with the same sweep in it.
    ///
    /// - Throws: when something else lies there; nothing is changed then.
    static func open(_ folder: String, _ plan: SweepPlan) throws(HarnessError) -> SweepStore {
        let store = SweepStore(folder: folder)
        let there = (try? FileManager.default.contentsOfDirectory(atPath: folder))?.filter { !$0.hasSuffix(".partial") }
        if there?.contains(planName) == true {
            if let difference = plan.difference(from: try Self.plan(in: folder)) {
                throw HarnessError("\(folder): another sweep is there already (\(difference)); give another folder")
            }
            return store
        }
        if let first = there?.sorted().first {
            throw HarnessError("\(folder): not empty (\(first)), and no \(planName) is there; give another folder")
        }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw HarnessError("cannot make the folder \(folder): \(FileObstacle.text(folder, isFolder: true))")
        }
        let bytes: [UInt8]
        do throws(SettingsError) { bytes = try SweepPlanFile.encode(plan) } catch {
            throw HarnessError(error.description)
        }
        do throws(ResultError) { try ResultFile.write(bytes, to: "\(folder)/\(planName)") } catch {
            // Nothing is left of a folder that was made for it.
            if there == nil { rmdir(folder) }
            throw HarnessError(error.description, .unwritable)
        }
        return store
    }

    /// What lies in the folder and is nothing of the sweep's.
    ///
    /// - Parameter runs: the folders its runs may have.
    func strangers(besides runs: Set<String>) -> [String] {
        let there = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return there.filter { !Self.own.contains($0) && !runs.contains($0) && !$0.hasSuffix(".partial") }.sorted()
    }

    /// What is there of a run; nil when it is to be made. A file that cannot be used is moved aside, not deleted.
    ///
    /// - Parameter warning: told what was moved aside.
    /// - Throws: when it is a run of other settings, or of another version of pushload.
    func read(
        _ run: String, version: String, settings: [String: JSONValue], warning: (String) -> Void
    ) throws(HarnessError) -> Kept? {
        let path = "\(folder)/\(run)/result.json"
        if FileManager.default.fileExists(atPath: path) {
            var result: ResultDocument?
            var problem = "\(path): the run was interrupted"
            do throws(ResultError) { result = try ResultFile.read(path) } catch { problem = error.description }
            if let result, !result.run.interrupted {
                try check(result.scenario, settings, path)
                let made = result.environment.versions["pushload"]
                guard made == nil || made == version else {
                    throw HarnessError(
                        "\(path): a run of version \(made ?? ""), the sweep is of \(version); the runs of two versions do not go "
                            + "together, move it away")
                }
                return .result(result)
            }
            warning(try moveAside(path, problem))
        }
        let failure = "\(folder)/\(run)/failure.json"
        guard let data = FileManager.default.contents(atPath: failure) else { return nil }
        let kept: SweepFiles.Failure
        do throws(ResultError) { kept = try SweepFiles.decodeFailure(Array(data), origin: failure) } catch {
            warning(try moveAside(failure, error.description))
            return nil
        }
        try check(kept.scenario, settings, failure)
        return .failure(kept.reason)
    }

    private func check(
        _ found: [String: JSONValue], _ expected: [String: JSONValue], _ path: String
    ) throws(HarnessError) {
        let keys = Set(found.keys).union(expected.keys).sorted()
        guard let key = keys.first(where: { found[$0] != expected[$0] }) else { return }
        func text(_ settings: [String: JSONValue]) -> String { settings[key]?.description ?? "nothing" }
        throw HarnessError(
            "\(path): a run of other settings (\(key): \(text(found)) instead of \(text(expected))); it is not of this sweep, "
                + "move it away")
    }

    private func moveAside(_ path: String, _ what: String) throws(HarnessError) -> String {
        for number in 1...10_000 {
            let target = path + (number == 1 ? ".damaged" : ".damaged-\(number)")
            if FileManager.default.fileExists(atPath: target) { continue }
            guard rename(path, target) == 0 else { break }
            return "\(what); kept as \((target as NSString).lastPathComponent), the run is made again"
        }
        throw HarnessError("\(what); it cannot be moved aside", .unwritable)
    }

    func write(_ result: ResultDocument, of run: String) throws(HarnessError) {
        try write(run, "result.json") { () throws(ResultError) in try ResultFile.encode(result) }
    }

    /// - Parameter settings: of the run that failed.
    func write(failure reason: String, settings: [String: JSONValue], of run: String) throws(HarnessError) {
        try write(run, "failure.json") { () throws(ResultError) in
            try SweepFiles.encode(.init(scenario: settings, reason: reason))
        }
    }

    /// Something about the whole sweep.
    func write(_ bytes: [UInt8], named name: String) throws(HarnessError) {
        do throws(ResultError) { try ResultFile.write(bytes, to: "\(folder)/\(name)") } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }

    private func write(
        _ run: String, _ name: String, _ bytes: () throws(ResultError) -> [UInt8]
    ) throws(HarnessError) {
        let path = "\(folder)/\(run)"
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw HarnessError("cannot make the folder \(path): \(String(cString: strerror(errno)))", .unwritable)
        }
        do throws(ResultError) { try ResultFile.write(try bytes(), to: "\(path)/\(name)") } catch {
            throw HarnessError(error.description, .unwritable)
        }
    }
}
