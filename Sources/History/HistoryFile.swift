import Foundation
import Results

/// Writing histories.
enum HistoryFile {
    /// The history as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ history: HistoryDocument) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(history)) + [0x0A]
        } catch {
            throw ResultError("cannot write the history as JSON: \(error)")
        }
    }
}
