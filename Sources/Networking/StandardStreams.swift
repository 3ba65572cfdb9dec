import Glibc
import Synchronization

/// What a program says on standard output and standard error, whatever they are: a terminal, a pipe that somebody closed,
/// a full disk, or nothing at all.
///
/// A stream that cannot be written ends no work: the rest of the output is dropped, and the exit status tells (`status`).
public enum StandardStreams {
    /// The first `errno` of standard output; 0: all is well.
    private static let failure = Atomic<Int32>(0)

    /// To be called first: a closed standard stream becomes /dev/null, so that no file or connection takes its number and
    /// gets what is printed; and writing to a pipe that was closed is an error, no reason to die.
    public static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            if descriptor == STDOUT_FILENO { failure.store(EBADF, ordering: .relaxed) }
            // The lowest free number is this one: those below are open by now.
            _ = open("/dev/null", O_RDWR)
        }
    }

    /// Writes to standard output, all of it, unless it has failed before.
    public static func output(_ text: String) {
        guard isOutputOpen else { return }
        let code = write(text, to: STDOUT_FILENO)
        if code != 0 { failure.store(code, ordering: .relaxed) }
    }

    /// Writes to standard error, if that can be.
    public static func error(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// Whether somebody may still read what is printed; who makes output without end stops when nobody does.
    public static var isOutputOpen: Bool { failure.load(ordering: .relaxed) == 0 }

    /// The status to exit with.
    ///
    /// - Parameters:
    ///   - own: what it would be had all been printed.
    ///   - program: for the one line on standard error when standard output cannot be written.
    /// - Returns: `own`, also where the reader of a pipe has gone; 74 (EX_IOERR) when standard output failed otherwise.
    public static func status(_ own: Int32, program: String) -> Int32 {
        let code = failure.load(ordering: .relaxed)
        guard code != 0, code != EPIPE else { return own }
        error("\(program): standard output cannot be written: \(systemErrorText(code))\n")
        return 74
    }

    /// - Returns: 0, or the `errno` of the write that failed.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let count = retryingInterrupts {
                    Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
                }
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    // Somebody made our end of a pipe or terminal non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Glibc.poll(&poll, 1, -1)
                } else {
                    return errno
                }
            }
            return 0
        }
    }
}
