import Foundation
import Glibc

/// A folder for the time of a run, for what nobody else may read: keys, ledgers.
///
/// It is held by a lock that ends with the process, so that the next one finds what a process that was killed left behind,
/// and removes it.
final class ScratchFolder: Sendable {
    let path: String
    private let lock: Int32
    private static let prefix = "pushload-"
    private static let lockName = "lock"

    /// - Throws: when the system's temporary folder cannot be written.
    init() throws(HarnessError) {
        Self.removeAbandoned()
        let name = Self.prefix + UUID().uuidString
        path = Self.parent + "/" + name
        // Under another name until it is held: a run that starts at the same time would take it for one left behind.
        let unheld = Self.parent + "/." + name
        guard mkdir(unheld, 0o700) == 0 else {
            throw HarnessError("\(path): cannot be made: \(String(cString: strerror(errno)))", .failed)
        }
        lock = open("\(unheld)/\(Self.lockName)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, rename(unheld, path) == 0 else {
            throw HarnessError("\(path): cannot be locked: \(String(cString: strerror(errno)))", .failed)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        close(lock)
    }

    private static var parent: String {
        let path = FileManager.default.temporaryDirectory.path
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Removes this user's folders that no process holds.
    private static func removeAbandoned() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            let folder = "\(parent)/\(name)"
            var facts = stat()
            guard lstat(folder, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid() else {
                continue
            }
            // One without a lock is being made, or is no folder of ours.
            let lock = open("\(folder)/\(lockName)", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard lock >= 0 else { continue }
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: folder) }
            close(lock)
        }
    }
}
