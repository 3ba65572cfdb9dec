extension ResultDocument {
    /// How notes begin that merging the mocks' ledgers left.
    package static let mockLedgersMark = "mocks' ledgers: "

    /// The mocks' ledgers were there, and do not say what was lost; the notes say why.
    package var areLostUnknown: Bool {
        pushes.lost == nil && notes.contains { $0.hasPrefix(Self.mockLedgersMark) }
    }
}
