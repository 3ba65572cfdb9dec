/// The bundle ids that a provider key may push to, where it may not push to all.
struct TopicScope: Sendable, Equatable {
    /// nil: all but the foreign ones.
    let own: Set<String>?
    /// Of other teams.
    let foreign: Set<String>

    func includes(_ bundleID: String) -> Bool { own?.contains(bundleID) ?? !foreign.contains(bundleID) }
}
