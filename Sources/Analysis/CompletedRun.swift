import Foundation
import Results
import Settings

/// A run of several workers that has ended, as its folder has it.
package struct CompletedRun: Sendable {
    /// Why it cannot be used, one line.
    package struct Failure: Error, CustomStringConvertible, Sendable {
        package let description: String
    }

    package let path: String
    /// The run's id.
    package let run: UInt64
    /// How many there were to be.
    package let workers: Int
    /// What was merged of the workers' results.
    package let result: ResultDocument
    package var resultPath: String { path + "/result.json" }

    /// More are not believed of a file.
    private static let mostWorkers = 65_536

    package init(_ path: String) throws(Failure) {
        self.path = path
        let file = path + "/run.json"
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw Failure(description: "\(path): not a rendezvous folder: there is no run.json")
        }
        guard let object = try? JSONDecoder().decode([String: JSONValue].self, from: bytes) else {
            throw Failure(description: "\(file): not complete JSON; the file is truncated or damaged")
        }
        guard case .string(let id)? = object["id"], id.utf8.count == 16, id.allSatisfy(\.isHexDigit),
            let run = UInt64(id, radix: 16)
        else { throw Failure(description: "\(file): \"id\" is missing or not 16 hexadecimal digits") }
        guard case .integer(let number)? = object["workers"], (1...Self.mostWorkers).contains(Int(clamping: number))
        else {
            throw Failure(description: "\(file): \"workers\" is missing or not 1 to \(Self.mostWorkers)")
        }
        (self.run, workers) = (run, Int(clamping: number))
        do throws(ResultError) {
            result = try ResultFile.read(path + "/result.json")
        } catch { throw Failure(description: error.description) }
        // One without some of its workers is partial, and has ended all the same.
        guard !result.isPartial || FileManager.default.fileExists(atPath: path + "/end.json") else {
            throw Failure(description: "\(resultPath): the run has not ended; its workers' books are not complete")
        }
    }

    /// A worker's own file; nil: it left none.
    func file(_ name: String, of worker: Int) -> String? {
        let file = "\(path)/worker-\(worker)/\(name)"
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }

    /// Numbers of the run's pushes are below it: worker I has every N-th from I on.
    var pushLimit: UInt64 {
        let most =
            (0..<workers).compactMap { file("result.json", of: $0) }
            .compactMap { try? ResultFile.read($0) }.map(\.pushes.planned).max() ?? 0
        let limit = most.multipliedReportingOverflow(by: UInt64(workers))
        return min(max(limit.overflow ? .max : limit.partialValue, result.pushes.planned, 1), Self.mostPushes)
    }

    /// What `mock-apns --ledger-capacity` can be.
    private static let mostPushes: UInt64 = 1 << 40
}
