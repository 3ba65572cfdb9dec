import Foundation

/// Files a user names, whole, with one line when they cannot be read.
public enum FileContents {
    /// - Parameter what: what it should be, for the message: "fault file".
    /// - Throws: `cannot read the fault file x.yaml: No such file or directory`
    public static func bytes(_ path: String, _ what: String) throws(SettingsError) -> Data {
        func fail() -> SettingsError {
            SettingsError("cannot read the \(what) \(path): \(String(cString: strerror(errno)))")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fail() }
        defer { close(descriptor) }
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw fail() }
            if count == 0 { return data }
            data.append(contentsOf: chunk[..<count])
        }
    }

    /// The same for text.
    public static func text(_ path: String, _ what: String) throws(SettingsError) -> String {
        try text(try bytes(path, what), file: path)
    }

    /// - Throws: `file:line: not text in UTF-8`
    public static func text(_ bytes: some Collection<UInt8>, file: String) throws(SettingsError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let number = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw SettingsError("\(file):\(number + 1): not text in UTF-8")
    }
}
