/// What is wrong with registrations, a tag expression or feedback: one line that says what, where (`file:line:column`) and what
/// would be right.
package struct AudienceError: Error, CustomStringConvertible, Equatable {
    package let description: String
    /// It is that something cannot be written.
    package let isUnwritable: Bool
    /// Of a tag expression: where in it, and what is wrong without the place.
    package let spot: Spot?

    package struct Spot: Sendable, Equatable {
        /// From 1, columns in characters (Unicode scalars).
        package let line, column: Int
        package let problem: String
    }

    package init(_ description: String, isUnwritable: Bool = false) {
        self.description = description
        self.isUnwritable = isUnwritable
        spot = nil
    }

    init(_ spot: Spot) {
        description = "audience, line \(spot.line), column \(spot.column): \(spot.problem)"
        isUnwritable = false
        self.spot = spot
    }
}
