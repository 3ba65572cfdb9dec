import Glibc
import Synchronization

/// The file of a device log, to which several threads hand their blocks. A block is written whole or not at all; what could not be
/// written is told at the end.
package final class DeviceLogWriter: Sendable {
    private struct State {
        var descriptor: Int32 = -1
        /// Bytes of the file: whole records.
        var length = 0
        /// How often it has begun anew: blocks of before are too late.
        var generation: UInt64 = 0
        var failure: DeviceLog.Failure?
    }

    private let path: String
    private let head: [UInt8]
    private let state = Mutex(State())

    /// Nothing is opened yet: `begin`, or the first block, does.
    ///
    /// - Parameter names: of outcomes, by their codes: at most 200, without commas.
    package init(_ path: String, names: [String]) {
        precondition(names.count <= Int(DeviceLog.contentCode) && !names.contains { $0.contains(",") })
        self.path = path
        let text = Array(names.joined(separator: ",").utf8)
        head = DeviceLog.magic + withUnsafeBytes(of: UInt64(text.count).littleEndian) { Array($0) } + text
    }

    deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

    /// Makes the file, without records.
    package func begin() { state.withLock { open(&$0) } }

    /// What a block has to say to belong to what is written now.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Forgets what was written, and what could not be.
    package func beginAnew() {
        state.withLock {
            $0.generation += 1
            $0.failure = nil
            open(&$0)
            guard $0.failure == nil else { return }
            if ftruncate($0.descriptor, 0) != 0 || lseek($0.descriptor, 0, SEEK_SET) != 0 { fail(&$0) }
            $0.length = 0
            write(head[...], &$0)
        }
    }

    /// - Parameter records: whole ones.
    func append(_ records: ArraySlice<UInt8>, generation: UInt64) {
        state.withLock {
            open(&$0)
            if $0.generation == generation { write(records, &$0) }
        }
    }

    /// Says that all blocks were handed over.
    ///
    /// - Parameter unlogged: pushes that are not in the log.
    /// - Throws: one line when anything was not written.
    package func end(unlogged: UInt64) throws(DeviceLog.Failure) {
        let failure: DeviceLog.Failure? = state.withLock {
            open(&$0)
            var last = DeviceLogBlock.Bytes()
            last.add(UInt64(DeviceLog.endCode), unlogged)
            write(last.written, &$0)
            if $0.descriptor >= 0, close($0.descriptor) != 0, $0.failure == nil { fail(&$0) }
            $0.descriptor = -1
            return $0.failure
        }
        if let failure { throw failure }
    }

    private func open(_ state: inout State) {
        guard state.descriptor < 0, state.failure == nil else { return }
        // A pipe that nobody reads is not waited for.
        state.descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o666)
        if state.descriptor < 0 { return fail(&state) }
        _ = fcntl(state.descriptor, F_SETFL, 0)
        write(head[...], &state)
    }

    private func fail(_ state: inout State) {
        state.failure = .init(description: "cannot write the device log \(path): \(String(cString: strerror(errno)))")
    }

    /// All of it, or nothing.
    private func write(_ bytes: ArraySlice<UInt8>, _ state: inout State) {
        guard state.failure == nil else { return }
        var left = bytes
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Glibc.write(state.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                fail(&state)
                // No part of a record stays; where that cannot be, a reader sees it.
                _ = ftruncate(state.descriptor, off_t(state.length))
                return
            }
            left.removeFirst(count)
        }
        state.length += bytes.count
    }
}

/// One thread's records that are not in the file yet: at most 64 KiB.
package final class DeviceLogBlock {
    struct Bytes {
        static let most = 65_536
        private var bytes: [UInt8] = []

        var isFull: Bool { bytes.count > Self.most - DeviceLog.recordLength }
        var written: ArraySlice<UInt8> { bytes[...] }

        mutating func reserve() { bytes.reserveCapacity(Self.most) }
        mutating func clear() { bytes.removeAll(keepingCapacity: true) }
        mutating func add(_ first: UInt64, _ second: UInt64) {
            withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { bytes.append(contentsOf: $0) }
        }
    }

    private let writer: DeviceLogWriter
    private var bytes = Bytes()
    private var generation: UInt64
    /// Runs that are in the run table already: a bit for each place.
    private var runs: UInt64 = 0

    package init(_ writer: DeviceLogWriter) {
        self.writer = writer
        generation = writer.generation
        bytes.reserve()
    }

    /// Before the first record of a run, and as often as one likes.
    ///
    /// - Parameter place: of the run, 0 to 63.
    package func note(run: UInt64, place: Int) {
        guard runs & (1 << UInt64(place)) == 0 else { return }
        runs |= 1 << UInt64(place)
        put(UInt64(place) << 16 | UInt64(DeviceLog.runCode), run)
    }

    /// - Parameters:
    ///   - sequence: at most `DeviceLog.highestSequence`.
    ///   - place: of its run, which was noted.
    ///   - time: nanoseconds of the monotonic clock; 0: it had not become so by the end.
    package func add(_ event: DeviceLog.Event, sequence: UInt64, place: Int, time: UInt64) {
        put(sequence << 16 | UInt64(place) << 8 | UInt64(event.code), time)
    }

    private func put(_ first: UInt64, _ second: UInt64) {
        if bytes.isFull { flush() }
        bytes.add(first, second)
    }

    package func flush() {
        writer.append(bytes.written, generation: generation)
        bytes.clear()
    }

    /// Forgets what is not in the file: it has begun anew.
    package func beginAnew() {
        bytes.clear()
        runs = 0
        generation = writer.generation
    }
}
