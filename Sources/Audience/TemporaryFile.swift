import Glibc
import Settings

/// A file that takes another's place once it is whole: `PATH.PID-NUMBER.writing` beside it, held by flock while its writer lives.
///
/// A killed writer leaves only this file. `removeLeftovers` removes it: a name of this form whose lock nobody holds.
final class TemporaryFile {
    let descriptor: Int32
    private let path: String
    private let target: String
    private var isThere = true
    static let ending = ".writing"

    /// - Returns: nil with `errno` set when the folder cannot be written to.
    init?(for target: String, mode: mode_t = 0o644) {
        guard let made = Self.make(target, mode) else { return nil }
        self.target = target
        (descriptor, path) = made
    }

    private static func make(_ target: String, _ mode: mode_t) -> (Int32, String)? {
        for _ in 0..<16 {
            let name = "\(target).\(getpid())-\(UInt32.random(in: 0...UInt32.max))\(ending)"
            let made = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            if made < 0 {
                if errno == EEXIST || errno == EINTR { continue }
                return nil
            }
            // Between the two calls somebody may have taken it for a leftover.
            if flock(made, LOCK_EX | LOCK_NB) == 0, UnwrittenFile.isStill(made, at: name) { return (made, name) }
            close(made)
        }
        errno = EBUSY
        return nil
    }

    /// Puts it in the target's place, on disk.
    ///
    /// - Returns: false with `errno` set; the target is then as it was.
    func replaceTarget() -> Bool {
        guard fsync(descriptor) == 0, rename(path, target) == 0 else { return false }
        isThere = false
        FileIO.syncFolder(of: target)
        return true
    }

    deinit {
        if isThere { unlink(path) }
        close(descriptor)
    }

    /// Removes what killed writers of `target` left; returns how many files that were.
    @discardableResult
    static func removeLeftovers(of target: String) -> Int {
        let folder = FileIO.folder(of: target)
        guard let listing = opendir(folder) else { return 0 }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if isOurs(name, of: FileIO.name(of: target)) { names.append(name) }
        }
        return names.count { remove("\(folder)/\($0)") }
    }

    /// `NAME.PID-NUMBER.writing`
    private static func isOurs(_ name: String, of target: String) -> Bool {
        guard name.hasPrefix(target + "."), name.hasSuffix(ending),
            name.utf8.count > target.utf8.count + 1 + ending.utf8.count
        else { return false }
        let parts = name.dropFirst(target.count + 1).dropLast(ending.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }
    }

    private static func remove(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            flock(descriptor, LOCK_EX | LOCK_NB) == 0, UnwrittenFile.isStill(descriptor, at: path)
        else { return false }
        return unlink(path) == 0
    }
}
