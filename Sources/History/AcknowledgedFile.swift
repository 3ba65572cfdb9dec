import Foundation
import Results
import Settings

/// Reading and writing acknowledged changes.
enum AcknowledgedFile {
    /// No more than this is read, bytes.
    static let most = 16 << 20

    static func read(_ path: String) throws(ResultError) -> AcknowledgedChanges {
        let bytes: [UInt8]
        do throws(SettingsError) {
            bytes = Array(try FileContents.bytes(path, "acknowledged changes", limit: most))
        } catch { throw ResultError(error.description) }
        guard let schema = try DocumentFile.schema(bytes, origin: path) else {
            throw ResultError("\(path): no acknowledged changes: \"schema\" is missing or foreign")
        }
        guard schema == AcknowledgedChanges.currentSchema else {
            throw ResultError("\(path): schema \(schema); this version reads \(AcknowledgedChanges.currentSchema)")
        }
        return try DocumentFile.decode(bytes, origin: path)
    }

    static func write(_ changes: AcknowledgedChanges, to path: String) throws(ResultError) {
        try ResultFile.write(try DocumentFile.encode(changes, "acknowledged changes"), to: path)
    }
}
