import Payloads

/// What tells the requests of one namespace from those of another.
public enum NamespaceRule: String, Sendable, CaseIterable {
    /// The team of the provider token's key.
    case team
    /// The bundle id: the topic without its push type's suffix.
    case topic
    /// The port that was connected to.
    case port

    private static let suffixes = PushType.allCases.map(\.topicSuffix).filter { !$0.isEmpty }

    /// - Returns: the topic without the suffix of a push type.
    static func bundleID(ofTopic topic: String) -> String {
        guard let suffix = suffixes.first(where: { topic.hasSuffix($0) }), topic.utf8.count > suffix.utf8.count else {
            return topic
        }
        return String(topic.dropLast(suffix.utf8.count))
    }
}
