import Foundation
import Glibc
import Payloads

/// An answer put together for one request: not on the fast path.
struct ChannelAnswer: Equatable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Counted under this reason; nil when it is a success.
    var reason: Reason?

    static func == (left: ChannelAnswer, right: ChannelAnswer) -> Bool {
        left.status == right.status && left.body == right.body && left.reason == right.reason
            && left.headers.elementsEqual(right.headers) { $0.name == $1.name && $0.value == $1.value }
    }

    static func rejected(_ reason: Reason) -> ChannelAnswer {
        ChannelAnswer(
            status: reason.status, headers: [("content-type", "application/json")], body: reason.body(timestamp: 0),
            reason: reason)
    }
}

/// The rules of broadcast channels: managing them ("Sending channel management requests to APNs") and sending to them
/// ("Sending broadcast push notification requests to APNs"). From top to bottom; the first that is broken is the answer. What is
/// quoted of reasons stands in "Handling error responses from Apple Push Notification service".
struct ChannelRequests {
    let checks: RequestChecks
    let channels: ChannelDirectory
    /// Whose they are; nil: the default one's.
    var namespace: String?
    static let broadcastPath: StaticString = "/4/broadcasts/apps/"
    static let managementPath: StaticString = "/1/apps/"

    // MARK: Management

    func manage(_ request: RequestState, client: inout RequestChecks.Client, unixTime: Int64) -> ChannelAnswer {
        var answer = judgeManagement(request, &client, unixTime)
        answer.headers.append(("apns-request-id", requestID(request)))
        return answer
    }

    private func judgeManagement(
        _ request: RequestState, _ client: inout RequestChecks.Client, _ unixTime: Int64
    ) -> ChannelAnswer {
        let path = request.text(.path)
        guard RequestChecks.hasPrefix(request.value(.path), Self.managementPath) else { return .rejected(.badPath) }
        let parts = path.dropFirst(Self.managementPath.utf8CodeUnitCount).split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1] == "channels" || parts[1] == "all-channels" else {
            return .rejected(.badPath)
        }
        let bundleID = String(parts[0])
        let isList = parts[1] == "all-channels"
        let method = request.text(.method)
        guard isList ? method == "GET" : ["GET", "POST", "DELETE"].contains(method) else {
            return .rejected(.methodNotAllowed)
        }
        if request.hasDuplicates { return .rejected(.duplicateHeaders) }
        if let reason = checks.checkSender(request, &client, unixTime) { return .rejected(reason) }
        if request.has(.requestID), !RequestChecks.isUUID(request.value(.requestID)) { return .rejected(.badMessageId) }
        if let reason = checkApp(bundleID, client) { return .rejected(reason) }
        if isList {
            let list = channels.list(bundleID, client.environment).map(JSONText.quoted).joined(separator: ",")
            return success(200, body: "{\"channels\":[\(list)]}")
        }
        if method == "POST" { return create(request, bundleID, client.environment) }
        guard request.has(.channelID) else { return .rejected(.missingChannelId) }
        guard ChannelDirectory.isID(request.value(.channelID)) else { return .rejected(.badChannelId) }
        let id = request.text(.channelID)
        guard let channel = channels.channel(id, bundleID, client.environment) else {
            return .rejected(.channelNotRegistered)
        }
        if method == "DELETE" {
            _ = channels.remove(id, bundleID, client.environment)
            return ChannelAnswer(status: 204)
        }
        return success(
            200, body: "{\"message-storage-policy\":\(channel.storagePolicy),\"push-type\":\"LiveActivity\"}")
    }

    private struct Wish: Decodable {
        let policy: Int?
        let pushType: String?
        let hasOtherKeys: Bool

        private enum Key: String, CodingKey, CaseIterable {
            case policy = "message-storage-policy"
            case pushType = "push-type"
        }

        /// Any key.
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            policy = try container.decodeIfPresent(Int.self, forKey: .policy)
            pushType = try container.decodeIfPresent(String.self, forKey: .pushType)
            hasOtherKeys = try decoder.container(keyedBy: Name.self).allKeys.contains {
                Key(rawValue: $0.stringValue) == nil
            }
        }
    }

    private func create(
        _ request: RequestState, _ bundleID: String, _ environment: PushEnvironment
    ) -> ChannelAnswer {
        guard request.bodyCount <= RequestState.bodyCapacity,
            let wish = try? JSONDecoder().decode(Wish.self, from: Data(request.body))
        else { return .rejected(.badRequestPayload) }
        // "The JSON Request payload contained an unrecognizable attribute."
        if wish.hasOtherKeys { return .rejected(.badRequestParams) }
        guard let pushType = wish.pushType else { return .rejected(.missingPushType) }
        guard pushType.lowercased() == "liveactivity" else { return .rejected(.invalidPushType) }
        guard let policy = wish.policy, policy == 0 || policy == 1 else { return .rejected(.badRequestPayload) }
        guard let id = channels.create(bundleID, environment, storagePolicy: policy) else {
            return .rejected(.cannotCreateChannelConfig)
        }
        return ChannelAnswer(status: 201, headers: [("apns-channel-id", id)])
    }

    private func success(_ status: Int, body: String) -> ChannelAnswer {
        ChannelAnswer(status: status, headers: [("content-type", "application/json")], body: Array(body.utf8))
    }

    // MARK: Sending

    /// - Parameters:
    ///   - unixTime: seconds; `milliseconds` the same moment.
    ///   - deliver: called with the push when it is accepted.
    func broadcast(
        _ request: RequestState, client: inout RequestChecks.Client, unixTime: Int64, milliseconds: Int64,
        deliver: (DeliveredPush) -> Void
    ) -> ChannelAnswer {
        let identifier = requestID(request)
        let answer: ChannelAnswer
        switch judgeBroadcast(request, &client, unixTime, milliseconds, identifier) {
        case .success(let push):
            deliver(push)
            answer = ChannelAnswer(status: 200)
        case .failure(let rejection): answer = .rejected(rejection.reason)
        }
        var complete = answer
        complete.headers.append(("apns-request-id", identifier))
        if client.environment == .development, answer.reason == nil {
            complete.headers.append(("apns-unique-id", UUID().uuidString.lowercased()))
        }
        return complete
    }

    private struct Rejection: Error { let reason: Reason }

    private func judgeBroadcast(
        _ request: RequestState, _ client: inout RequestChecks.Client, _ unixTime: Int64, _ milliseconds: Int64,
        _ identifier: String
    ) -> Result<DeliveredPush, Rejection> {
        func no(_ reason: Reason) -> Result<DeliveredPush, Rejection> { .failure(Rejection(reason: reason)) }
        guard RequestChecks.isPost(request.value(.method)) else { return no(.methodNotAllowed) }
        let bundleID = String(request.text(.path).dropFirst(Self.broadcastPath.utf8CodeUnitCount))
        guard !bundleID.isEmpty, !bundleID.contains("/") else { return no(.badPath) }
        if request.hasDuplicates { return no(.duplicateHeaders) }
        if let reason = checks.checkSender(request, &client, unixTime) { return no(reason) }
        if request.has(.requestID), !RequestChecks.isUUID(request.value(.requestID)) { return no(.badMessageId) }
        if let reason = checkApp(bundleID, client) { return no(reason) }
        guard request.has(.channelID) else { return no(.missingChannelId) }
        guard ChannelDirectory.isID(request.value(.channelID)) else { return no(.badChannelId) }
        guard request.has(.pushType) else { return no(.missingPushType) }
        guard request.text(.pushType).lowercased() == "liveactivity" else { return no(.invalidPushType) }
        // "Set the value for the apns-priority header field to 5 or 10."
        guard let priority = RequestChecks.priority(request), priority != 1 else { return no(.badPriority) }
        var expiration: Int64?
        if request.has(.expiration) {
            guard RequestChecks.isNumber(request.value(.expiration)) else { return no(.badExpirationDate) }
            expiration = Int64(request.text(.expiration))
        }
        let id = request.text(.channelID)
        guard let channel = channels.channel(id, bundleID, client.environment) else {
            return no(.channelNotRegistered)
        }
        // What is not stored cannot be kept until a time.
        if channel.storagePolicy == 0, let expiration, expiration != 0 { return no(.badExpirationDate) }
        if request.bodyCount == 0 { return no(.payloadEmpty) }
        if request.bodyCount > 5120 { return no(.payloadTooLarge) }
        guard let walk = JSONWalk.over(request.body), walk.hasAPS else { return no(.payloadEmpty) }
        // "You can't use broadcast push notifications to start a Live Activity." Apple names no reason for it.
        if LiveActivityStart(request.body) != nil { return no(.badRequestParams) }
        let push = DeliveredPush(
            token: "", key: TokenKey(id), channel: id, topic: bundleID + PushType.liveactivity.topicSuffix,
            pushType: .liveactivity, priority: priority, identifier: identifier, collapseID: nil,
            expiration: expiration, acceptedAt: milliseconds, payload: Array(request.body),
            namespace: namespace)
        if channel.storagePolicy == 1 { channels.keep(push, in: id, client.environment) }
        return .success(push)
    }

    private func checkApp(_ bundleID: String, _ client: RequestChecks.Client) -> Reason? {
        let isShaped = Array(bundleID.utf8).withUnsafeBytes(RequestChecks.isTopic)
        guard isShaped else { return .badTopic }
        // "The topic is not allowed. Ensure that no push type suffix is added to the bundle ID."
        let hasSuffix = Array(bundleID.utf8).withUnsafeBytes { PushType(suffixOf: $0) != nil }
        if hasSuffix, !checks.isNamed(bundleID) { return .topicDisallowed }
        if let topics = checks.topics, !topics.contains(bundleID) { return .topicDisallowed }
        // "The bundle IDs parsed from your token or certificate don't include the topic present in the path."
        if client.requestScope?.includes(bundleID) == false { return .topicMismatch }
        if let certificate = client.certificate, !certificate.isFor(bundleID),
            !certificate.isFor(bundleID + PushType.liveactivity.topicSuffix)
        {
            return .topicMismatch
        }
        return channels.isEnabled(bundleID) ? nil : .featureNotEnabled
    }

    /// Its own when that is a UUID, or a new one.
    func requestID(_ request: RequestState) -> String {
        let own = request.text(.requestID)
        return request.has(.requestID) && RequestChecks.isUUID(request.value(.requestID))
            ? own : UUID().uuidString.lowercased()
    }
}
