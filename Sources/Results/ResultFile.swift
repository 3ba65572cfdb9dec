import Foundation
import Glibc
import Settings

/// Why a result cannot be read or written, one line.
package struct ResultError: Error, CustomStringConvertible, Sendable, Equatable {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Reading and writing result documents.
package enum ResultFile {
    /// The document as JSON text: sorted keys, pretty-printed, ending with a newline.
    package static func encode(_ document: ResultDocument) throws(ResultError) -> [UInt8] {
        let partial = document.workers == nil ? PartialResult.ofRun : .ofWorkers
        return try DocumentFile.encode(
            document, "result", userInfo: document.isPartial ? [.isPartialResult: partial] : [:])
    }

    /// - Parameter origin: the file's name, for error messages.
    package static func decode(_ bytes: [UInt8], origin: String) throws(ResultError) -> ResultDocument {
        let head = try DocumentFile.head(bytes, origin: origin)
        guard let schema = head.schema, schema.hasPrefix("pushload.result/") else {
            let kind = head.schema.map { "its schema is \($0)" } ?? "\"schema\" is missing or foreign"
            throw ResultError("\(origin): not a pushload result: \(kind)")
        }
        guard schema == ResultDocument.currentSchema else {
            throw ResultError(
                "\(origin): schema \(schema); this version reads \(ResultDocument.currentSchema)")
        }
        let isPartial = ResultDocument.arePartial(head.notes)
        let document: ResultDocument = try DocumentFile.decode(
            bytes, origin: origin, userInfo: isPartial ? [.isPartialResult: PartialResult.ofRun] : [:])
        if let problem = belowZero(bytes) { throw ResultError("\(origin): \(problem)") }
        return document
    }

    /// Figures that may be: clocks' offsets and drifts, correlations. Settings are looked at by those who read them.
    private static let signed: Set<String> = ["offset_ns", "clock_offset_ns", "drift_ppm", "correlation"]

    /// The first figure that cannot have been measured; nil: there is none.
    private static func belowZero(_ bytes: [UInt8]) -> String? {
        for number in JSONNumber.all(bytes) where bytes[number.range.lowerBound] == UInt8(ascii: "-") {
            let name = String(decoding: bytes[number.name], as: UTF8.self)
            let text = String(decoding: bytes[number.range].prefix(40), as: UTF8.self)
            guard String(decoding: bytes[number.section], as: UTF8.self) != "scenario", !signed.contains(name),
                let value = Double(text), value < 0
            else { continue }
            return
                "line \(JSONNumber.line(number.range.lowerBound, of: bytes)): \"\(name)\" is \(text); expected 0 or more"
        }
        return nil
    }

    package static func read(_ path: String) throws(ResultError) -> ResultDocument {
        try decode(try contents(path, hint: "expected a pushload result.json"), origin: path)
    }

    /// A document that a user names: a file, or a pipe.
    ///
    /// - Parameter hint: what would be right, should it not be readable.
    package static func contents(_ path: String, hint: String) throws(ResultError) -> [UInt8] {
        do throws(SettingsError) { return Array(try FileContents.bytes(path, limit: mostRead)) } catch {
            throw ResultError("\(error); \(hint)")
        }
    }

    /// No document is as large, bytes.
    private static let mostRead = 1 << 30

    /// Makes a new folder `<time>-<name>` under `parent` (with `-2`, `-3`… when it is taken).
    ///
    /// - Parameter time: UTC, as `20261121T045959Z`.
    /// - Returns: the folder's path.
    package static func makeRunFolder(parent: String, time: String, name: String) throws(ResultError) -> String {
        do {
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw ResultError("cannot make the folder \(parent): \(FileObstacle.text(parent, isFolder: true))")
        }
        let base = "\(parent)/\(time)-\(name)"
        for number in 1...10_000 {
            let path = number == 1 ? base : "\(base)-\(number)"
            if mkdir(path, 0o755) == 0 { return path }
            guard errno == EEXIST else {
                throw ResultError("cannot make the folder \(path): \(String(cString: strerror(errno)))")
            }
        }
        throw ResultError("cannot make a folder \(base): there are 10000 already")
    }

    /// Room that a result takes at most, but for its log, bytes.
    static let room: UInt64 = 2_000_000

    /// - Throws: when there is so little room that a result cannot be written.
    package static func checkRoom(in folder: String) throws(ResultError) {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else { throw failure(folder) }
        guard let free = freeBytes(facts), free < room else { return }
        throw ResultError(
            "\(folder): only \(free / 1000) kB are free there, a result takes up to \(room / 1000) kB; make room, or "
                + "give another --output")
    }

    /// - Parameter room: that it takes, bytes.
    /// - Throws: when a file cannot be written there, as far as that can be known before.
    package static func checkWritable(_ path: String, room: UInt64 = 0) throws(ResultError) {
        var facts = stat()
        if stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR {
            throw ResultError("cannot write \(path): it is a folder")
        }
        let temporary = path + ".partial"
        let descriptor = open(temporary, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        var volume = statvfs()
        let isKnown = fstatvfs(descriptor, &volume) == 0
        close(descriptor)
        unlink(temporary)
        guard isKnown, let free = freeBytes(volume), free < room else { return }
        throw ResultError(
            "cannot write \(path): only \(free / 1000) kB are free there, it may take \(room / 1000) kB; make room, or name another file"
        )
    }

    /// Room for a file of many runs' costs, bytes.
    package static let roomForCosts: UInt64 = 200_000

    /// What may still be written there, bytes; nil where that is not known.
    private static func freeBytes(_ volume: statvfs) -> UInt64? {
        // Some blocks are kept for root.
        let blocks = geteuid() == 0 ? volume.f_bfree : volume.f_bavail
        let free = UInt64(blocks).multipliedReportingOverflow(by: UInt64(volume.f_frsize))
        // File systems that do not count have no blocks.
        return volume.f_blocks == 0 || free.overflow ? nil : free.partialValue
    }

    /// Writes the whole document or nothing: to a temporary file, synced, then renamed.
    package static func write(_ document: ResultDocument, to path: String) throws(ResultError) {
        try write(try encode(document), to: path)
    }

    /// The same for any other file of a run.
    ///
    /// - Parameter isSynced: false: at once and without waiting for the disk, for what will be replaced; it outlives the process,
    ///   but perhaps not the machine.
    package static func write(_ bytes: [UInt8], to path: String, isSynced: Bool = true) throws(ResultError) {
        // What a link leads to is written, and the link stays; a device or a pipe is written to, and stays.
        var status = stat()
        let isThere = stat(path, &status) == 0
        let isPlain = !isThere || status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR
        let resolved = isThere ? realpath(path, nil) : nil
        defer { free(resolved) }
        let target = resolved.map { String(cString: $0) } ?? path
        let temporary = isPlain ? target + ".partial" : target
        let descriptor = open(temporary, (isPlain ? O_CREAT | O_TRUNC : 0) | O_WRONLY | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + offset, bytes.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure(path)
                close(descriptor)
                if isPlain { unlink(temporary) }
                throw error
            }
            offset += count
        }
        guard isPlain else {
            close(descriptor)
            return
        }
        guard !isSynced || fsync(descriptor) == 0, close(descriptor) == 0, rename(temporary, target) == 0 else {
            let error = failure(path)
            unlink(temporary)
            throw error
        }
    }

    private static func failure(_ path: String) -> ResultError {
        ResultError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
