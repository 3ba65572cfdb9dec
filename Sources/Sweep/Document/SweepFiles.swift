import Foundation
import Results
import Settings

/// Writing what came of a sweep, and why a run of it has no result.
enum SweepFiles {
    /// The outcome as JSON text: sorted keys, pretty-printed, ending with a newline.
    static func encode(_ outcome: SweepDocument) throws(ResultError) -> [UInt8] {
        try json(outcome, "the sweep's outcome")
    }

    /// Lies where `result.json` would.
    struct Failure: Codable, Sendable, Equatable {
        static let currentSchema = "pushload.failure/1"
        var schema = Failure.currentSchema
        /// The settings of the run, as a result has them.
        var scenario: [String: JSONValue]
        var reason: String
    }

    static func encode(_ failure: Failure) throws(ResultError) -> [UInt8] { try json(failure, "a failure") }

    /// - Parameter origin: the file's name, for error messages.
    static func decodeFailure(_ bytes: [UInt8], origin: String) throws(ResultError) -> Failure {
        guard let failure = try? JSONDecoder().decode(Failure.self, from: Data(bytes)),
            failure.schema == Failure.currentSchema
        else { throw ResultError("\(origin): not complete, or not the failure of a run") }
        return failure
    }

    private static func json(_ value: some Encodable, _ what: String) throws(ResultError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) + [0x0A] } catch {
            throw ResultError("cannot write \(what) as JSON: \(error)")
        }
    }
}
