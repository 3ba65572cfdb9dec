import Glibc

/// Writes made-up registrations: threads make chunks of rows side by side, each in its own buffer, and write them in
/// turn. The bytes are the same however many threads there are.
package enum SyntheticWriter {
    /// Rows of a chunk at most; about 2 MB.
    private static let rowsPerChunk = 8192
    /// Bytes that the buffer of a thread has at most, unless 16 rows need more.
    private static let buffer = 64 << 20

    /// Writes a file, which takes its place when it is whole; before that nothing is there, or what was.
    ///
    /// - Parameters:
    ///   - path: `-`: standard output. A file's ending has nothing to say here, the registrations know their format.
    ///   - threads: 1 to 64.
    ///   - isStopped: asked after each chunk; true ends it, with an error.
    ///   - progress: called with the rows written so far, by any of the threads, one at a time.
    /// - Throws: one line; of a file nothing is left then. SIGPIPE must be ignored, as `StandardStreams.prepare` does.
    package static func write(
        _ registrations: SyntheticRegistrations, to path: String, threads: Int = 2,
        isStopped: (@Sendable () -> Bool)? = nil, progress: (@Sendable (_ rows: UInt64) -> Void)? = nil
    ) throws(AudienceError) {
        if path == "-" {
            let code = write(registrations, descriptor: STDOUT_FILENO, threads: threads, progress: progress)
            guard code == 0 else {
                let reason = code == EPIPE ? "nobody reads it any more" : String(cString: strerror(code))
                throw AudienceError("standard output cannot be written: \(reason)")
            }
            return
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw AudienceError("cannot write \(path): it is there and no regular file")
        }
        TemporaryFile.removeLeftovers(of: path)
        guard let file = TemporaryFile(for: path) else { throw AudienceError("cannot write \(path): \(FileIO.reason)") }
        let code = write(
            registrations, descriptor: file.descriptor, threads: threads, isStopped: isStopped, progress: progress)
        guard code == 0 else {
            throw AudienceError("cannot write \(path): \(String(cString: strerror(code))); nothing of it was kept")
        }
        guard file.replaceTarget() else {
            throw AudienceError("cannot write \(path): \(FileIO.reason); nothing of it was kept")
        }
    }

    /// Writes to standard output.
    ///
    /// - Returns: 0, or the `errno` of the write that failed: EPIPE where nobody reads it any more.
    package static func writeOutput(_ registrations: SyntheticRegistrations, threads: Int = 2) -> Int32 {
        write(registrations, descriptor: STDOUT_FILENO, threads: threads)
    }

    /// - Returns: 0, or the `errno` of the write that failed; ECANCELED when it was stopped.
    static func write(
        _ registrations: SyntheticRegistrations, descriptor: Int32, threads: Int,
        isStopped: (@Sendable () -> Bool)? = nil, progress: (@Sendable (_ rows: UInt64) -> Void)? = nil
    ) -> Int32 {
        let rows = UInt64(max(16, min(rowsPerChunk, buffer / registrations.longestRow)))
        let turns = WriteTurns(descriptor, isStopped, progress)
        guard registrations.header.withUnsafeBytes({ turns.writeAll($0) }) else { return turns.failure }
        let chunks = (registrations.count + rows - 1) / rows
        let workers = UInt64(max(1, min(threads, 64, Int(clamping: chunks))))
        var started: [pthread_t] = []
        for worker in (0..<workers).dropFirst() {
            let work = ChunkWork(registrations, turns, worker, workers, rows)
            let held = Unmanaged.passRetained(work)
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer { Unmanaged<ChunkWork>.fromOpaque(pointer).takeRetainedValue().run() }
                    return nil
                }, held.toOpaque())
            if code == 0 {
                started.append(thread)
            } else {
                // The chunks of this one would never come.
                held.release()
                turns.fail(code)
                break
            }
        }
        ChunkWork(registrations, turns, 0, workers, rows).run()
        for thread in started { pthread_join(thread, nil) }
        return turns.failure
    }
}

/// Chunks `first`, `first + step`, …: made, then written when their turn comes.
private final class ChunkWork {
    private let registrations: SyntheticRegistrations
    private let turns: WriteTurns
    private let first, step, rowsPerChunk: UInt64
    private let buffer: UnsafeMutablePointer<UInt8>

    init(_ registrations: SyntheticRegistrations, _ turns: WriteTurns, _ first: UInt64, _ step: UInt64, _ rows: UInt64)
    {
        self.registrations = registrations
        self.turns = turns
        self.first = first
        self.step = step
        rowsPerChunk = rows
        buffer = .allocate(capacity: Int(rows) * registrations.longestRow)
    }

    deinit { buffer.deallocate() }

    func run() {
        var chunk = first
        while chunk * rowsPerChunk < registrations.count, !turns.isOver {
            let start = chunk * rowsPerChunk
            let end = min(start + rowsPerChunk, registrations.count)
            var length = 0
            for row in start..<end { length &+= registrations.writeRow(row, into: buffer + length) }
            guard turns.write(chunk: chunk, UnsafeRawBufferPointer(start: buffer, count: length), rows: end) else {
                return
            }
            chunk += step
        }
    }
}
