extension ResultDocument {
    /// How the note begins that says so.
    public static let partialMark = "partial: "

    /// Written while the run went on: costs, ledger and whatever else only the end can tell are missing.
    public var isPartial: Bool { notes.contains { $0.hasPrefix(Self.partialMark) } }
}
