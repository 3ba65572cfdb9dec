import ArgumentParser
import Glibc

/// Reads a port's number.
func portNumber(_ text: String) throws -> UInt16 {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text) else {
        throw ValidationError("expected a port, 0 to 65535")
    }
    return port
}

/// Whether a file that is written at the end could be written now, so that nobody waits for it in vain. Nothing is made or changed.
func checkOutput(_ flag: String, _ path: String) throws(Misuse) {
    guard !path.isEmpty else { throw Misuse("\(flag): expected a file, not an empty text") }
    var status = stat()
    var target = path
    if stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Misuse("\(flag) \(path): expected a file, not a folder")
        }
    } else {
        let folders = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        target = folders.joined(separator: "/") + (folders.isEmpty ? "." : "/")
    }
    guard access(target, W_OK) == 0 else {
        throw Misuse("\(flag) \(path): cannot write it: \(String(cString: strerror(errno)))")
    }
}
