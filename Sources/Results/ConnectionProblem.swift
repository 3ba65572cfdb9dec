extension ResultDocument {
    /// The start of the note about the last connection that was lost, not made, or let no push be sent.
    package static let connectionProblemMark = "last connection problem: "

    /// How it begins where connections were open at the end, as the transport says it.
    package static let heldBack = [
        "the server allows no streams", "a connection was open, but the peer let no push be sent",
    ]

    /// What that note says, of a part in a merged result too; nil: there is none.
    package var lastConnectionProblem: String? {
        for note in notes {
            if let mark = note.firstRange(of: Self.connectionProblemMark) { return String(note[mark.upperBound...]) }
        }
        return nil
    }
}
