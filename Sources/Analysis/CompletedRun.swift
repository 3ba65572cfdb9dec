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

    /// More are not believed of a file.
    private static let mostWorkers = 65_536
    private static let mostBytes = 1 << 26

    package init(_ path: String) throws(Failure) {
        self.path = path
        let file = path + "/run.json"
        guard FileManager.default.fileExists(atPath: file) else {
            throw Failure(description: "\(path): not a rendezvous folder: there is no run.json")
        }
        let text: String
        do throws(SettingsError) {
            text = try FileContents.text(file, "head of the run", limit: Self.mostBytes)
        } catch { throw Failure(description: error.description) }
        guard let object = try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8)) else {
            throw Failure(description: "\(file): \(UnreadableJSON.why(text.utf8))")
        }
        guard case .string(let id)? = object["id"], id.utf8.count == 16, id.allSatisfy(\.isHexDigit),
            let run = UInt64(id, radix: 16)
        else { throw Failure(description: "\(file): \"id\" is missing or not 16 hexadecimal digits") }
        guard case .integer(let number)? = object["workers"], (1...Self.mostWorkers).contains(Int(clamping: number))
        else {
            throw Failure(description: "\(file): \"workers\" is missing or not 1 to \(Self.mostWorkers)")
        }
        (self.run, workers) = (run, Int(clamping: number))
    }

    /// A worker's own file; nil: it left none.
    func file(_ name: String, of worker: Int) -> String? {
        let file = "\(path)/worker-\(worker)/\(name)"
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }

    /// Numbers of the run's pushes are below it: worker I has every N-th from I on.
    ///
    /// - Parameter result: what was merged of the workers' results.
    func pushLimit(_ result: ResultDocument) -> UInt64 {
        var limit = result.pushes.planned
        for worker in 0..<workers {
            let planned = file("result.json", of: worker).flatMap { try? ResultFile.read($0) }?.pushes.planned ?? 0
            let all = planned.multipliedReportingOverflow(by: UInt64(workers))
            limit = max(limit, all.overflow ? .max : all.partialValue)
            if let reach = WorkerReach(folder: "\(path)/worker-\(worker)", sent: planned) {
                limit = max(limit, reach.limit(workers: workers))
            }
        }
        return min(max(limit, 1), Self.mostPushes)
    }

    /// What `mock-apns --ledger-capacity` can be.
    private static let mostPushes: UInt64 = 1 << 40
}
