import Foundation
import Glibc

@testable import Audience

/// A folder of its own, removed when it goes.
final class ScratchFolder {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("audience-\(UUID())").path
        mkdir(path, 0o755)
    }

    deinit {
        chmod(path, 0o755)
        try? FileManager.default.removeItem(atPath: path)
    }

    var names: [String] {
        guard let listing = opendir(path) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    @discardableResult
    func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        precondition(bytes.withUnsafeBytes { FileIO.writeAll(descriptor, $0) })
        return file
    }

    func read(_ name: String) -> [UInt8] {
        let descriptor = open("\(path)/\(name)", O_RDONLY)
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        var bytes = [UInt8](repeating: 0, count: status.st_size)
        return Glibc.read(descriptor, &bytes, bytes.count) == bytes.count ? bytes : []
    }

    func text(_ name: String) -> String { String(decoding: read(name), as: UTF8.self) }
}

extension RowSet {
    var all: [UInt32] {
        var rows: [UInt32] = []
        forEach { rows.append($0) }
        return rows
    }
}

/// What opening a text as a registrations file says is wrong with it, without the folder's name.
func problem(_ text: String) -> String? { problem(Array(text.utf8)) }

func problem(_ bytes: [UInt8]) -> String? {
    let folder = ScratchFolder()
    let path = folder.write("r", bytes)
    // Of a file that was only just written indexing waits until a change would show.
    let old = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_000, tv_nsec: 0)]
    utimensat(AT_FDCWD, path, old, 0)
    do {
        _ = try Registrations.open(path, now: 0)
        return nil
    } catch {
        return String(error.description.split(separator: "\(folder.path)/").joined())
    }
}
