import Glibc

/// An open file as it was when it was opened, to see whether somebody has written into it since. The descriptor is its user's. What
/// is written through memory that was mapped, and written to, before is seen when the kernel notes it, which may be much later.
public struct UnwrittenFile: Sendable {
    private let descriptor: Int32
    private let path: String
    private let first: stat

    /// - Parameter path: by which it was opened.
    public init(_ descriptor: Int32, _ status: stat, path: String) {
        self.descriptor = descriptor
        self.path = path
        first = status
    }

    /// Nobody has written into it since; its path may name another one, it may have other names, another owner and another mode.
    public var isUnwritten: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == first.st_size,
            Self.isSame(status.st_mtim, first.st_mtim)
        else { return false }
        // The time of modification is what a program likes to say (`cp -p`, `touch -r`), that of change is the kernel's word; but it is
        // also that of other changes, which can be seen.
        return Self.isSame(status.st_ctim, first.st_ctim) || status.st_nlink != first.st_nlink
            || status.st_mode != first.st_mode || status.st_uid != first.st_uid || status.st_gid != first.st_gid
            || !Self.isStill(descriptor, at: path)
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
