import Foundation
import Glibc
import Synchronization

/// A program as a child process, in a process group of its own: Ctrl-C at the terminal is for this process, which then ends the
/// other in order. Started by posix_spawn(3): Foundation's `Process` starts nothing while a descriptor is open whose number is
/// above the limit (`ulimit -n` under a shell or CI that keeps one open).
final class ChildProcess: Sendable {
    /// How it ended.
    enum End: Sendable {
        case exited(Int32)
        case signaled(Int32)

        /// Of a child that left no result: one that was killed is no mistake of what it was asked.
        var kind: HarnessError.Kind { if case .signaled = self { .failed } else { .usage } }
    }

    /// What it wrote on its standard output, line by line; ends when nobody can write there any more.
    let lines: AsyncStream<String>
    let pid: pid_t
    /// Of its standard error; nil: it writes where we do.
    private let errors: AsyncStream<String>?
    private let ends: AsyncStream<End>
    private let hasEnded: EndFlag
    /// The writing end of its standard input: it stays open as long as this object is kept.
    private let input: Pipe?

    private final class EndFlag: Sendable {
        let value = Atomic(false)
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - hasInput: it may wait for the end of its standard input, as for ours.
    ///   - sent: what it reads on its standard input, to its end.
    ///   - keepsErrors: its standard error is read here, not passed on.
    /// - Throws: `HarnessError` with what the system says when it cannot be run.
    init(_ path: String, _ arguments: [String], hasInput: Bool = false, sent: Data? = nil, keepsErrors: Bool = false)
        throws
    {
        let output = Pipe()
        let error = keepsErrors ? Pipe() : nil
        input = hasInput || sent != nil ? Pipe() : nil
        pid = try Self.spawn(
            path, arguments, input: input?.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, error: error?.fileHandleForWriting.fileDescriptor)
        // The child has its own: here its end of what it writes would never be seen.
        for end in [input?.fileHandleForReading, output.fileHandleForWriting, error?.fileHandleForWriting] {
            try? end?.close()
        }
        hasEnded = EndFlag()
        ends = Self.ends(of: pid, hasEnded)
        lines = Self.lines(of: output)
        errors = error.map(Self.lines)
        guard let sent, let writer = input?.fileHandleForWriting else { return }
        // One that does not read says in its own words why; SIGPIPE is ignored.
        try? writer.write(contentsOf: sent)
        try? writer.close()
    }

    /// - Parameters:
    ///   - input: nil: it reads nothing (/dev/null).
    ///   - error: nil: it has ours.
    private static func spawn(
        _ path: String, _ arguments: [String], input: Int32?, output: Int32, error: Int32?
    ) throws(HarnessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if let error { posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO) }
        // What else is open here is none of its business; not every library says O_CLOEXEC.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            if let other = Int32(name), other > STDERR_FILENO { posix_spawn_file_actions_addclose(&actions, other) }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child takes over what this thread blocks, and threads of tasks block most signals.
        var none = sigset_t()
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, &actions, &attributes, &words, &variables)
        guard status == 0 else { throw HarnessError(String(cString: strerror(status)), .failed) }
        return pid
    }

    /// Waited for by a thread of its own.
    private static func ends(of pid: pid_t, _ hasEnded: EndFlag) -> AsyncStream<End> {
        let (stream, ending) = AsyncStream.makeStream(of: End.self)
        let waiter = Thread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            // From here on its number may be another's.
            hasEnded.value.store(true, ordering: .relaxed)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            ending.yield(signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal))
            ending.finish()
        }
        waiter.name = "child end"
        waiter.stackSize = 1 << 20
        waiter.start()
        return stream
    }

    /// Does nothing once it has ended: its number may be another's then.
    func send(_ signal: Int32) {
        if !hasEnded.value.load(ordering: .relaxed) { kill(pid, signal) }
    }

    /// Waits for its end; to be called once.
    func end() async -> End {
        for await end in ends { return end }
        return .exited(-1)
    }

    /// All that it writes from here on, up to a megabyte of each, and how it ended.
    func output() async -> (end: End, output: String, error: String) {
        async let output = Self.text(of: lines)
        async let error = Self.text(of: errors)
        return await (end(), output, error)
    }

    private static func text(of lines: AsyncStream<String>?) async -> String {
        guard let lines else { return "" }
        var text = ""
        for await line in lines where text.utf8.count < 1 << 20 { text += line + "\n" }
        return text
    }

    /// Read by a thread of its own, which ends with the pipe.
    private static func lines(of pipe: Pipe) -> AsyncStream<String> {
        let (stream, lines) = AsyncStream.makeStream(of: String.self)
        let file = pipe.fileHandleForReading
        let reader = Thread {
            // Not by `FileHandle`, which waits for all that it is asked for.
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var rest: [UInt8] = []
            while true {
                let count = read(file.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                var unread = buffer[..<count]
                while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                    lines.yield(String(decoding: rest + unread[..<end], as: UTF8.self))
                    rest = []
                    unread = unread[(end + 1)...]
                }
                rest += unread
            }
            if !rest.isEmpty { lines.yield(String(decoding: rest, as: UTF8.self)) }
            lines.finish()
        }
        reader.name = "child output"
        reader.start()
        return stream
    }
}
