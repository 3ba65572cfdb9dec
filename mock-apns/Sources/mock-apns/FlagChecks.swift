import ArgumentParser
import Foundation
import Glibc
import MockAPNs
import Settings
import Synchronization

/// Reads a port's number.
func portNumber(_ text: String) throws -> UInt16 {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text) else {
        throw ValidationError("expected a port, 0 to 65535")
    }
    return port
}

/// Reads a time.
func unixSeconds(_ text: String) throws -> Int64 {
    guard let seconds = Int64(text) else {
        throw ValidationError("expected UNIX seconds, such as 1700000000")
    }
    return seconds
}

/// Reads a count that memory or a protocol bounds.
func count(_ flag: String, _ text: String, _ range: ClosedRange<UInt64>) throws(Misuse) -> Int {
    let value = try reading(flag, text, Units.count)
    guard range.contains(value) else {
        throw Misuse("\(flag) \(text): expected \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(value)
}

/// Reads bundle ids.
func bundleIDs(_ flag: String, _ topics: [String]) throws(Misuse) -> Set<String> {
    for topic in topics {
        do throws(SettingsError) { try FaultText.checkBundleID(topic) } catch { throw Misuse("\(flag) \(error)") }
    }
    return Set(topics)
}

/// Pipes that are written later, open until then: who reads from one shall not come to its end before there is anything.
private let heldPipes = Mutex<[String: Int32]>([:])

/// All is written that a pipe of this name was held for: its reader comes to the end.
func endOutput(_ path: String?) {
    guard let path, let pipe = heldPipes.withLock({ $0.removeValue(forKey: path) }) else { return }
    close(pipe)
}

/// Whether a file that is written at the end could be written now, so that nobody waits for it in vain. Nothing is made or
/// changed; a pipe stays open until `endOutput`.
func checkOutput(_ flag: String, _ path: String, orPipe: Bool = true) throws(Misuse) {
    guard !path.isEmpty else { throw Misuse("\(flag): expected a file, not an empty text") }
    var status = stat()
    var target = path
    if stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Misuse("\(flag) \(path): expected a file, not a folder")
        }
        // Opening it would wait for a reader.
        if status.st_mode & S_IFMT == S_IFIFO {
            guard orPipe else { throw Misuse("\(flag) \(path): expected a file, not a pipe") }
            let pipe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard pipe >= 0 || errno != ENXIO else { throw Misuse("\(flag) \(path): nobody reads from this pipe") }
            if pipe >= 0 {
                endOutput(path)
                heldPipes.withLock { $0[path] = pipe }
            }
        }
    } else {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        target = folders.joined(separator: "/") + (folders.isEmpty ? "." : "/")
    }
    guard access(target, W_OK) == 0 else {
        throw Misuse("\(flag) \(path): cannot write it: \(String(cString: strerror(errno)))")
    }
}

/// That no two flags name the same file, by whatever names and links.
///
/// - Parameter outputs: flags and their files, nil where one was not given.
func checkDifferent(_ outputs: [(flag: String, path: String?)]) throws(Misuse) {
    var seen: [(flag: String, place: String)] = []
    for case (let flag, let path?) in outputs {
        // What is no regular file, such as /dev/null, keeps nothing that another could replace.
        guard let place = place(path) else { continue }
        if let other = seen.first(where: { $0.place == place }) {
            throw Misuse("\(flag) \(path): the same file as \(other.flag); expected one for each")
        }
        seen.append((flag, place))
    }
}

/// Where a file is, or will be once it is made, without links; nil where something else than a regular file is there.
private func place(_ path: String) -> String? {
    var path = path
    // As many links as the kernel follows.
    for _ in 0..<40 {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            return "\(status.st_dev) \(status.st_ino)"
        }
        let (folder, name) = parts(path)
        guard let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
            guard stat(folder, &status) == 0 else { return path }
            return "\(status.st_dev) \(status.st_ino) \(name)"
        }
        path = link.hasPrefix("/") ? link : folder + "/" + link
    }
    return path
}

/// A path's folder, and the name in it.
private func parts(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.index(after: slash)...]))
}
