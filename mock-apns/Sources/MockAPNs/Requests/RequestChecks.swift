import Glibc
import Networking
import Payloads
import Signing

/// The rules of APNs for a push, from top to bottom: the first one that is broken is the answer.
struct RequestChecks {
    let topics: Set<String>?
    let directory: DeviceDirectory
    let tokens: TokenCache
    /// Where the members of the last payload stand; nil: nobody wants to know.
    var members: MemberList?
    /// Devices to be made ready for their pushes; nil: there is no device model.
    var fleets: DeviceFleets?

    /// What the connection has shown of its client.
    struct Client {
        var environment = PushEnvironment.production
        /// nil on a token connection.
        var certificate: PeerCertificate?
        /// Of the token last found valid: UNIX seconds, and the key that signed it.
        var tokenIssuedAt: Int64 = 0
        /// The key of the connection's first push; a connection keeps to it.
        var keyID: String?
        /// When the connection's token last changed, UNIX seconds.
        var tokenChangedAt: Int64?
        /// The last request brought a token that was not known and is valid.
        var hasNewToken = false
        /// Bundle ids of the connection's key; nil: all.
        var topics: Set<String>?
        /// The last topic that was found well formed: mostly the next one is the same.
        var knownTopic: [UInt8] = []

        /// Looks only at topics other than the last.
        @inline(__always)
        fileprivate mutating func isTopic(_ text: UnsafeRawBufferPointer) -> Bool {
            let isKnown =
                text.count == knownTopic.count
                && knownTopic.withUnsafeBytes { memcmp($0.baseAddress!, text.baseAddress!, text.count) == 0 }
            return isKnown || isNewTopic(text)
        }

        @inline(never)
        private mutating func isNewTopic(_ text: UnsafeRawBufferPointer) -> Bool {
            guard RequestChecks.isTopic(text) else { return false }
            knownTopic.removeAll(keepingCapacity: true)
            knownTopic.append(contentsOf: text)
            return true
        }
    }

    enum Answer {
        case accepted(trace: (run: RunID, sequence: UInt64)?)
        case rejected(PushAnswer)

        static func broken(_ reason: Reason) -> Answer { .rejected(PushAnswer.rejected(reason)) }
    }

    /// A provider token counts for an hour ("Establishing a token-based connection to APNs").
    static let tokenLifetime: Int64 = 3600
    static let devicePath: StaticString = "/3/device/"

    /// - Parameters:
    ///   - unixTime: seconds.
    ///   - now: nanoseconds of the monotonic clock.
    func judge(_ request: RequestState, client: inout Client, unixTime: Int64, now: UInt64) -> Answer {
        // 405: only POST.
        guard Self.isPost(request.value(.method)) else { return .broken(.methodNotAllowed) }
        // 404: only /3/device/<token>.
        guard Self.hasPrefix(request.value(.path), Self.devicePath) else { return .broken(.badPath) }
        // 400: the token is missing.
        let deviceToken = request.deviceToken
        if deviceToken.isEmpty { return .broken(.missingDeviceToken) }
        if let fleets { request.deviceKey = fleets.expect(deviceToken) }
        // 400: a header twice.
        if request.hasDuplicates { return .broken(.duplicateHeaders) }
        // 403, 429: who is it?
        if let reason = checkSender(request, &client, unixTime) { return .broken(reason) }
        // 400: apns-id.
        if request.has(.identifier), !Self.isUUID(request.value(.identifier)) { return .broken(.badMessageId) }
        // 400: apns-expiration.
        if request.has(.expiration), !Self.isNumber(request.value(.expiration)) {
            return .broken(.badExpirationDate)
        }
        // 400: apns-push-type.
        if request.has(.pushType) {
            guard let type = Self.pushType(request.value(.pushType)) else { return .broken(.invalidPushType) }
            request.pushType = type
        }
        // 400: apns-priority.
        guard let priority = Self.priority(request) else { return .broken(.badPriority) }
        if request.pushType == .background, priority == 10, request.has(.priority) { return .broken(.badPriority) }
        request.priority = priority
        // 400: apns-collapse-id.
        if request.value(.collapseID).count > 64 { return .broken(.badCollapseId) }
        // 400: the topic.
        if let reason = checkTopic(request, &client) { return .broken(reason) }
        // 400, 410: the device token.
        guard Self.isWellFormedToken(deviceToken) else { return .broken(.badDeviceToken) }
        if !directory.takesAll {
            let answer = directory.check(
                deviceToken, topic: request.value(.topic), environment: client.environment, now: now)
            if answer.reason != nil { return .rejected(answer) }
        }
        // 400, 413: the payload.
        if let fleets, let key = request.deviceKey { fleets.approach(key) }
        if request.bodyCount == 0 { return .broken(.payloadEmpty) }
        if request.bodyCount > request.pushType.payloadLimit { return .broken(.payloadTooLarge) }
        // Apple names no reason of its own for a payload that is no JSON object, or lacks what its push type needs.
        guard let walk = walk(over: request.body) else { return .broken(.payloadEmpty) }
        if !walk.hasAPS, request.pushType.needsAPS || (request.pushType == .mdm && !walk.hasMDM) {
            return .broken(.payloadEmpty)
        }
        return .accepted(trace: walk.trace.flatMap(TraceTag.parse))
    }

    @inline(__always)
    private func walk(over payload: UnsafeRawBufferPointer) -> JSONWalk? {
        if let members { return JSONWalk.over(payload, listing: members) }
        return JSONWalk.over(payload)
    }

    // MARK: The sender

    /// By provider token, or by client certificate.
    func checkSender(_ request: RequestState, _ client: inout Client, _ unixTime: Int64) -> Reason? {
        if request.hasKnownToken { return checkAge(client.tokenIssuedAt, unixTime) }
        if request.has(.authorization) {
            return tokens.isOff && !tokens.takesAnyKey
                ? nil : checkToken(request.value(.authorization), &client, unixTime)
        }
        if let certificate = client.certificate { return checkCertificate(certificate, client.environment) }
        return tokens.isOff ? nil : .missingProviderToken
    }

    /// The team of the key that has signed the request's provider token; nil when that is not valid.
    func teamID(_ request: RequestState) -> String? {
        guard let jwt = Self.jwt(request.value(.authorization)), case .valid(_, let keyID) = tokens.verdict(jwt) else {
            return nil
        }
        return tokens.account(keyID)?.identity.teamID
    }

    /// What follows `bearer `.
    private static func jwt(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard value.count > 7,
            strncasecmp(value.baseAddress!.assumingMemoryBound(to: CChar.self), "bearer ", 7) == 0
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: value[7...])
    }

    private func checkToken(
        _ value: UnsafeRawBufferPointer, _ client: inout Client, _ unixTime: Int64
    ) -> Reason? {
        guard let jwt = Self.jwt(value) else { return .invalidProviderToken }
        guard case .valid(let issuedAt, let keyID) = tokens.verdict(jwt) else { return .invalidProviderToken }
        let account = tokens.account(keyID)
        guard account != nil || tokens.takesAnyKey else { return .invalidProviderToken }
        if let reason = checkAge(issuedAt, unixTime) { return reason }
        if let environment = account?.environment, environment != client.environment {
            return .badEnvironmentKeyIdInToken
        }
        if let known = client.keyID, known != keyID { return .unrelatedKeyIdInToken }
        if tokens.updates.scope == .connection, let changedAt = client.tokenChangedAt,
            issuedAt != client.tokenIssuedAt, unixTime - changedAt < TokenUpdates.interval
        {
            // The connection's first token may be exchanged at once only by one that is as old as it will get.
            return .tooManyProviderTokenUpdates
        }
        if !tokens.updates.allows(keyID: keyID, issuedAt: issuedAt, unixTime: unixTime) {
            return .tooManyProviderTokenUpdates
        }
        if issuedAt != client.tokenIssuedAt { client.tokenChangedAt = unixTime }
        client.keyID = keyID
        client.topics = account?.topics
        client.tokenIssuedAt = issuedAt
        client.hasNewToken = true
        return nil
    }

    /// Older than an hour is expired. A clock that is ahead by up to an hour is borne; what is beyond it is no time of issue.
    private func checkAge(_ issuedAt: Int64, _ unixTime: Int64) -> Reason? {
        // A claim may be any number: it is never subtracted from.
        if issuedAt < unixTime - Self.tokenLifetime { return .expiredProviderToken }
        if issuedAt > unixTime + Self.tokenLifetime { return .invalidProviderToken }
        return nil
    }

    private func checkCertificate(_ certificate: PeerCertificate, _ environment: PushEnvironment) -> Reason? {
        if certificate.problem != nil { return .badCertificate }
        if certificate.uid == nil { return .forbidden }
        // A certificate without Apple's extensions is for both.
        let (development, production) = (certificate.isForDevelopment, certificate.isForProduction)
        if development || production, !(environment == .development ? development : production) {
            return .badCertificateEnvironment
        }
        return nil
    }

    // MARK: The topic

    private func checkTopic(_ request: RequestState, _ client: inout Client) -> Reason? {
        let value = request.value(.topic)
        let certificate = request.has(.authorization) ? nil : client.certificate
        guard !value.isEmpty else {
            // A certificate for one topic says it itself.
            return certificate.map { $0.topics.count <= 1 } == true ? nil : .missingTopic
        }
        guard client.isTopic(value) else { return .badTopic }
        let suffix = request.pushType.topicSuffix
        if topics == nil, certificate == nil, client.topics == nil, suffix.isEmpty { return nil }
        let topic = request.text(.topic)
        guard topic.hasSuffix(suffix), topic.utf8.count > suffix.utf8.count else { return .badTopic }
        let bundleID = String(topic.dropLast(suffix.utf8.count))
        if let certificate, bundleID != certificate.uid, topic != certificate.uid,
            !certificate.topics.contains(topic)
        {
            return .topicDisallowed
        }
        if let topics, !topics.contains(bundleID) { return .topicDisallowed }
        if let topics = client.topics, !topics.contains(bundleID) { return .topicDisallowed }
        return nil
    }

    // MARK: Shapes

    static func isPost(_ method: UnsafeRawBufferPointer) -> Bool {
        method.count == 4 && memcmp(method.baseAddress!, ("POST" as StaticString).utf8Start, 4) == 0
    }

    static func hasPrefix(_ path: UnsafeRawBufferPointer, _ prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return path.count >= length && memcmp(path.baseAddress!, prefix.utf8Start, length) == 0
    }

    static func isTopic(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count <= 255
            && text.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 46
                    || $0 == 95
            }
    }

    static func priority(_ request: RequestState) -> Int? {
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
        !text.isEmpty && text.count <= 18 && text.allSatisfy { (48...57).contains($0) }
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
        return HexDigits.areDigits(token.baseAddress!.assumingMemoryBound(to: UInt8.self), token.count)
    }
}
