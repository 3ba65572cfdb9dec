import Foundation
import Glibc
import Harness
import Results
import Settings

/// A new folder for a result, named after its time.
package struct RunFolder {
    package let path: String
    /// Folders above it that were not there before, the innermost first.
    private let made: [String]

    /// Makes `<parent>/20261121T045959Z-<name>`.
    ///
    /// - Throws: one line: a name or a parent that is none, or what stands in the way.
    package init(in parent: String, name: String) throws(HarnessError) {
        let isPlain =
            !name.isEmpty && name.utf8.count <= 100
            && name.utf8.allSatisfy {
                ($0 >= 48 && $0 <= 57) || ($0 >= 65 && $0 <= 90) || ($0 >= 97 && $0 <= 122) || $0 == 45 || $0 == 46
                    || $0 == 95
            }
        guard isPlain, !name.hasPrefix(".") else {
            throw HarnessError("name \"\(name)\": expected letters, digits, '-', '_' and '.'")
        }
        guard !parent.isEmpty else { throw HarnessError("output: expected a folder, such as results") }
        // What was meant to be one file would be a folder of that name.
        let looksLikeFile = ["json", "html", "md", "txt"].contains(URL(fileURLWithPath: parent).pathExtension)
        guard !looksLikeFile || FileManager.default.fileExists(atPath: parent) else {
            throw HarnessError("output \(parent): expected a folder, in which each run makes one for its result.json")
        }
        var time = time(nil)
        var parts = tm()
        gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        let stamp = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let made = Self.missing(parent)
        do throws(ResultError) { path = try ResultFile.makeRunFolder(parent: parent, time: stamp, name: name) } catch {
            for folder in made { rmdir(folder) }
            throw HarnessError(error.description)
        }
        self.made = made
        MappedFaults.leave(path)
    }

    /// Removes it, and what was made for it, unless something is in there.
    package func removeIfEmpty() {
        for folder in [path] + made { rmdir(folder) }
    }

    private static func missing(_ path: String) -> [String] {
        var missing: [String] = []
        var folder = URL(fileURLWithPath: path).standardizedFileURL
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path) {
            missing.append(folder.path)
            folder.deleteLastPathComponent()
        }
        return missing
    }
}
