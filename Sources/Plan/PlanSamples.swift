import Flags
import Foundation
import Harness
import Results
import Settings

/// Measured runs from files.
enum PlanSamples {
    /// - Parameters:
    ///   - paths: result.json files, calibrations, or folders with any number of results below them.
    ///   - engine: only runs of this one, of which there must be some; nil: all.
    static func read(_ paths: [String], engine: String? = nil) throws(HarnessError) -> [CostSample] {
        let samples = try read(all: paths)
        guard let engine else { return samples }
        let own = samples.filter { $0.engine == engine }
        guard !own.isEmpty || samples.isEmpty else {
            throw HarnessError(
                "--engine \(engine): \(paths.joined(separator: ", ")) has only runs of \(Set(samples.map(\.engine)).sorted().joined(separator: ", ")); "
                    + "give runs of it, or leave --engine out")
        }
        return own
    }

    private static func read(all paths: [String]) throws(HarnessError) -> [CostSample] {
        var samples: [CostSample] = []
        var results: [String] = []
        var calibrations: Set<String> = []
        for path in paths {
            if try isCalibration(path) {
                guard calibrations.insert(FoundResults.place(path)).inserted else { continue }
                do throws(ResultError) { add(try PlanFile.readCalibration(path).samples, of: path, to: &samples) } catch
                {
                    throw HarnessError(error.description)
                }
            } else {
                results.append(path)
            }
        }
        if !results.isEmpty {
            let found = try FoundResults(results) {
                FoundResults.incomplete($0, "only whole runs say what a push costs") ?? CostSample.problem($0)
                    ?? CostSample($0, roundTrip: roundTrip($0)).implausible.map { "\($0): no run has such a number" }
            }
            found.tell()
            for run in found.runs {
                add([CostSample(run.result, roundTrip: roundTrip(run.result))], of: run.path, to: &samples)
            }
        }
        return samples
    }

    /// Runs that are there already count once, and are said to be.
    private static func add(_ new: [CostSample], of path: String, to samples: inout [CostSample]) {
        let known = Set(samples.map(\.run))
        let others = new.filter { !known.contains($0.run) }
        samples += others
        guard others.count < new.count else { return }
        Console.error(
            "\(path): left out \(Units.counted(new.count - others.count, "run")) that an earlier file has too")
    }

    private static func isCalibration(_ file: String) throws(HarnessError) -> Bool {
        guard FileManager.default.fileExists(atPath: file) else {
            throw HarnessError("\(file): no such file or folder; expected results or a calibration to plan with")
        }
        guard let bytes = try? ResultFile.contents(file, hint: ""),
            let schema = try? DocumentFile.schema(bytes, origin: file)
        else { return false }
        return schema.hasPrefix("pushload.calibration/")
    }

    static func roundTrip(_ result: ResultDocument) -> UInt64 {
        guard case .string(let text)? = result.scenario["rtt"] else { return 0 }
        return (try? Units.duration(text)) ?? 0
    }
}
