import Glibc

/// An open file as it was when it was opened, to see whether somebody has written into it since. The descriptor is its user's.
public struct UnwrittenFile: Sendable {
    private let descriptor: Int32
    private let first: stat

    public init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        first = status
    }

    /// Nobody has written into it since; its path may name another one.
    public var isUnwritten: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == first.st_size, status.st_ino == first.st_ino else {
            return false
        }
        // By the kernel's word: the time of modification is what a program likes to say (`cp -p`).
        if Self.isSame(status.st_ctim, first.st_ctim) { return true }
        // A name that it loses, as when another takes its place, or gets, is a change too, but not of what is in it.
        return status.st_nlink != first.st_nlink && Self.isSame(status.st_mtim, first.st_mtim)
    }

    private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }
}
