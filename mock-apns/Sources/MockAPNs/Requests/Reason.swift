import Payloads

public typealias Reason = Payloads.Reason

extension Reason {
    /// When the mock answers so, in words.
    public var meaning: String {
        switch self {
        case .badCollapseId: "apns-collapse-id is longer than 64 bytes"
        case .badDeviceToken:
            "the device token is not hexadecimal of 64 to 400 digits (--token-digits), not registered, or of the other environment"
        case .badExpirationDate:
            "apns-expiration is not a whole number of UNIX seconds (broadcast: must be 0 when the channel stores nothing)"
        case .badMessageId: "apns-id is not a UUID"
        case .badPriority:
            "apns-priority is not 10, 5 or 1; or it is 10 for a background push, which it is without the header "
                + "(--background-priority); or 1 for a Live Activity"
        case .badTopic: "apns-topic is not a bundle id, lacks the suffix its push type needs, or has another one's"
        case .deviceTokenNotForTopic: "the device token is registered for another topic"
        case .duplicateHeaders: "a header is given twice"
        case .idleTimeout: "the request was begun but not finished in time"
        case .invalidPushType: "apns-push-type is not one of Apple's (broadcast: not liveactivity)"
        case .missingDeviceToken: "nothing follows /3/device/"
        case .missingTopic: "no apns-topic, and no client certificate for exactly one topic to take it from"
        case .payloadEmpty:
            "no payload, not a JSON object, or without what its push type needs: \"aps\" for alert, background, liveactivity, "
                + "widgets and controls, \"mdm\" for mdm"
        case .topicDisallowed:
            "the certificate, the key, its team or the server is not for this topic (broadcast: it has a push type's suffix)"
        case .badCertificate: "the client certificate is not signed by a trusted authority, or has expired"
        case .badCertificateEnvironment: "the client certificate is for the other environment"
        case .expiredProviderToken: "the provider token was issued more than an hour ago"
        case .forbidden: "the client certificate is not for pushes: its subject has no UID"
        case .invalidProviderToken:
            "the provider token is not \"bearer\" and an ES256 JWT by a known key for its team, issued no more than an hour ahead"
        case .missingProviderToken: "no authorization header, and no client certificate"
        case .unrelatedKeyIdInToken:
            "the connection's first provider token was signed with a key that this one's is not related to: of another team, or "
                + "either is for topics"
        case .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken: "the provider key is for the other environment"
        case .badPath: "the path is not /3/device/<token>"
        case .methodNotAllowed: "the method is not POST"
        case .expiredToken: "the device token has expired"
        case .unregistered: "the device token is no longer valid for the topic"
        case .payloadTooLarge: "the payload has more than 4,096 bytes (voip and broadcast: 5,120)"
        case .tooManyProviderTokenUpdates:
            "the provider token is another one than the one first seen less than 20 minutes before on this connection"
        case .tooManyRequests: "too many pushes to this device token"
        case .internalServerError: "the server has no room left to store pushes for devices that are offline"
        case .serviceUnavailable: "too many answers are waiting to be given"
        case .shutdown: "the server is shutting down"
        case .badChannelId: "apns-channel-id is not Base64 of at most 64 characters"
        case .badRequestPayload:
            "the body is not a JSON object with message-storage-policy 0 or 1 and push-type LiveActivity"
        case .badRequestParams:
            "the body has another key than message-storage-policy and push-type (broadcast: the payload starts a Live Activity)"
        case .cannotCreateChannelConfig: "the bundle id has as many channels as it may have"
        case .channelNotRegistered: "there is no such channel"
        case .featureNotEnabled: "broadcast is not enabled for this bundle id"
        case .missingChannelId: "no apns-channel-id"
        case .missingPushType: "no apns-push-type (management: no push-type)"
        case .topicMismatch: "the certificate, the key or its team is not for the bundle id in the path"
        }
    }

    /// `{"reason":"…"}`; for 410 with the time at which the token was found to be no longer valid, UNIX milliseconds.
    func body(timestamp: Int64) -> [UInt8] {
        let time = status == 410 ? ",\"timestamp\":\(timestamp)" : ""
        return Array("{\"reason\":\"\(name)\"\(time)}".utf8)
    }
}

/// What a push is answered: accepted (no reason), or why not.
struct PushAnswer: Equatable {
    var reason: Reason?
    /// Of a fault rule's own answer other than 200; 0: that of the reason, or 200.
    var rawStatus: UInt16 = 0
    /// UNIX milliseconds; of a 410.
    var timestamp: Int64 = 0

    static let accepted = PushAnswer(reason: nil)
    static func rejected(_ reason: Reason) -> PushAnswer { PushAnswer(reason: reason) }
    static func raw(_ status: Int) -> PushAnswer { PushAnswer(reason: nil, rawStatus: UInt16(status)) }

    var isAccepted: Bool { reason == nil && rawStatus == 0 }
    var status: Int { rawStatus != 0 ? Int(rawStatus) : reason?.status ?? 200 }
}
