import Foundation
import Glibc
import Harness
import Results
import Settings

/// The folder that all workers of a run share, by which they find each other. It may be a network file system: nothing is locked; a
/// file is written under another name and renamed, and what the first one decides is linked into place (link(2) fails where the
/// name is taken, on NFS too). Whether a file is there is asked of the folder's listing, because clients of NFS remember names that were
/// not.
package struct RendezvousFolder: Sendable {
    package let path: String

    /// Names of what lies in it.
    static let run = "run.json"
    static let start = "start.json"
    static let stop = "stop.json"
    static let end = "end.json"
    package static let result = "result.json"

    package init(_ path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// Some run has it.
    package var isTaken: Bool { names().contains(Self.run) }

    /// The folder of a worker, as a name in it.
    static func worker(_ index: Int) -> String { "worker-\(index)" }
    package func place(_ name: String) -> String { path + "/" + name }

    /// - Throws: one line when it cannot be made.
    func make(_ name: String = "") throws(HarnessError) {
        let folder = name.isEmpty ? path : place(name)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw HarnessError(
                "--rendezvous: cannot make \(folder): \(FileObstacle.text(folder, isFolder: true))", .failed)
        }
    }

    /// What is in it, or in a folder of it; empty where it cannot be read.
    func names(in folder: String = "") -> Set<String> {
        guard let listing = opendir(folder.isEmpty ? path : place(folder)) else { return [] }
        defer { closedir(listing) }
        var names: Set<String> = []
        while let entry = readdir(listing) {
            names.insert(
                withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                    String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// The most that one of these files has, bytes: `start.json` of 65,536 workers takes about 5 MB.
    private static let most = 16 << 20

    /// - Returns: nil where it is not there, is no file or larger than any of them gets, or is not whole.
    func read<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) -> Value? {
        contents(name, atMost: Self.most).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// - Parameter limit: bytes.
    /// - Returns: nil where it is not there, is no file, or has more than `limit` bytes.
    func contents(_ name: String, atMost limit: Int) -> Data? {
        // A pipe that nobody writes to is not waited for.
        let descriptor = open(place(name), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= limit else {
            return nil
        }
        var data = Data(count: max(0, Int(facts.st_size)))
        let isWhole = data.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Glibc.read(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
        return isWhole ? data : nil
    }

    /// The whole file or nothing.
    ///
    /// - Parameter isSynced: false: without waiting for the disk, for what is soon replaced.
    func write(_ value: some Encodable, to name: String, isSynced: Bool = true) throws(HarnessError) {
        do throws(ResultError) {
            try ResultFile.write(try Self.encode(value), to: place(name), isSynced: isSynced)
        } catch { throw HarnessError(error.description, .unwritable) }
    }

    private static func encode(_ value: some Encodable) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) + [10] } catch { throw ResultError("\(error)") }
    }

    /// Writes it unless the name is taken.
    ///
    /// - Returns: false when it was.
    func writeOnce(_ value: some Encodable, to name: String) throws(HarnessError) -> Bool {
        let own = name + ".\(UInt64.random(in: 0 ... .max))"
        try write(value, to: own)
        let (temporary, target) = (place(own), place(name))
        defer { unlink(temporary) }
        let status = link(temporary, target)
        let problem = errno
        // An answer of NFS may be lost: the link is there all the same.
        var facts = stat()
        if status == 0 || stat(temporary, &facts) == 0 && facts.st_nlink == 2 { return true }
        if problem == EEXIST { return false }
        guard problem == EPERM || problem == EOPNOTSUPP || problem == ENOSYS else {
            throw HarnessError("cannot write \(target): \(String(cString: strerror(problem)))", .unwritable)
        }
        // Without links: the name first, and then what it says; who reads it before finds nothing that can be read.
        let descriptor = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else {
            throw HarnessError("cannot write \(target): \(String(cString: strerror(errno)))", .unwritable)
        }
        close(descriptor)
        try write(value, to: name)
        return true
    }

    func remove(_ name: String) { unlink(place(name)) }
}
