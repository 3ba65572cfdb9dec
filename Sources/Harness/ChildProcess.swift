import Foundation
import Glibc
import Synchronization

/// A program as a child process, in a process group of its own (Foundation starts each so): Ctrl-C at the terminal is for this
/// process, which then ends the other in order.
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
    /// - Throws: what the system says when it cannot be run.
    init(_ path: String, _ arguments: [String], hasInput: Bool = false, sent: Data? = nil, keepsErrors: Bool = false)
        throws
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        let error = keepsErrors ? Pipe() : nil
        input = hasInput || sent != nil ? Pipe() : nil
        process.standardOutput = output
        if let error { process.standardError = error }
        if let input { process.standardInput = input } else { process.standardInput = FileHandle.nullDevice }
        let (ends, ending) = AsyncStream.makeStream(of: End.self)
        self.ends = ends
        let hasEnded = EndFlag()
        self.hasEnded = hasEnded
        process.terminationHandler = { ended in
            hasEnded.value.store(true, ordering: .relaxed)
            ending.yield(
                ended.terminationReason == .exit
                    ? .exited(ended.terminationStatus) : .signaled(ended.terminationStatus))
            ending.finish()
        }
        // The child takes over what this thread blocks, and threads of tasks block most signals.
        var (none, blocked) = (sigset_t(), sigset_t())
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        try process.run()
        pid = process.processIdentifier
        lines = Self.lines(of: output)
        errors = error.map(Self.lines)
        guard let sent, let writer = input?.fileHandleForWriting else { return }
        // One that does not read says in its own words why; SIGPIPE is ignored.
        try? writer.write(contentsOf: sent)
        try? writer.close()
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
