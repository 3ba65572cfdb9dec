import Signing

/// A provider key and what it may be used for ("Establishing a token-based connection to APNs": "Use team-scoped keys to generate
/// authentication tokens for sending notifications to any topic in a team", "topic-specific keys … to specific team topics
/// within a single environment").
public struct ProviderAccount: Sendable {
    public var identity: ProviderIdentity
    /// nil: both, as older team-scoped keys.
    public var environment: PushEnvironment?
    /// Bundle ids of a topic-specific key; nil: it is team-scoped.
    public var topics: Set<String>?
    /// The key whose tokens may go over the same connection though one of the two is topic-specific: "A topic-specific key can have
    /// at most one related key in the same environment." It is enough that one of the two names the other.
    public var relatedKeyID: String?
    /// Bundle ids of its team; nil: nobody has said which.
    public var teamTopics: Set<String>?
    /// Bundle ids of other teams.
    public var foreignTopics: Set<String> = []

    public init(_ identity: ProviderIdentity, environment: PushEnvironment? = nil, topics: Set<String>? = nil) {
        self.identity = identity
        self.environment = environment
        self.topics = topics
    }

    /// nil: every topic.
    var scope: TopicScope? {
        let own = topics ?? teamTopics
        return own == nil && foreignTopics.isEmpty ? nil : TopicScope(own: own, foreign: foreignTopics)
    }

    /// Whether tokens of both keys may go over one connection. "Establishing a token-based connection to APNs": "If you use a token
    /// from a team-scoped key during the first push, trying to send a push with a topic-specific key or a team-scoped key from
    /// a different environment results in an error. After you establish a connection with a topic-specific key for the initial
    /// push, using an unrelated topic-specific key, a key from a different environment, a team-scoped key, or sending to a
    /// nonassociated topic also results in an error." and "APNs doesn't support authentication tokens from multiple developer
    /// accounts over a single connection." Environments are compared with the server's before.
    func isRelated(to other: ProviderAccount) -> Bool {
        guard identity.teamID == other.identity.teamID else { return false }
        if relatedKeyID == other.identity.keyID || other.relatedKeyID == identity.keyID { return true }
        return topics == nil && other.topics == nil
    }
}
