import Foundation

/// What reading and writing documents have in common.
enum DocumentFile {
    /// As JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ document: some Encodable, _ what: String) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(document)) + [0x0A] } catch {
            throw ResultError("cannot write the \(what) as JSON: \(error)")
        }
    }

    /// `schema` of a JSON object; nil when it has none.
    static func schema(_ bytes: [UInt8], origin: String) throws(ResultError) -> String? {
        do {
            return (try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])?["schema"] as? String
        } catch {
            throw ResultError("\(origin): not complete JSON; the file is truncated or damaged")
        }
    }

    static func decode<Document: Decodable>(_ bytes: [UInt8], origin: String) throws(ResultError) -> Document {
        do {
            return try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw ResultError("\(origin): \(describe(error))")
        } catch {
            throw ResultError("\(origin): \(error)")
        }
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
}
