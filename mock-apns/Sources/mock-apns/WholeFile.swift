import Foundation
import Glibc
import Settings

/// Files that are written whole or not at all.
enum WholeFile {
    /// Writes beside it first, then renames; to what is no regular file, such as /dev/stdout, straight.
    static func write(_ text: String, to path: String) throws(Misuse) {
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: isSpecial ? [] : .atomic) } catch {
            throw Misuse("cannot write \(path): \(FileObstacle.text(path, isFolder: false))")
        }
    }
}
