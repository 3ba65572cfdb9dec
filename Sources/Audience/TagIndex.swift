/// What a tag expression is evaluated against.
package protocol TagIndex {
    /// How many registrations there are; their rows are 0 up to here.
    var rows: UInt32 { get }

    /// The rows that have a tag; nil when no registration has it.
    func rows(tagged tag: String) -> RowSet?

    /// A known tag that somebody probably meant; nil when none is near. For messages.
    func nearestTag(to tag: String) -> String?
}
