extension ResultDocument {
    /// How notes begin that merging the mocks' ledgers left.
    package static let mockLedgersMark = "mocks' ledgers: "

    /// The mocks' ledgers were there, and do not say what was lost; the notes say why.
    package var areLostUnknown: Bool {
        pushes.lost == nil && notes.contains { $0.hasPrefix(Self.mockLedgersMark) }
    }

    /// How the note begins of a run whose pushes the mock cannot tell apart.
    package static let untracedMark = "no push of the recording has room for the trace tag"

    /// The mock could not tell by its payload which push was which, of all of them.
    package var isUntraced: Bool { pushes.lost == nil && notes.contains { $0.hasPrefix(Self.untracedMark) } }
}
