import Foundation
import Harness
import Results
import Settings

/// Measured runs from files.
enum PlanSamples {
    /// - Parameter paths: result.json files, calibrations, or folders with any number of results below them.
    static func read(_ paths: [String]) throws(HarnessError) -> [CostSample] {
        var samples: [CostSample] = []
        var seen: Set<String> = []
        for path in paths {
            for file in try files(path) {
                for sample in try read(file) where seen.insert(sample.run).inserted { samples.append(sample) }
            }
        }
        return samples
    }

    private static func files(_ path: String) throws(HarnessError) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw HarnessError("\(path): no such file or folder; expected results or a calibration to plan with")
        }
        guard isFolder.boolValue else { return [path] }
        let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        let files = below.filter { $0 == "result.json" || $0.hasSuffix("/result.json") }.sorted().map {
            "\(path)/\($0)"
        }
        guard !files.isEmpty else { throw HarnessError("\(path): no result found") }
        return files
    }

    private static func read(_ file: String) throws(HarnessError) -> [CostSample] {
        let result: ResultDocument
        do throws(ResultError) {
            if isCalibration(file) { return try PlanFile.readCalibration(file).samples }
            result = try ResultFile.read(file)
        } catch { throw HarnessError(error.description) }
        guard result.run.complete, !result.run.interrupted else {
            throw HarnessError(
                "\(file): the run \(result.run.interrupted ? "was interrupted" : "is incomplete"); "
                    + "only whole runs say what a push costs")
        }
        return [CostSample(result, roundTrip: roundTrip(result))]
    }

    private static func isCalibration(_ file: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: file),
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return false }
        return (object["schema"] as? String)?.hasPrefix("pushload.calibration/") == true
    }

    static func roundTrip(_ result: ResultDocument) -> UInt64 {
        guard case .text(let text)? = result.scenario["rtt"] else { return 0 }
        return (try? Units.duration(text)) ?? 0
    }
}
