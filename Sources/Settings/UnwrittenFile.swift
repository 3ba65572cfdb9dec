import Glibc
import Synchronization

/// An open file as it was when it was opened, to see whether somebody has written into it since. The descriptor is its user's. What
/// is written through memory that was mapped, and written to, before is seen when the kernel notes it, which may be much later.
public final class UnwrittenFile: Sendable {
    private let descriptor: Int32
    private let path: String
    /// As it was, but for what was seen to change since; whether the path named it then, and whether it was written into.
    private let known: Mutex<(status: stat, isNamed: Bool, isWritten: Bool)>

    /// - Parameter path: by which it was opened.
    public init(_ descriptor: Int32, _ status: stat, path: String) {
        self.descriptor = descriptor
        self.path = path
        known = Mutex((status, true, false))
    }

    /// Nobody has written into it since; its path may name another one, it may have other names, another owner and another mode.
    public var isUnwritten: Bool {
        known.withLock { known in
            if !known.isWritten { known.isWritten = isWritten(&known.status, &known.isNamed) }
            return !known.isWritten
        }
    }

    /// - Parameters:
    ///   - before, wasNamed: what was known last; what is seen to change is known then.
    private func isWritten(_ before: inout stat, _ wasNamed: inout Bool) -> Bool {
        var now = stat()
        guard fstat(descriptor, &now) == 0, now.st_size == before.st_size, Self.isSame(now.st_mtim, before.st_mtim)
        else { return true }
        if Self.isSame(now.st_ctim, before.st_ctim) { return false }
        // The time of modification is what a program likes to say (`cp -p`, `touch -r`), that of change is the kernel's word; but it is
        // also that of other changes, which can be seen. What is changed back later is seen too, beside what was known last.
        let isNamed = Self.isStill(descriptor, at: path)
        guard
            now.st_nlink != before.st_nlink || now.st_mode != before.st_mode || now.st_uid != before.st_uid
                || now.st_gid != before.st_gid || isNamed != wasNamed || !isNamed
        else { return true }
        (before, wasNamed) = (now, isNamed)
        return false
    }

    /// Whether a path still names the file that a descriptor has open.
    public static func isStill(_ descriptor: Int32, at path: String) -> Bool {
        var open = stat()
        var named = stat()
        return fstat(descriptor, &open) == 0 && stat(path, &named) == 0 && open.st_ino == named.st_ino
            && open.st_dev == named.st_dev
    }

    private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }
}
