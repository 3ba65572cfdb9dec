/// What became of requests: each is counted once, by how it was answered.
package struct BackendCounts: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// A notification was stored and its id told.
        case created
        /// A payload was answered for the first time, or again.
        case fetched
        case fetchedAgain = "fetched_again"
        /// What silent pushes announce was answered: with bytes, or that there is nothing new.
        case content
        case noContent = "no_content"
        case attachments
        case actions
        /// A notification that there is not, or that is for another user.
        case unknownID = "unknown_id"
        case forbidden
        /// No credentials, or wrong ones.
        case unauthorized
        /// Any other 4xx: no such page, a body that says nothing, too large, not complete in time.
        case refused
        /// By a fault rule: answered with its status; done but never answered; reset (TCP RST).
        case rejectedByRule = "rejected_by_rule"
        case silencedByRule = "silenced_by_rule"
        case resetByRule = "reset_by_rule"
        /// 503: what had been done could not be written to the store, or too many answers waited for their time.
        case notStored = "not_stored"
        case overloaded
    }

    private var values = [UInt64](repeating: 0, count: Kind.allCases.count)

    package init() {}

    package subscript(_ kind: Kind) -> UInt64 {
        get { values[Self.places[kind]!] }
        set { values[Self.places[kind]!] = newValue }
    }

    private static let places = Dictionary(uniqueKeysWithValues: Kind.allCases.enumerated().map { ($1, $0) })

    /// All together.
    package var requests: UInt64 { values.reduce(0, &+) }
}
