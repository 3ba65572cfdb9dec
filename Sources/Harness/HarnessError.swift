import Scenarios

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

    /// Of a line of it that is about a part of a setting: which line, what it is about, and what it says where that has its place.
    package struct Part: Sendable {
        package let line: String
        package let part: SettingPart
        package let problem: String
    }
    package let parts: [Part]

    package init(_ description: String, _ kind: Kind = .usage) {
        self.description = description
        self.kind = kind
        parts = []
    }

    /// - Parameter problem: what `description` says, less what the place tells; nil: all of it.
    package init(_ description: String, of part: SettingPart, _ problem: String? = nil) {
        self.description = description
        kind = .usage
        parts = [Part(line: description, part: part, problem: problem ?? description)]
    }

    /// The same with other problems after it.
    func and(_ others: [String]) -> HarnessError {
        HarnessError(self, ([description] + others).joined(separator: "\n"))
    }

    private init(_ error: HarnessError, _ description: String) {
        self.description = description
        (kind, parts) = (error.kind, error.parts)
    }

    /// Several as one, each said once.
    ///
    /// - Parameter errors: at least one; the first says of which kind.
    init(_ errors: [HarnessError]) {
        var lines: [String] = []
        for error in errors where !lines.contains(error.description) { lines.append(error.description) }
        description = lines.joined(separator: "\n")
        kind = errors.first?.kind ?? .usage
        parts = errors.flatMap(\.parts)
    }
}
