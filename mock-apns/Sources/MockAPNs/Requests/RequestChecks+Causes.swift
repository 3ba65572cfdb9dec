import Networking
import Payloads
import Settings
import Signing

/// Which of a reason's causes it was, with what the request says and what would be right. The request is looked at anew, for the log
/// and `check` only.
extension RequestChecks {
    /// nil: there is no more to say than the reason, or the request did not deserve it (a fault rule's answer).
    ///
    /// - Parameter certificate: the client's.
    func cause(
        of reason: Reason, _ request: RequestState, certificate: PeerCertificate? = nil, unixTime: Int64
    ) -> String? {
        switch reason {
        case .badCertificate: return certificate?.problem.map { "the client certificate: \($0)" }
        case .invalidProviderToken, .expiredProviderToken: return causeOfToken(request, unixTime)
        // What follows is of pushes to devices.
        case _ where !Self.hasPrefix(request.value(.path), Self.devicePath): return nil
        case .badPriority: return causeOfPriority(request)
        case .badTopic: return causeOfTopic(request)
        case .topicDisallowed:
            let topic = request.text(.topic)
            let bundleID =
                topic.hasSuffix(request.pushType.topicSuffix)
                ? String(topic.dropLast(request.pushType.topicSuffix.count)) : topic
            guard let topics, !topics.contains(bundleID) else { return nil }
            let known = topics.sorted().prefix(5).joined(separator: ", ") + (topics.count > 5 ? ", …" : "")
            return "the bundle id is \(Self.quoted(bundleID)); the server is for \(known) (--topic)"
        case .invalidPushType:
            let text = request.text(.pushType)
            guard PushType(rawValue: text) == nil else { return nil }
            return "apns-push-type is \(Self.quoted(text))"
                + NearestName.hint(text, among: PushType.allCases.map(\.rawValue))
        case .badDeviceToken:
            return rules.problem(ofToken: request.deviceToken).map { "the device token \($0)" }
        case .badCollapseId:
            let count = request.value(.collapseID).count
            return count > 64 ? "apns-collapse-id has \(count) bytes; expected at most 64" : nil
        case .badMessageId:
            guard request.has(.identifier), !Self.isUUID(request.value(.identifier)) else { return nil }
            return "apns-id is \(Self.quoted(request.text(.identifier))); expected a UUID"
        case .badExpirationDate:
            guard request.has(.expiration), !Self.isNumber(request.value(.expiration)) else { return nil }
            return
                "apns-expiration is \(Self.quoted(request.text(.expiration))); expected a whole number of UNIX seconds"
        case .payloadTooLarge:
            let limit = request.pushType.payloadLimit
            guard request.bodyCount > limit else { return nil }
            return
                "the payload has \(request.bodyCount) bytes; expected at most \(limit) in a push of type \(request.pushType)"
        case .payloadEmpty: return causeOfPayload(request)
        default: return nil
        }
    }

    private func causeOfToken(_ request: RequestState, _ unixTime: Int64) -> String? {
        guard !tokens.isOff || tokens.takesAnyKey, !request.hasKnownToken, request.has(.authorization) else {
            return nil
        }
        guard let jwt = Self.jwt(request.value(.authorization)) else {
            return "the authorization header does not begin with \"bearer \" and a token"
        }
        guard case .valid(let issuedAt, _) = tokens.verdict(jwt) else { return tokens.problem(jwt) }
        if issuedAt > unixTime + Self.tokenLifetime {
            return "the provider token's iat is \(issuedAt), more than an hour ahead; now is \(unixTime)"
        }
        if issuedAt < unixTime - Self.tokenLifetime {
            return "the provider token's iat is \(issuedAt), more than an hour ago; now is \(unixTime)"
        }
        return nil
    }

    private func causeOfPriority(_ request: RequestState) -> String? {
        let type = request.pushType
        let priority = Self.priority(request)
        if let priority, type.priorities.contains(priority) { return nil }
        let numbers = type.priorities.map { "\($0)" }
        let expected =
            "expected \(numbers.dropLast().joined(separator: ", ")) or \(numbers.last ?? "") in a push of type \(type)"
        guard request.has(.priority) else {
            return "there is no apns-priority, which means 10; \(expected) (--background-priority)"
        }
        return "apns-priority is \(Self.quoted(request.text(.priority))); \(expected)"
    }

    private func causeOfTopic(_ request: RequestState) -> String? {
        let value = request.value(.topic)
        let topic = Self.quoted(request.text(.topic))
        guard Self.isTopic(value) else {
            return value.count > 255
                ? "apns-topic has \(value.count) bytes; expected at most 255"
                : "apns-topic is \(topic); expected letters, digits, -, . and _ only"
        }
        let type = request.pushType
        let other = PushType(suffixOf: value).flatMap { isNamed(request.text(.topic)) ? nil : $0 }
        guard other != type else { return nil }
        let bundleID = request.text(.topic).dropLast(other?.topicSuffix.count ?? 0)
        let expected = Self.quoted(bundleID + type.topicSuffix)
        let hint = other.map { ", or apns-push-type: \($0)" } ?? ""
        return "apns-topic is \(topic); expected \(expected) in a push of type \(type)\(hint)"
    }

    private func causeOfPayload(_ request: RequestState) -> String? {
        if request.bodyCount == 0 { return "there is no payload" }
        guard let walk = JSONWalk.over(request.body), !walk.hasAPS else { return nil }
        if request.pushType == .mdm {
            return walk.hasMDM ? nil : "the payload has no \"mdm\", which a push of type mdm needs"
        }
        return request.pushType.needsAPS
            ? "the payload has no \"aps\", which a push of type \(request.pushType) needs" : nil
    }

    /// What a request says, which may be anything.
    private static func quoted(_ text: some StringProtocol) -> String { TokenVerifier.quoted(text, most: 120) }
}
