import Glibc

/// The few system calls that files are written with, each until it is done.
enum FileIO {
    /// What the last failed call says.
    static var reason: String { String(cString: strerror(errno)) }

    /// Writes all of it at the descriptor's place; false with `errno` set when it could not.
    static func writeAll(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var done = 0
        while done < bytes.count {
            // A single call takes at most 2 GiB.
            let written = write(descriptor, base + done, min(bytes.count - done, 1 << 30))
            if written < 0 {
                if errno == EINTR { continue }
                return false
            }
            done += written
        }
        return true
    }

    /// The folder that a file is in, as it can be opened: `.` for a bare name.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A file's name without its folder.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Makes a new name in a folder last through a power cut. Where folders cannot be synced nothing is done.
    static func syncFolder(of path: String) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
