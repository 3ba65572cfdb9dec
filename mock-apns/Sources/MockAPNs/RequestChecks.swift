import Glibc
import Payloads
import Signing

/// The rules of APNs, from top to bottom: the first one that is broken is the answer.
struct RequestChecks {
    let topics: Set<String>?
    let devices: SyntheticDevices?
    let tokens: TokenCache

    /// What the connection has shown of its client.
    struct Client {
        /// Subject UID of a verified client certificate; nil on a token connection.
        var certificateTopic: String?
        /// UNIX seconds of the last verified token.
        var knownTokenIssuedAt: Int64 = 0
        /// The server has no provider key: nothing can be verified, so nothing is demanded.
        var isAuthenticationOff = false
    }

    enum Answer {
        case accepted(trace: (run: RunID, sequence: UInt64)?)
        case rejected(Reason)
    }

    /// A provider token counts for an hour ("Establishing a token-based connection to APNs").
    static let tokenLifetime: Int64 = 3600
    private static let pathPrefix: StaticString = "/3/device/"

    /// - Parameter tokenVerified: called with a token that was just found valid, to be remembered by the connection.
    func judge(
        _ request: RequestState, client: Client, unixTime: Int64,
        tokenVerified: (UnsafeRawBufferPointer, Int64) -> Void
    ) -> Answer {
        // 405: only POST.
        guard isPost(request.value(.method)) else { return .rejected(.methodNotAllowed) }
        // 404: only /3/device/<token>.
        let path = request.value(.path)
        guard hasPrefix(path) else { return .rejected(.badPath) }
        // 400: the token is missing.
        let deviceToken = UnsafeRawBufferPointer(rebasing: path[Self.pathPrefix.utf8CodeUnitCount...])
        if deviceToken.isEmpty { return .rejected(.missingDeviceToken) }
        // 400: a header twice.
        if request.hasDuplicates { return .rejected(.duplicateHeaders) }
        // 403: the provider token.
        if let reason = checkToken(request, client, unixTime, tokenVerified) { return .rejected(reason) }
        // 400: apns-id.
        if request.has(.identifier), !Self.isUUID(request.value(.identifier)) { return .rejected(.badMessageId) }
        // 400: apns-expiration.
        if request.has(.expiration), !Self.isNumber(request.value(.expiration)) {
            return .rejected(.badExpirationDate)
        }
        // 400: apns-push-type.
        let pushType = Self.pushType(request.value(.pushType))
        if request.has(.pushType), pushType == nil { return .rejected(.invalidPushType) }
        // 400: apns-priority.
        let priority = Self.priority(request)
        guard let priority else { return .rejected(.badPriority) }
        if pushType == .background, priority == 10, request.has(.priority) { return .rejected(.badPriority) }
        // 400: apns-collapse-id.
        if request.value(.collapseID).count > 64 { return .rejected(.badCollapseId) }
        // 400: the topic.
        if let reason = checkTopic(request, client, pushType ?? .alert) { return .rejected(reason) }
        // 400: the device token.
        guard Self.isWellFormedToken(deviceToken) else { return .rejected(.badDeviceToken) }
        if let devices, devices.index(ofToken: deviceToken) == nil { return .rejected(.badDeviceToken) }
        // 400, 413: the payload.
        if request.bodyCount == 0 { return .rejected(.payloadEmpty) }
        if request.bodyCount > (pushType ?? .alert).payloadLimit { return .rejected(.payloadTooLarge) }
        // Apple names no reason of its own for a payload that is no JSON object with an `aps`.
        guard let walk = JSONWalk.over(request.body) else { return .rejected(.payloadEmpty) }
        guard walk.hasAPS || (pushType == .mdm && walk.hasMDM) else { return .rejected(.payloadEmpty) }
        return .accepted(trace: walk.trace.flatMap(TraceTag.parse))
    }

    private func isPost(_ method: UnsafeRawBufferPointer) -> Bool {
        method.count == 4 && memcmp(method.baseAddress!, ("POST" as StaticString).utf8Start, 4) == 0
    }

    private func hasPrefix(_ path: UnsafeRawBufferPointer) -> Bool {
        let length = Self.pathPrefix.utf8CodeUnitCount
        return path.count >= length && memcmp(path.baseAddress!, Self.pathPrefix.utf8Start, length) == 0
    }

    private func checkToken(
        _ request: RequestState, _ client: Client, _ unixTime: Int64,
        _ tokenVerified: (UnsafeRawBufferPointer, Int64) -> Void
    ) -> Reason? {
        if request.hasKnownToken { return checkAge(client.knownTokenIssuedAt, unixTime) }
        guard request.has(.authorization) else {
            return client.certificateTopic != nil || client.isAuthenticationOff ? nil : .missingProviderToken
        }
        let value = request.value(.authorization)
        if client.isAuthenticationOff { return nil }
        guard value.count > 7, strncasecmp(value.baseAddress!, "bearer ", 7) == 0 else {
            return .invalidProviderToken
        }
        let jwt = UnsafeRawBufferPointer(rebasing: value[7...])
        switch tokens.verdict(jwt) {
        case .invalid: return .invalidProviderToken
        case .valid(let issuedAt):
            if let reason = checkAge(issuedAt, unixTime) { return reason }
            tokenVerified(value, issuedAt)
            return nil
        }
    }

    private func strncasecmp(_ value: UnsafeRawPointer, _ text: String, _ count: Int) -> Int32 {
        Glibc.strncasecmp(value.assumingMemoryBound(to: CChar.self), text, count)
    }

    /// Older than an hour is expired; from more than an hour ahead is not a time of issue.
    private func checkAge(_ issuedAt: Int64, _ unixTime: Int64) -> Reason? {
        if unixTime - issuedAt > Self.tokenLifetime { return .expiredProviderToken }
        if issuedAt - unixTime > Self.tokenLifetime { return .invalidProviderToken }
        return nil
    }

    private func checkTopic(_ request: RequestState, _ client: Client, _ pushType: PushType) -> Reason? {
        guard request.has(.topic), !request.value(.topic).isEmpty else {
            // A certificate for one topic says it itself.
            return client.certificateTopic == nil ? .missingTopic : nil
        }
        if topics == nil, client.certificateTopic == nil, pushType.topicSuffix.isEmpty {
            return Self.isTopic(request.value(.topic)) ? nil : .badTopic
        }
        let topic = request.text(.topic)
        guard Self.isTopic(request.value(.topic)) else { return .badTopic }
        guard topic.hasSuffix(pushType.topicSuffix) else { return .badTopic }
        let bundleID = String(topic.dropLast(pushType.topicSuffix.utf8.count))
        if let certificateTopic = client.certificateTopic, bundleID != certificateTopic, topic != certificateTopic {
            return .topicDisallowed
        }
        if let topics, !topics.contains(bundleID) { return .topicDisallowed }
        return nil
    }

    static func isTopic(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count <= 255
            && text.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46
                    || $0 == 95
            }
    }

    private static func priority(_ request: RequestState) -> Int? {
        guard request.has(.priority) else { return 10 }
        let value = request.value(.priority)
        if value.count == 1 {
            return value[0] == 0x35 ? 5 : value[0] == 0x31 ? 1 : nil
        }
        return value.count == 2 && value[0] == 0x31 && value[1] == 0x30 ? 10 : nil
    }

    private static func pushType(_ value: UnsafeRawBufferPointer) -> PushType? {
        // The commonest first, without making a String.
        if value.count == 5, memcmp(value.baseAddress!, ("alert" as StaticString).utf8Start, 5) == 0 { return .alert }
        return PushType(rawValue: String(decoding: value, as: UTF8.self))
    }

    static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        !text.isEmpty && text.count <= 19 && text.allSatisfy { (48...57).contains($0) }
    }

    static func isUUID(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count == 36 else { return false }
        for (place, byte) in text.enumerated() {
            if place == 8 || place == 13 || place == 18 || place == 23 {
                if byte != 0x2D { return false }
            } else {
                switch byte {
                case 48...57, 97...102, 65...70: continue
                default: return false
                }
            }
        }
        return true
    }

    /// Hexadecimal, whole bytes; 64 digits today, but the length is not promised.
    static func isWellFormedToken(_ token: UnsafeRawBufferPointer) -> Bool {
        guard token.count >= 64, token.count <= 400, token.count & 1 == 0 else { return false }
        for byte in token {
            switch byte {
            case 48...57, 97...102, 65...70: continue
            default: return false
            }
        }
        return true
    }
}
