/// The APNs headers of a push that do not change from push to push.
public struct PushHeaders: Sendable, Equatable {
    public let pushType: PushType
    /// With the suffix the push type needs.
    public let topic: String
    /// 10, 5 or 1, also one that APNs refuses for this type (`PushType.priorities`).
    public let priority: Int
    /// UNIX seconds; 0: try once, do not store. nil sends no header.
    public let expiration: Int64?
    /// At most 64 bytes.
    public let collapseID: String?
    /// What a recorded provider did not send.
    private var leavesOutType = false
    private var leavesOutPriority = false

    /// As a provider was recorded to send them, whether APNs takes them or not.
    ///
    /// - Parameters:
    ///   - pushType: alert where `sendsType` is false.
    ///   - topic: whole; empty sends none.
    ///   - priority: nil sends none.
    package init(
        recorded pushType: PushType, sendsType: Bool, topic: String, priority: Int?, expiration: Int64?,
        collapseID: String?
    ) {
        self.pushType = pushType
        self.topic = topic
        self.priority = priority ?? 10
        self.expiration = expiration
        self.collapseID = collapseID
        leavesOutType = !sendsType
        leavesOutPriority = priority == nil
    }

    /// - Parameters:
    ///   - bundleID: the app's bundle id; the suffix of the push type is appended when it is not there.
    ///   - priority: nil takes the push type's own; one that APNs refuses for the type is taken.
    /// - Throws: one line naming the header and the rule it breaks.
    public init(
        pushType: PushType, bundleID: String, priority: Int? = nil, expiration: Int64? = nil, collapseID: String? = nil
    ) throws(PayloadError) {
        let priority = priority ?? pushType.defaultPriority
        let problems = Self.problems(
            bundleID: bundleID, priority: priority, expiration: expiration, collapseID: collapseID)
        if let problem = problems.first { throw PayloadError(problem) }
        self.pushType = pushType
        topic = bundleID.hasSuffix(pushType.topicSuffix) ? bundleID : bundleID + pushType.topicSuffix
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
    }

    /// Everything that is wrong with the values of headers, one line each.
    package static func problems(
        bundleID: String, priority: Int?, expiration: Int64?, collapseID: String?
    ) -> [String] {
        var problems: [String] = []
        let isWord = bundleID.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46
                || $0 == 95
        }
        if bundleID.isEmpty || !isWord || bundleID.utf8.count > 255 {
            problems.append("topic \"\(bundleID)\": expected a bundle id of letters, digits, '-', '_' and '.'")
        }
        if let priority, ![1, 5, 10].contains(priority) {
            problems.append("priority \(priority): expected 10, 5 or 1")
        }
        if let expiration, expiration < 0 {
            problems.append("expiration \(expiration): expected UNIX seconds, or 0 to try once")
        }
        if let collapseID, collapseID.isEmpty || collapseID.utf8.count > 64 {
            problems.append("collapse id \"\(collapseID)\": expected 1 to 64 bytes, this has \(collapseID.utf8.count)")
        }
        if let collapseID, collapseID.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            problems.append("collapse id: expected text without line breaks and other control characters")
        }
        return problems
    }

    /// Name and value of each header, in the order they are sent.
    public var fields: [(String, String)] {
        var fields: [(String, String)] = []
        if !topic.isEmpty { fields.append(("apns-topic", topic)) }
        if !leavesOutType { fields.append(("apns-push-type", pushType.rawValue)) }
        if !leavesOutPriority { fields.append(("apns-priority", String(priority))) }
        if let expiration { fields.append(("apns-expiration", String(expiration))) }
        if let collapseID { fields.append(("apns-collapse-id", collapseID)) }
        return fields
    }
}
