import Foundation
import Glibc
import Harness
import Results

/// New folders for results, named after their time.
enum RunFolder {
    /// `<parent>/20261121T045959Z-<name>`.
    static func make(in parent: String, name: String) throws(HarnessError) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.count <= 100
            && name.utf8.allSatisfy {
                ($0 >= 48 && $0 <= 57) || ($0 >= 65 && $0 <= 90) || ($0 >= 97 && $0 <= 122) || $0 == 45 || $0 == 46
                    || $0 == 95
            }
        guard isPlain, !name.hasPrefix(".") else {
            throw HarnessError("name \"\(name)\": expected letters, digits, '-', '_' and '.'")
        }
        var time = time(nil)
        var parts = tm()
        gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        let stamp = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        do throws(ResultError) { return try ResultFile.makeRunFolder(parent: parent, time: stamp, name: name) } catch {
            throw HarnessError(error.description)
        }
    }
}
