import Analysis
import Foundation
import Harness
import Results
import Settings

/// Measured runs from files.
enum PlanSamples {
    /// - Parameter paths: result.json files, calibrations, or folders with any number of results below them.
    static func read(_ paths: [String]) throws(HarnessError) -> [CostSample] {
        var samples: [CostSample] = []
        var results: [String] = []
        var calibrations: Set<String> = []
        for path in paths {
            if try isCalibration(path) {
                guard calibrations.insert(path).inserted else { continue }
                do throws(ResultError) { samples += try PlanFile.readCalibration(path).samples } catch {
                    throw HarnessError(error.description)
                }
            } else {
                results.append(path)
            }
        }
        if !results.isEmpty {
            let found = try FoundResults(results) {
                FoundResults.incomplete($0, "only whole runs say what a push costs") ?? CostSample.problem($0)
            }
            found.tell()
            samples += found.runs.map { CostSample($0.result, roundTrip: roundTrip($0.result)) }
        }
        return samples
    }

    private static func isCalibration(_ file: String) throws(HarnessError) -> Bool {
        guard FileManager.default.fileExists(atPath: file) else {
            throw HarnessError("\(file): no such file or folder; expected results or a calibration to plan with")
        }
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
