import Foundation
import Harness

/// Result files that people name by themselves or by a folder.
enum ResultPaths {
    /// The file itself, or every result.json below the folder, in order of their paths.
    static func below(_ path: String) throws(HarnessError) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw HarnessError("\(path): no such file or folder; expected a result.json or a folder of runs")
        }
        guard isFolder.boolValue else { return [path] }
        let below = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return below.filter { $0 == "result.json" || $0.hasSuffix("/result.json") }.sorted()
            .map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
    }
}
