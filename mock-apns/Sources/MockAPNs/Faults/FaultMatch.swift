import Payloads

extension FaultRule {
    /// Kinds of requests.
    public enum Request: String, Sendable, CaseIterable {
        case push, broadcast, management
    }

    /// Which requests; what is nil matches all. A text that ends with `*` is a prefix.
    public struct Match: Sendable, Equatable {
        /// nil: pushes only.
        public var requests: [Request]?
        /// Device tokens as in the path, compared without case.
        public var tokens: [String]?
        /// Of broadcasts and management the app's bundle id.
        public var topics: [String]?
        public var pushTypes: [PushType]?
        public var environment: PushEnvironment?
        /// `apns-id`, compared without case; of broadcasts and management `apns-request-id`.
        public var identifiers: [String]?
        public var collapseIDs: [String]?
        /// 10, 5 or 1.
        public var priorities: [Int]?
        /// Numbers of connections, as `/pushes` has them.
        public var connections: [UInt64]?
        /// Team ids of the provider tokens' keys.
        public var teams: [String]?

        public init() {}
        var kinds: [Request] { requests ?? [.push] }
        var isEverything: Bool { self == Match() }
        /// All that a request's fields are held against.
        var texts: [String] { [tokens, topics, identifiers, collapseIDs, teams].flatMap { $0 ?? [] } }
    }
}

/// A request as rules see it.
struct FaultSubject {
    let request: RequestState
    var kind = FaultRule.Request.push
    var environment = PushEnvironment.production
    /// Its number.
    var connection: UInt64 = 0
    /// Of its provider token's key; nil when there is none, or no rule asks.
    var team: String?

    fileprivate var topic: String {
        switch kind {
        case .push: request.text(.topic)
        case .broadcast: part(of: ChannelRequests.broadcastPath)
        case .management: part(of: ChannelRequests.managementPath)
        }
    }

    fileprivate var identifier: String { request.text(kind == .push ? .identifier : .requestID) }

    /// What stands between `prefix` and the next slash.
    private func part(of prefix: StaticString) -> String {
        let path = request.value(.path)
        guard RequestChecks.hasPrefix(path, prefix) else { return "" }
        return String(
            decoding: path.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }
}

extension FaultRule.Match {
    func matches(_ subject: FaultSubject) -> Bool {
        if subject.kind == .push, isEverything { return true }
        guard kinds.contains(subject.kind) else { return false }
        if let wanted = environment, wanted != subject.environment { return false }
        if let connections, !connections.contains(subject.connection) { return false }
        if let teams, !Self.contains(teams, subject.team ?? "") { return false }
        let request = subject.request
        if let priorities, !priorities.contains(RequestChecks.priority(request) ?? 0) { return false }
        if let topics, !Self.contains(topics, subject.topic) { return false }
        if let pushTypes, !pushTypes.contains(where: { $0 == subject.pushType }) { return false }
        if let identifiers, !Self.contains(identifiers, subject.identifier.lowercased()) { return false }
        if let collapseIDs, !Self.contains(collapseIDs, request.text(.collapseID)) { return false }
        if let tokens {
            guard subject.kind == .push, Self.contains(tokens, request.deviceTokenText.lowercased()) else {
                return false
            }
        }
        return true
    }

    private static func contains(_ patterns: [String], _ text: String) -> Bool {
        patterns.contains { $0.hasSuffix("*") ? text.hasPrefix($0.dropLast()) : text == $0 }
    }
}

extension FaultSubject {
    /// Broadcasts write `LiveActivity`; management has no such header.
    fileprivate var pushType: PushType? {
        switch kind {
        case .push: request.pushType
        case .broadcast: PushType(rawValue: request.text(.pushType).lowercased())
        case .management: nil
        }
    }
}
