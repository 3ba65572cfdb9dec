import Foundation
import Settings

/// What reading and writing documents have in common.
package enum DocumentFile {
    /// As JSON text: sorted keys, pretty-printed, ending with a newline.
    package static func encode(
        _ document: some Encodable, _ what: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.userInfo = userInfo
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(document)) + [0x0A] } catch {
            throw ResultError("cannot write the \(what) as JSON: \(error)")
        }
    }

    /// `schema` of a JSON object; nil when it has none.
    package static func schema(_ bytes: [UInt8], origin: String) throws(ResultError) -> String? {
        try head(bytes, origin: origin).schema
    }

    /// What says how a document is to be read. Nothing of JSON of another kind.
    struct Head: Decodable {
        let schema: String?
        let notes: [String]

        private enum CodingKeys: String, CodingKey {
            case schema, notes
        }

        init(from decoder: any Decoder) throws {
            let document = try? decoder.container(keyedBy: CodingKeys.self)
            schema = try? document?.decode(String.self, forKey: .schema)
            notes = (try? document?.decode([String].self, forKey: .notes)) ?? []
        }
    }

    /// The rest of the document is only looked at as far as that takes.
    static func head(_ bytes: [UInt8], origin: String) throws(ResultError) -> Head {
        do { return try JSONDecoder().decode(Head.self, from: Data(bytes)) } catch {
            throw ResultError("\(origin): \(UnreadableJSON.why(bytes))")
        }
    }

    package static func decode<Document: Decodable>(
        _ bytes: [UInt8], origin: String, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(ResultError) -> Document {
        let decoder = JSONDecoder()
        decoder.userInfo = userInfo
        do {
            return try decoder.decode(Document.self, from: Data(bytes))
        } catch let error as DecodingError {
            let number = isOfNumber(error) ? MisfitNumber.find(bytes) { isRefused(Document.self, $0, decoder) } : nil
            throw ResultError("\(origin): \(number?.description ?? describe(error))")
        } catch {
            throw ResultError("\(origin): \(error)")
        }
    }

    /// A number that does not fit the type of its field: the decoder does not say which.
    private static func isOfNumber(_ error: DecodingError) -> Bool {
        guard case .dataCorrupted(let context) = error else { return false }
        return context.codingPath.isEmpty
    }

    private static func isRefused<Document: Decodable>(
        _ document: Document.Type, _ bytes: [UInt8], _ decoder: JSONDecoder
    ) -> Bool {
        do { _ = try decoder.decode(document, from: Data(bytes)) } catch let error as DecodingError {
            return isOfNumber(error)
        } catch {}
        return false
    }

    private static func describe(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case .keyNotFound(let key, let context): "\"\(place(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "damaged: something in it has the wrong type or value"
                : "\"\(place(context.codingPath))\" has the wrong type or value"
        @unknown default: "damaged"
        }
    }
}
