import Foundation
import Glibc
import Settings

/// Files that are written whole or not at all.
enum WholeFile {
    /// Writes beside it first, then renames; to what is no regular file, such as /dev/stdout, straight. A pipe that nobody reads is not
    /// waited for.
    static func write(_ text: String, to path: String) throws(Misuse) {
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        if isSpecial {
            let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            func fail() -> Misuse { Misuse("cannot write \(path): \(String(cString: strerror(errno)))") }
            guard file >= 0, fcntl(file, F_SETFL, 0) >= 0 else { throw fail() }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            do { try handle.write(contentsOf: Data(text.utf8)) } catch { throw fail() }
            return
        }
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            throw Misuse("cannot write \(path): \(FileObstacle.text(path, isFolder: false))")
        }
    }
}
