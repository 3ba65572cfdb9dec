import Glibc
import Settings

/// What tells one state of a file from another.
struct FileFingerprint: Equatable {
    let size: UInt64
    /// Last change, UNIX time, by the kernel's word (`st_ctim`): the time of modification is what a program likes to say (`cp -p`).
    let seconds: Int64
    let nanoseconds: Int64
    let inode: UInt64

    init(_ status: stat) {
        size = UInt64(max(0, status.st_size))
        seconds = Int64(status.st_ctim.tv_sec)
        nanoseconds = Int64(status.st_ctim.tv_nsec)
        inode = UInt64(status.st_ino)
    }
}

/// A file of a user, mapped read-only. Who cuts it short in place meanwhile ends this process (`MappedFaults`); replacing it by a
/// rename is safe.
final class MappedFile: @unchecked Sendable {
    let path: String
    let base: UnsafePointer<UInt8>
    let size: Int
    /// When it was opened.
    let fingerprint: FileFingerprint
    private let state: UnwrittenFile
    private let descriptor: Int32
    /// Where bytes are is kept in 40 bits.
    static let largest = 1 << 40

    /// - Parameter what: what it should be, for the message.
    /// - Throws: one line naming the file.
    init(_ path: String, _ what: String) throws(AudienceError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw AudienceError("cannot read the \(what) \(path): \(FileIO.reason)") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw AudienceError("\(path): not a regular file; expected a \(what)")
        }
        guard status.st_size > 0 else {
            close(descriptor)
            throw AudienceError("\(path): the file is empty; expected a \(what)")
        }
        guard status.st_size <= Self.largest else {
            close(descriptor)
            throw AudienceError("\(path): larger than 1 TiB")
        }
        guard let mapping = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED
        else {
            close(descriptor)
            throw AudienceError("cannot map \(path): \(FileIO.reason)")
        }
        self.descriptor = descriptor
        size = status.st_size
        base = UnsafePointer(mapping.assumingMemoryBound(to: UInt8.self))
        fingerprint = FileFingerprint(status)
        state = UnwrittenFile(descriptor, status, path: path)
        MappedFaults.add(UnsafeRawBufferPointer(start: mapping, count: size), path)
    }

    deinit {
        MappedFaults.remove(UnsafeRawBufferPointer(start: base, count: size))
        munmap(UnsafeMutableRawPointer(mutating: base), size)
        close(descriptor)
    }

    /// Whether neither the mapped file nor what its path names has changed since.
    var isUnchanged: Bool { isUnwritten && UnwrittenFile.isStill(descriptor, at: path) }

    /// Nobody has written into it since; its path may name another one.
    var isUnwritten: Bool { state.isUnwritten }

    /// Permission bits, for what takes its place.
    var mode: mode_t {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o644
    }

    /// Gives another file the owner and the mode of this one.
    ///
    /// - Returns: false with `errno` set.
    func giveOwner(_ other: Int32) -> Bool {
        var (status, now) = (stat(), stat())
        guard fstat(descriptor, &status) == 0, fstat(other, &now) == 0 else { return false }
        let isOwned = status.st_uid == now.st_uid && status.st_gid == now.st_gid
        return (isOwned || fchown(other, status.st_uid, status.st_gid) == 0)
            && fchmod(other, status.st_mode & 0o777) == 0
    }

    /// What was read once need not stay in this process' memory; looked at again, it comes from the kernel's.
    func leave(before offset: Int) {
        let whole = offset & ~0xFFFF
        if whole > 0 { madvise(UnsafeMutableRawPointer(mutating: base), whole, MADV_DONTNEED) }
    }

    /// Waits until a later change would show in the time of change, which the kernel counts in ticks of up to 10 ms: at most 20 ms.
    func settle() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age =
            (Int64(now.tv_sec) &- fingerprint.seconds) &* 1_000_000_000 &+ Int64(now.tv_nsec)
            &- fingerprint.nanoseconds
        if (0..<20_000_000).contains(age) { usleep(UInt32((20_000_000 - age) / 1000 + 1)) }
    }
}
