import Foundation
import Glibc

/// Why a result cannot be read or written, one line.
public struct ResultError: Error, CustomStringConvertible, Sendable, Equatable {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// Reading and writing result documents.
public enum ResultFile {
    /// The document as JSON text: sorted keys, pretty-printed, ending with a newline.
    public static func encode(_ document: ResultDocument) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document)) + [0x0A]
        } catch {
            throw ResultError("cannot write the result as JSON: \(error)")
        }
    }

    /// - Parameter origin: the file's name, for error messages.
    public static func decode(_ bytes: [UInt8], origin: String) throws(ResultError) -> ResultDocument {
        let data = Data(bytes)
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: data)
        } catch {
            throw ResultError("\(origin): not complete JSON; the file is truncated or damaged")
        }
        guard let schema = (object as? [String: Any])?["schema"] as? String, schema.hasPrefix("pushload.result/") else {
            throw ResultError("\(origin): not a pushload result: \"schema\" is missing or foreign")
        }
        guard schema == ResultDocument.currentSchema else {
            throw ResultError(
                "\(origin): schema \(schema); this version reads \(ResultDocument.currentSchema)")
        }
        do {
            return try JSONDecoder().decode(ResultDocument.self, from: data)
        } catch let error as DecodingError {
            throw ResultError("\(origin): \(describe(error))")
        } catch {
            throw ResultError("\(origin): \(error)")
        }
    }

    public static func read(_ path: String) throws(ResultError) -> ResultDocument {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ResultError("cannot read \(path); expected a pushload result.json")
        }
        return try decode(Array(data), origin: path)
    }

    private static func describe(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case .keyNotFound(let key, let context): "\"\(place(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\"\(place(context.codingPath))\" has the wrong type or value"
        @unknown default: "damaged"
        }
    }

    /// Makes a new folder `<time>-<name>` under `parent` (with `-2`, `-3`… when it is taken).
    ///
    /// - Parameter time: UTC, as `20261121T045959Z`.
    /// - Returns: the folder's path.
    public static func makeRunFolder(parent: String, time: String, name: String) throws(ResultError) -> String {
        do {
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw ResultError("cannot make the folder \(parent): \((error as NSError).localizedDescription)")
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

    /// Writes the whole document or nothing: to a temporary file, synced, then renamed.
    public static func write(_ document: ResultDocument, to path: String) throws(ResultError) {
        try write(try encode(document), to: path)
    }

    /// The same for any other file of a run.
    public static func write(_ bytes: [UInt8], to path: String) throws(ResultError) {
        let temporary = path + ".partial"
        let descriptor = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o644)
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
                unlink(temporary)
                throw error
            }
            offset += count
        }
        guard fsync(descriptor) == 0, close(descriptor) == 0, rename(temporary, path) == 0 else {
            let error = failure(path)
            unlink(temporary)
            throw error
        }
    }

    private static func failure(_ path: String) -> ResultError {
        ResultError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}
