import Glibc
import Settings

/// What APNs said of devices, kept beside the registrations file as `FILE.feedback`: NDJSON, one `FeedbackEntry` a line, only ever
/// appended to.
///
/// It is as long as its devices are many, not as runs are: what it says already is not written again.
///
/// Writers are kept apart by flock. A killed one leaves at most a last line without its line feed, which readers leave out with a
/// note, and the next writer cuts off.
package struct FeedbackJournal: Sendable {
    /// Of the journal.
    package let path: String
    let registrations: String
    /// How long another writer is waited for, tenths of a second.
    var patience = 50

    /// - Parameter registrations: path of the registrations file.
    package init(of registrations: String) {
        self.registrations = registrations
        path = registrations + ".feedback"
    }

    // MARK: Writing

    /// Appends the entries that say something new, on disk when it returns: of a device, topic and reason the first, and for those
    /// that a registration leaves for also later ones.
    ///
    /// - Throws: one line naming the file and why. Of the entries whole lines may have been written then.
    package func append(_ entries: some Sequence<FeedbackEntry>) throws(AudienceError) {
        guard let lock = try lock(creating: true) else { return }
        var bytes = try endLastLine(lock.descriptor)
        // A wrong line is said to the next who opens it; what was heard is kept even so.
        var known: [FeedbackEntry.Subject: UInt64] = [:]
        for entry in (try? read(lock.descriptor).entries) ?? [] { _ = Self.isNew(entry, &known) }
        for entry in entries where Self.isNew(entry, &known) {
            bytes.append(contentsOf: entry.line.utf8)
            if bytes.count > 1 << 20 { try write(&bytes, lock.descriptor) }
        }
        try write(&bytes, lock.descriptor)
        guard fsync(lock.descriptor) == 0 else { throw failed("write") }
    }

    /// - Parameter known: of each subject the latest moment.
    private static func isNew(_ entry: FeedbackEntry, _ known: inout [FeedbackEntry.Subject: UInt64]) -> Bool {
        let (subject, moment) = (entry.subject, entry.moment)
        if let last = known[subject], !entry.removes || moment <= last { return false }
        known[subject] = moment
        return true
    }

    private func write(_ bytes: inout [UInt8], _ descriptor: Int32) throws(AudienceError) {
        guard bytes.withUnsafeBytes({ FileIO.writeAll(descriptor, $0) }) else { throw failed("write") }
        bytes.removeAll(keepingCapacity: true)
    }

    /// Cuts off the line that a killed writer began.
    ///
    /// - Returns: what has to be written first: the line feed that a whole line lacks.
    /// - Throws: when what stands behind the last line feed is nothing of ours: it is kept.
    private func endLastLine(_ descriptor: Int32) throws(AudienceError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed("read") }
        let start = max(0, status.st_size - 1 << 20)
        var tail = [UInt8](repeating: 0, count: status.st_size - start)
        guard pread(descriptor, &tail, tail.count, start) == tail.count else { throw failed("read") }
        let line = tail[(tail.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)...]
        if line.isEmpty { return [] }
        if (try? Self.entry(line)) != nil { return [0x0A] }
        guard line.starts(with: FeedbackEntry.start.utf8.prefix(line.count)) else {
            throw AudienceError(
                "\(path): what stands behind the last line feed is no feedback; expected a line that begins with "
                    + "\(FeedbackEntry.start): move it away", isUnwritable: true)
        }
        guard ftruncate(descriptor, status.st_size - line.count) == 0 else { throw failed("write") }
        return []
    }

    // MARK: Reading

    /// Every whole line, none when there is no journal; and a note about a last one that is not whole.
    ///
    /// - Throws: `FILE.feedback:line:column: …`
    package func read() throws(AudienceError) -> (entries: [FeedbackEntry], note: String?) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return ([], nil) }
            throw failed("read")
        }
        defer { close(descriptor) }
        return try read(descriptor)
    }

    func read(_ descriptor: Int32) throws(AudienceError) -> (entries: [FeedbackEntry], note: String?) {
        var entries: [FeedbackEntry] = []
        var rest: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var offset = 0
        var line = 1
        while true {
            let count = pread(descriptor, &chunk, chunk.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failed("read") }
            if count == 0 {
                // An editor may have left out the line feed.
                if let last = try? Self.entry(rest[...]) {
                    entries.append(last)
                    rest = []
                }
                return (entries, rest.isEmpty ? nil : tornNote(line, rest))
            }
            offset += count
            rest.append(contentsOf: chunk[..<count])
            guard let last = rest.lastIndex(of: 0x0A) else {
                guard rest.count < 1 << 20 else { throw AudienceError("\(path):\(line): a line longer than 1 MiB") }
                continue
            }
            for text in rest[..<last].split(separator: 0x0A, omittingEmptySubsequences: false) {
                do throws(JSONScan.Problem) {
                    entries.append(try Self.entry(text))
                } catch {
                    throw AudienceError("\(path):\(line):\(error.position + 1): \(error.text)")
                }
                line += 1
            }
            rest.removeFirst(last + 1)
        }
    }

    private func tornNote(_ line: Int, _ rest: [UInt8]) -> String {
        "\(path):\(line): this last line is not whole and left out, \(Units.counted(rest.count, "byte")): "
            + "who wrote it was killed, or is at it still"
    }

    private static func entry(_ line: ArraySlice<UInt8>) throws(JSONScan.Problem) -> FeedbackEntry {
        // A closure of the standard library's would forget the error's type.
        let result = line.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONScan.Problem) in try FeedbackEntry(line: bytes) }
        }
        return try result.get()
    }

    func failed(_ what: String) -> AudienceError {
        AudienceError(
            "cannot \(what) the feedback journal \(path): \(FileIO.reason)", isUnwritable: what != "read")
    }

    // MARK: Locking

    /// Holds the journal for itself until it goes.
    final class Lock {
        let descriptor: Int32
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    private func wait(for descriptor: Int32) throws(AudienceError) {
        for _ in 0..<patience {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EINTR || errno == EWOULDBLOCK else { throw failed("lock") }
            usleep(100_000)
        }
        throw AudienceError(
            "cannot lock the feedback journal \(path): another program has held it for \(patience / 10) s; try again later",
            isUnwritable: true)
    }

    /// Waits for other writers.
    ///
    /// - Returns: nil when there is no journal, and none is to be made.
    func lock(creating: Bool) throws(AudienceError) -> Lock? {
        // An `apply` may move it away meanwhile.
        for _ in 0..<100 {
            let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
            let descriptor = open(path, creating ? flags | O_CREAT : flags, 0o644)
            guard descriptor >= 0 else {
                if errno == ENOENT, !creating { return nil }
                throw failed("open")
            }
            let lock = Lock(descriptor)
            try wait(for: descriptor)
            if UnwrittenFile.isStill(descriptor, at: path) {
                if creating { FileIO.syncFolder(of: path) }
                return lock
            }
        }
        throw AudienceError(
            "cannot lock the feedback journal \(path): it is moved away again and again", isUnwritable: true)
    }
}
