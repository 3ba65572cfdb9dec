import Foundation
import Results

/// Writing comparisons.
enum ComparisonFile {
    /// The comparison as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ comparison: ComparisonDocument) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(comparison)) + [0x0A]
        } catch {
            throw ResultError("cannot write the comparison as JSON: \(error)")
        }
    }
}
