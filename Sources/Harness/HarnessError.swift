/// Why something cannot be done: one line, or one a problem.
package struct HarnessError: Error, CustomStringConvertible, Sendable {
    /// What is in the way, and the exit status that says so.
    package enum Kind: Int32, Sendable {
        /// The world it runs in, or the run did not go well.
        case failed = 1
        /// The request itself: what is asked for, or a file it names that cannot be used; found before anything is sent.
        case usage = 64
        /// What was made cannot be written.
        case unwritable = 74
    }

    package let description: String
    package let kind: Kind

    package init(_ description: String, _ kind: Kind = .usage) {
        self.description = description
        self.kind = kind
    }
}
