import Settings

/// One step of an evaluation, for `audience explain`.
package struct TagExpressionStep: Sendable, Equatable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        /// Begin with these rows.
        case take
        /// Keep what has it too.
        case keep
        /// Take away what has it.
        case subtract
        /// Put the rows of several together.
        case unite
        /// No row is left: what would have come next changes nothing.
        case stop
    }

    package let operation: Operation
    /// What was taken: a tag, or the text of an expression; of `stop` what was left out.
    package let what: String
    /// How many rows what was taken has, among those that were left where it was evaluated among them; nil of `stop`.
    package let rows: UInt64?
    /// Rows before it; nil at a beginning.
    package let before: UInt64?
    /// Rows after it.
    package let after: UInt64
    /// How deep inside another step that follows; 0: of the whole expression.
    package let depth: Int
    /// How long it took, without the counting that an explanation needs.
    package let nanoseconds: UInt64

    /// `keep follows_RedSox (800,000)`.
    package var done: String { "\(operation.rawValue) \(what)" + (rows.map { " (\(Self.grouped($0)))" } ?? "") }

    /// `keep follows_RedSox (800,000): 1,200,000 -> 96,000 rows`.
    package var description: String {
        let change = before.map { "\(Self.grouped($0)) -> " } ?? ""
        return String(repeating: "  ", count: depth)
            + "\(done): \(change)\(Self.grouped(after)) \(after == 1 ? "row" : "rows")"
    }

    private static func grouped(_ count: UInt64) -> String { Units.grouped(count) }
}
