import CVector
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
    var rules = RequestRules()
    private let scratch = JSONScratch(capacity: RequestState.bodyCapacity)

    /// What the connection has shown of its client.
    struct Client {
        var environment = PushEnvironment.production
        /// nil on a token connection.
        var certificate: PeerCertificate?
        /// The key of the connection's first push.
        var keyID: String?
        /// Of its token last found valid: when it was issued, and when it was first seen here, UNIX seconds.
        var tokenIssuedAt: Int64 = 0
        var tokenChangedAt: Int64?
        /// The same of the keys that are related to it.
        var relatedTokens: [String: (issuedAt: Int64, changedAt: Int64)] = [:]
        /// The request's token is by a related key.
        var isByRelatedKey = false
        /// The last request brought a token that was not known and is valid.
        var hasNewToken = false
        /// What the first key may push to, and the related key of this request; nil: everything.
        var scope: TopicScope?
        var relatedScope: TopicScope?
        /// The last topic that was found well formed: mostly the next one is the same.
        var knownTopic: [UInt8] = []
        /// Whose suffix it has; nil: it is a bundle id.
        var knownType: PushType?
        /// What the request's key may push to.
        var requestScope: TopicScope? { isByRelatedKey ? relatedScope : scope }
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
        // Who is known by a token has no certificate.
        if !request.hasKnownToken, client.certificate != nil { takeTopic(of: client, request) }
        // 400: all other header fields. What was right is right when it is repeated.
        if let right = request.pattern?._withUnsafeGuaranteedRef({ $0.right }) {
            (request.pushType, request.priority) = right
        } else {
            if let reason = checkHeaders(request, &client) { return .broken(reason) }
            request.pattern?._withUnsafeGuaranteedRef { $0.right = (request.pushType, request.priority) }
        }
        // 400, 410: the device token.
        guard Self.isWellFormedToken(deviceToken, digits: rules.tokenDigits) else { return .broken(.badDeviceToken) }
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
        guard let walk = JSONWalk.over(request.body, listing: members, in: scratch) else {
            return .broken(.payloadEmpty)
        }
        if !walk.hasAPS, request.pushType.needsAPS || (request.pushType == .mdm && !walk.hasMDM) {
            return .broken(.payloadEmpty)
        }
        return .accepted(trace: walk.trace.flatMap(TraceTag.parse))
    }

    /// All header fields but `:path` and those that say who sends, in the order of the rules.
    private func checkHeaders(_ request: RequestState, _ client: inout Client) -> Reason? {
        // 400: apns-id.
        if request.has(.identifier), !Self.isUUID(request.value(.identifier)) { return .badMessageId }
        // 400: apns-expiration.
        if request.has(.expiration), !Self.isNumber(request.value(.expiration)) {
            return .badExpirationDate
        }
        // 400: apns-push-type.
        if request.has(.pushType) {
            guard let type = Self.pushType(request.value(.pushType)) else { return .invalidPushType }
            request.pushType = type
        } else {
            request.pushType = typeOfTopic(request, &client)
        }
        // 400: apns-priority.
        guard let priority = Self.priority(request) else { return .badPriority }
        if request.pushType == .background {
            // "Always use priority 5. Using priority 10 is an error."
            if priority == 10, rules.backgroundPriority == .strict || request.has(.priority) {
                return .badPriority
            }
        } else if priority == 1, request.pushType == .liveactivity {
            // "Set the value for the apns-priority header field to 5 or 10."
            return .badPriority
        }
        request.priority = priority
        // 400: apns-collapse-id.
        if request.value(.collapseID).count > 64 { return .badCollapseId }
        // 400: the topic.
        return checkTopic(request, &client)
    }

    // MARK: The sender

    /// By provider token, or by client certificate. "Sending notification requests to APNs", `authorization`: "APNs ignores this
    /// header if you use certificate-based authentication."
    @inline(__always)
    func checkSender(_ request: RequestState, _ client: inout Client, _ unixTime: Int64) -> Reason? {
        client.isByRelatedKey = false
        return request.hasKnownToken
            ? checkAge(client.tokenIssuedAt, unixTime) : checkNewSender(request, &client, unixTime)
    }

    private func checkNewSender(_ request: RequestState, _ client: inout Client, _ unixTime: Int64) -> Reason? {
        if let certificate = client.certificate { return checkCertificate(certificate, client.environment) }
        if request.has(.authorization) {
            return tokens.isOff && !tokens.takesAnyKey
                ? nil : checkToken(request.value(.authorization), &client, unixTime)
        }
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
    static func jwt(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
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
            // "The key ID in the provider token doesn't match the environment."
            return rules.keyEnvironmentReason
        }
        if let first = client.keyID, first != keyID {
            // "The key ID in the provider token isn't related to the key ID of the token used in the first push of this connection."
            guard tokens.areRelated(first, keyID) else { return .unrelatedKeyIdInToken }
            return checkRelatedToken(keyID, account?.scope, issuedAt, &client, unixTime)
        }
        if let changedAt = client.tokenChangedAt,
            let reason = checkUpdate(to: issuedAt, from: client.tokenIssuedAt, since: changedAt, unixTime)
        {
            return reason
        }
        if !tokens.updates.allows(keyID: keyID, issuedAt: issuedAt, unixTime: unixTime) {
            return .tooManyProviderTokenUpdates
        }
        if issuedAt != client.tokenIssuedAt { client.tokenChangedAt = unixTime }
        client.keyID = keyID
        client.scope = account?.scope
        client.tokenIssuedAt = issuedAt
        client.hasNewToken = true
        return nil
    }

    /// The same for a key that the connection did not begin with. Its tokens are never the connection's known one.
    private func checkRelatedToken(
        _ keyID: String, _ scope: TopicScope?, _ issuedAt: Int64, _ client: inout Client, _ unixTime: Int64
    ) -> Reason? {
        let before = client.relatedTokens[keyID]
        if let before, let reason = checkUpdate(to: issuedAt, from: before.issuedAt, since: before.changedAt, unixTime)
        {
            return reason
        }
        if !tokens.updates.allows(keyID: keyID, issuedAt: issuedAt, unixTime: unixTime) {
            return .tooManyProviderTokenUpdates
        }
        if before?.issuedAt != issuedAt { client.relatedTokens[keyID] = (issuedAt, unixTime) }
        client.isByRelatedKey = true
        client.relatedScope = scope
        return nil
    }

    /// "APNs report an error if you use a new token more than once every 20 minutes on the same connection" ("Establishing a
    /// token-based connection to APNs"); from when the token before was first seen here.
    private func checkUpdate(to issuedAt: Int64, from before: Int64, since: Int64, _ unixTime: Int64) -> Reason? {
        let isEarly =
            tokens.updates.scope == .connection && issuedAt != before && unixTime - since < TokenUpdates.interval
        return isEarly ? .tooManyProviderTokenUpdates : nil
    }

    /// The next new token is not too early: a rule has called the one before expired.
    func allowNewToken(_ client: inout Client) {
        client.tokenChangedAt = nil
        client.relatedTokens = [:]
        if let keyID = client.keyID { tokens.updates.forget(keyID) }
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
        guard !value.isEmpty else { return .missingTopic }
        guard isTopic(value, &client) else { return .badTopic }
        let type = request.pushType
        let suffix = type.topicSuffix
        let isPlain = suffix.isEmpty ? client.knownType == nil : client.knownType == type
        if isPlain, topics == nil, client.certificate == nil, client.scope == nil, !client.isByRelatedKey { return nil }
        let topic = request.text(.topic)
        guard topic.hasSuffix(suffix), topic.utf8.count > suffix.utf8.count else { return .badTopic }
        // alert, background: "the apns-topic header field must use your app's bundle ID as the topic".
        if suffix.isEmpty, client.knownType != nil, type != .mdm { return .badTopic }
        if let certificate = client.certificate {
            // "The location push type supports only token-based authentication." Else: "If a push topic for a specific push type isn't
            // listed, you can't use the certificate to send a notification of that push type."
            guard type != .location, certificate.isFor(topic) else { return .topicDisallowed }
        }
        let bundleID = String(topic.dropLast(suffix.utf8.count))
        if let topics, !topics.contains(bundleID) { return .topicDisallowed }
        // "Use team-scoped keys … to any topic in a team", "topic-specific keys … to specific team topics".
        if client.requestScope?.includes(bundleID) == false { return .topicDisallowed }
        return nil
    }

    /// "APNs uses the app's bundle ID as the default topic", with a certificate for it alone.
    private func takeTopic(of client: Client, _ request: RequestState) {
        guard request.value(.topic).isEmpty, let topic = client.certificate?.onlyTopic else { return }
        request.take(.topic, topic)
    }

    /// What a push without `apns-push-type` is: what its topic is for, so that a VoIP push of before iOS 13 is one.
    private func typeOfTopic(_ request: RequestState, _ client: inout Client) -> PushType {
        let value = request.value(.topic)
        return !value.isEmpty && isTopic(value, &client) ? client.knownType ?? .alert : .alert
    }

    /// Looks only at topics other than the last.
    @inline(__always)
    private func isTopic(_ text: UnsafeRawBufferPointer, _ client: inout Client) -> Bool {
        let isKnown =
            text.count == client.knownTopic.count
            && client.knownTopic.withUnsafeBytes { memcmp($0.baseAddress!, text.baseAddress!, text.count) == 0 }
        return isKnown || isNewTopic(text, &client)
    }

    @inline(never)
    private func isNewTopic(_ text: UnsafeRawBufferPointer, _ client: inout Client) -> Bool {
        guard Self.isTopic(text) else { return false }
        client.knownTopic.removeAll(keepingCapacity: true)
        client.knownTopic.append(contentsOf: text)
        client.knownType = PushType(suffixOf: text)
        if client.knownType != nil, isNamed(String(decoding: text, as: UTF8.self)) { client.knownType = nil }
        return true
    }

    /// Somebody has said that this is a bundle id, whatever it ends with.
    func isNamed(_ topic: String) -> Bool { topics?.contains(topic) == true || tokens.names(topic) }

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

    /// Hexadecimal, whole bytes, as many digits as `RequestRules.tokenDigits` says.
    static func isWellFormedToken(_ token: UnsafeRawBufferPointer, digits: ClosedRange<Int>) -> Bool {
        guard token.count >= digits.lowerBound, token.count <= digits.upperBound, token.count & 1 == 0 else {
            return false
        }
        let text = token.baseAddress!.assumingMemoryBound(to: UInt8.self)
        // Nearly all there are.
        if token.count == 64 {
            return pushload_no_digits(text) | pushload_no_digits(text + 16) | pushload_no_digits(text + 32)
                | pushload_no_digits(text + 48) == 0
        }
        return HexDigits.areDigits(text, token.count)
    }
}
