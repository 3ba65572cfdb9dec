import Glibc
import Synchronization

/// The file of a recording, to which several threads hand their blocks. A block is written whole or not at all; what could not be
/// written is told at the end, and what is there by then stays readable. Memory does not grow with the recording. A recording that is
/// there already is replaced once there is a push for another, and stays as it was without one.
package final class RecordingWriter: Sendable {
    /// What a recording came to.
    package struct Totals: Sendable, Equatable {
        package var pushes: UInt64 = 0
        /// Those that came when the limit was reached.
        package var leftOut: UInt64 = 0
        /// There was no push, and a recording of before is still in its place.
        package var keepsOld = false
    }

    private struct State {
        var descriptor: Int32 = -1
        /// The recording that is there, locked until this one is in its place.
        var old: Int32 = -1
        /// Bytes of the file: whole blocks.
        var length = 0
        var check = FileCheck()
        var topics: [[UInt8]: UInt16] = [:]
        var failure: BinaryFileFailure?
        var isFailureTaken = false
        /// Where the file is until it replaces another: `path`, without links, is given its place then.
        var beside: (file: String, path: String)?
    }

    package let path: String
    /// What tokens and collapse ids are hashed with: drawn for this recording, and written nowhere.
    package let hash = KeyedHash.random()
    private let names: String
    private let limit: UInt64
    private let taken = Atomic<UInt64>(0)
    private let written = Atomic<UInt64>(0)
    private let state = Mutex(State())

    /// Nothing is opened yet: `begin`, or the first block, does.
    ///
    /// - Parameters:
    ///   - types, reasons: their names by place, without commas and line breaks; at most 255 each.
    ///   - limit: most pushes.
    package init(_ path: String, types: [String], reasons: [String], limit: UInt64) {
        precondition(types.count <= 255 && reasons.count <= 255)
        self.path = path
        self.limit = limit
        names = types.joined(separator: ",") + "\n" + reasons.joined(separator: ",")
    }

    deinit {
        state.withLock {
            Self.discard(&$0)
            if $0.descriptor >= 0 { close($0.descriptor) }
            if $0.old >= 0 { close($0.old) }
        }
    }

    /// Whether nothing but a recording would be lost if one were written there.
    package static func mayReplace(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        if status.st_size == 0 { return true }
        let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return isRecording(descriptor)
    }

    private static func isRecording(_ descriptor: Int32) -> Bool {
        let expected = Array(RecordingFile.magic.utf8)
        var found = [UInt8](repeating: 0, count: expected.count)
        return pread(descriptor, &found, found.count, 0) == found.count && found == expected
    }

    /// Makes the file, without pushes; a recording that is there stays.
    ///
    /// - Throws: one line when that cannot be.
    package func begin() throws(BinaryFileFailure) {
        let failure: BinaryFileFailure? = state.withLock {
            hold(&$0)
            $0.isFailureTaken = $0.failure != nil
            return $0.failure
        }
        if let failure { throw failure }
    }

    /// Makes the file or takes the one that is there, so that no other writer does. One with a recording in it is not written to.
    private func hold(_ state: inout State) {
        guard state.descriptor < 0, state.old < 0, state.failure == nil else { return }
        // Somebody may have put a pipe there, whose other end would be waited for.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return state.failure = obstacle() }
        if let problem = Self.problem(descriptor, path) {
            close(descriptor)
            return state.failure = BinaryFileFailure("cannot write the recording \(path): \(problem)")
        }
        guard lseek(descriptor, 0, SEEK_END) > 0 else {
            state.descriptor = descriptor
            return writeNames(&state)
        }
        state.old = descriptor
    }

    /// Why a file cannot be written to, or replaced.
    private static func problem(_ descriptor: Int32, _ path: String) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return "it is no regular file"
        }
        // A file system without locks has none to heed.
        let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
        guard !isTaken, isStill(descriptor, at: path) else { return "another mock is writing it" }
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
        guard isRecording(descriptor) else { return "it is there and no recording" }
        guard let place = realpath(path, nil) else { return String(cString: strerror(errno)) }
        defer { free(place) }
        let folder = String(cString: place).split(separator: "/").dropLast().joined(separator: "/")
        return access("/" + folder, W_OK) == 0 ? nil : "its folder: \(String(cString: strerror(errno)))"
    }

    /// Whether the open file is the one of this name.
    private static func isStill(_ descriptor: Int32, at path: String, followsLinks: Bool = true) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && (followsLinks ? stat(path, &found) : lstat(path, &found)) == 0
            && own.st_ino == found.st_ino && own.st_dev == found.st_dev
    }

    /// What is written to: where a recording is, a new file beside it.
    private func open(_ state: inout State) {
        hold(&state)
        guard state.descriptor < 0, state.failure == nil else { return }
        guard let place = realpath(path, nil) else { return state.failure = obstacle() }
        defer { free(place) }
        let target = String(cString: place)
        let file = "\(target).\(getpid())-\(UInt32.random(in: 0...UInt32.max)).writing"
        state.descriptor = Glibc.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard state.descriptor >= 0 else { return state.failure = obstacle() }
        state.beside = (file, target)
        _ = flock(state.descriptor, LOCK_EX | LOCK_NB)
        writeNames(&state)
    }

    private func writeNames(_ state: inout State) {
        write(Array(RecordingFile.magic.utf8), &state)
        write(RecordingFile.block(.names, Array(names.utf8)), &state)
    }

    /// Removes the file beside, as far as it is still ours.
    private static func discard(_ state: inout State) {
        guard let beside = state.beside else { return }
        if isStill(state.descriptor, at: beside.file, followsLinks: false) { unlink(beside.file) }
        state.beside = nil
    }

    /// Whether one more may be recorded; counts it as left out where not.
    @inline(__always)
    func takeOne() -> Bool { taken.wrappingAdd(1, ordering: .relaxed).oldValue < limit }

    /// The place of a topic. What is longer than a header may be, or one too many, has none.
    package func topic(_ text: UnsafeRawBufferPointer) -> UInt16 {
        guard (1...RecordingFile.longestTopic).contains(text.count) else { return 0 }
        let bytes = Array(text)
        return state.withLock {
            if let known = $0.topics[bytes] { return known }
            guard $0.topics.count < RecordingFile.mostTopics else { return 0 }
            let place = UInt16($0.topics.count + 1)
            $0.topics[bytes] = place
            open(&$0)
            write(RecordingFile.block(.topic, bytes), &$0)
            return place
        }
    }

    /// - Parameter pushes: as `RecordedPush` writes them.
    func append(_ pushes: UnsafeRawBufferPointer, thread: UInt8) {
        guard !pushes.isEmpty else { return }
        let block = RecordingFile.block(.pushes, Array(pushes), thread: thread)
        let isWritten = state.withLock { state in
            open(&state)
            write(block, &state)
            replace(&state)
            return state.failure == nil
        }
        if isWritten { written.wrappingAdd(UInt64(pushes.count / RecordedPush.length), ordering: .relaxed) }
    }

    /// Puts the file in the place of the one that was there, once.
    private func replace(_ state: inout State) {
        guard state.failure == nil, let beside = state.beside else { return }
        guard Self.isStill(state.descriptor, at: beside.file, followsLinks: false) else {
            return state.failure = BinaryFileFailure(
                "cannot write the recording \(path): \(beside.file) is no longer the file that was made")
        }
        guard rename(beside.file, beside.path) == 0 else { return state.failure = obstacle() }
        state.beside = nil
        close(state.old)
        state.old = -1
    }

    /// What went wrong with it, once; nil where `begin` has said so.
    package func takeFailure() -> BinaryFileFailure? {
        state.withLock {
            guard let failure = $0.failure, !$0.isFailureTaken else { return nil }
            $0.isFailureTaken = true
            return failure
        }
    }

    /// Completes the file: all blocks were handed over.
    ///
    /// - Throws: one line when anything was not written; what was stays, as a recording that is not complete.
    package func end() throws(BinaryFileFailure) -> Totals {
        var totals = Totals(
            pushes: written.load(ordering: .relaxed),
            leftOut: taken.load(ordering: .relaxed) - min(taken.load(ordering: .relaxed), limit))
        var last: [UInt8] = []
        for number in [totals.pushes, totals.leftOut] {
            withUnsafeBytes(of: number.littleEndian) { last.append(contentsOf: $0) }
        }
        let (failure, keepsOld): (BinaryFileFailure?, Bool) = state.withLock {
            hold(&$0)
            let keepsOld = $0.old >= 0
            if !keepsOld { write(RecordingFile.block(.end, last), &$0) }
            Self.discard(&$0)
            if $0.descriptor >= 0, close($0.descriptor) != 0, $0.failure == nil { $0.failure = obstacle() }
            if $0.old >= 0 { close($0.old) }
            ($0.descriptor, $0.old) = (-1, -1)
            return ($0.failure, keepsOld)
        }
        if let failure {
            throw BinaryFileFailure(
                keepsOld
                    ? "\(failure); what was there is kept"
                    : "\(failure); it has the first \(totals.pushes) pushes, and says that it is not complete")
        }
        totals.keepsOld = keepsOld
        return totals
    }

    private func obstacle() -> BinaryFileFailure {
        BinaryFileFailure("cannot write the recording \(path): \(String(cString: strerror(errno)))")
    }

    /// All of it and its check, or nothing.
    private func write(_ bytes: [UInt8], _ state: inout State) {
        guard state.failure == nil else { return }
        var check = state.check
        for byte in bytes { check.take(byte) }
        let value = check.value
        var whole = bytes
        // The letters at the beginning need none.
        if state.length > 0 {
            withUnsafeBytes(of: value.littleEndian) { whole.append(contentsOf: $0) }
            for byte in whole[bytes.count...] { check.take(byte) }
        }
        var left = whole[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Glibc.write(state.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                state.failure = obstacle()
                // No part of a block stays; where that cannot be, a reader sees it.
                _ = ftruncate(state.descriptor, off_t(state.length))
                return
            }
            left.removeFirst(count)
        }
        state.length += whole.count
        state.check = check
    }
}

/// One thread's pushes that are not in the file yet: at most 64 KiB.
package final class RecordingBlock {
    private static let most = RecordingFile.longestBlock / RecordedPush.length
    private let writer: RecordingWriter
    private let thread: UInt8
    private let memory: UnsafeMutableRawPointer
    private var count = 0

    /// - Parameter thread: who records, by number; connections are told apart within each.
    package init(_ writer: RecordingWriter, thread: Int) {
        self.writer = writer
        self.thread = UInt8(truncatingIfNeeded: thread)
        memory = .allocate(byteCount: Self.most * RecordedPush.length, alignment: 8)
    }

    deinit { memory.deallocate() }

    package func add(_ push: RecordedPush) {
        guard writer.takeOne() else { return }
        if count == Self.most { flush() }
        push.write(to: memory + count * RecordedPush.length)
        count += 1
    }

    package func flush() {
        writer.append(UnsafeRawBufferPointer(start: memory, count: count * RecordedPush.length), thread: thread)
        count = 0
    }
}
