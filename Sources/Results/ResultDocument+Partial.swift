extension ResultDocument {
    /// How the note begins that says so.
    package static let partialMark = "partial: "

    /// Written while the run went on: costs, connections, ledger and whatever else only the end can tell (`KnownAtEnd`) are not
    /// known, and empty here.
    package var isPartial: Bool { partialNote != nil }

    /// The note that says so.
    package var partialNote: String? { notes.first { $0.hasPrefix(Self.partialMark) } }

    static func arePartial(_ notes: [String]) -> Bool { notes.contains { $0.hasPrefix(partialMark) } }
}
