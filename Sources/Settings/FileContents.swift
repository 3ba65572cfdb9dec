import Foundation
import Synchronization

/// Files a user names, whole, with one line when they cannot be read.
public enum FileContents {
    /// - Parameter what: what it should be, for the message: "fault file"; its name alone says so where there is none.
    /// - Throws: `cannot read the fault file x.yaml: No such file or directory`, `the fault file x is no regular file or pipe`, `… is
    ///   larger than 16 MiB`, `nobody has opened the pipe x for writing in 5 s`
    public static func bytes(_ path: String, _ what: String? = nil, limit: Int) throws(SettingsError) -> Data {
        try bytes(path, what, limit: limit, orPipe: true)
    }

    /// The same for text.
    ///
    /// - Parameters:
    ///   - limit: how many bytes a file may have whose name a stranger can choose. It has to be a regular one then: a pipe or a device
    ///     could be waited for.
    ///   - orPipe: its user names it; a pipe is as good.
    /// - Throws: also `the latency file /dev/zero is no regular file`, `the latency file x.hgrm is larger than 16 MiB`
    public static func text(_ path: String, _ what: String, limit: Int? = nil, orPipe: Bool = false)
        throws(SettingsError) -> String
    {
        try text(try bytes(path, what, limit: limit, orPipe: orPipe), file: path)
    }

    private static func bytes(
        _ path: String, _ what: String?, limit: Int?, orPipe: Bool
    ) throws(SettingsError) -> Data {
        let named = what.map { "the \($0) \(path)" } ?? path
        func fail() -> SettingsError { SettingsError("cannot read \(named): \(String(cString: strerror(errno)))") }
        // Opening a pipe would wait for who writes into it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw fail() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw fail() }
        let kind = status.st_mode & S_IFMT
        if limit != nil {
            if kind == S_IFDIR {
                errno = EISDIR
                throw fail()
            }
            guard kind == S_IFREG || orPipe && kind == S_IFIFO else {
                throw SettingsError("\(named) is no regular file\(orPipe ? " or pipe" : "")")
            }
        }
        guard kind == S_IFIFO else {
            _ = fcntl(descriptor, F_SETFL, 0)
            return try rest(descriptor, Data(), named, limit, fail)
        }
        let pipe = Pipe(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        if let known = pipes.withLock({ $0[pipe] }) { return try known.get() }
        let read = Result { () throws(SettingsError) in
            var data = Data()
            guard awaitWriter(descriptor, &data) else {
                throw SettingsError("nobody has opened the pipe \(path) for writing in \(patience) s")
            }
            _ = fcntl(descriptor, F_SETFL, 0)
            return try rest(descriptor, data, named, limit, fail)
        }
        // Open for nothing, so that no other pipe gets its number.
        if (try? read.get().count > mostKept) != true, open("/proc/self/fd/\(descriptor)", pathOnly | O_CLOEXEC) >= 0 {
            pipes.withLock { $0[pipe] = read }
        }
        return try read.get()
    }

    private static func rest(
        _ descriptor: Int32, _ first: Data, _ named: String, _ limit: Int?, _ fail: () -> SettingsError
    ) throws(SettingsError) -> Data {
        var data = first
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw fail() }
            if count == 0 { return data }
            data.append(contentsOf: chunk[..<count])
            if let limit, data.count > limit {
                throw SettingsError("\(named) is larger than \(limit >> 20) MiB")
            }
        }
    }

    /// Seconds that a pipe may be without anyone who has it open for writing.
    private static let patience = 5
    /// `O_PATH` of open(2), which Swift's Glibc leaves out.
    private static let pathOnly: Int32 = 0o10_000_000
    /// Bytes of a pipe that are kept: more than what is read twice ever has.
    private static let mostKept = 16 << 20
    /// What pipes held that a user has named, or why there was nothing: who looks again, for the place of a mistake or for the next run
    /// of a series, finds nobody there.
    private static let pipes = Mutex<[Pipe: Result<Data, SettingsError>]>([:])

    private struct Pipe: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// Whether somebody has the pipe open for writing, or had, within a little while. What has come until then is added to `data`.
    private static func awaitWriter(_ pipe: Int32, _ data: inout Data) -> Bool {
        for _ in 0..<(patience * 100) {
            var byte: UInt8 = 0
            // Without a writer the end is what comes; with one, nothing to read yet (EAGAIN).
            let count = read(pipe, &byte, 1)
            if count > 0 { data.append(byte) }
            var state = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            if count != 0 || poll(&state, 1, 0) > 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// The text without the byte order mark that it may begin with.
    ///
    /// - Throws: `file:line: not text in UTF-8`
    public static func text(_ bytes: some Collection<UInt8>, file: String) throws(SettingsError) -> String {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let number = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw SettingsError("\(file):\(number + 1): not text in UTF-8")
    }
}
