/// An error answer of APNs: its reason and HTTP status ("Handling notification responses from APNs"; for broadcast
/// channels "Handling error responses from Apple Push Notification service").
public enum Reason: Int, CaseIterable, Sendable {
    case badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic
    case payloadEmpty, topicDisallowed
    case badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden, invalidProviderToken
    case missingProviderToken, unrelatedKeyIdInToken, badEnvironmentKeyIdInToken
    /// The same as the one before, as clients say that Apple's servers spell it; the page has only the other.
    case badEnvironmentKeyInToken
    case badPath, methodNotAllowed
    case expiredToken, unregistered
    case payloadTooLarge, tooManyProviderTokenUpdates, tooManyRequests, internalServerError
    case serviceUnavailable, shutdown
    // Broadcast channels only.
    case badChannelId, badRequestPayload, cannotCreateChannelConfig, channelNotRegistered, featureNotEnabled
    case missingChannelId, missingPushType, badRequestParams, topicMismatch

    /// The reason of this name, as Apple spells it.
    public init?(name: String) {
        guard let found = Self.byName[name] else { return nil }
        self = found
    }

    private static let names = allCases.map { reason in
        let text = String(describing: reason)
        return text.prefix(1).uppercased() + text.dropFirst()
    }
    private static let byName = Dictionary(uniqueKeysWithValues: zip(names, allCases))

    /// In the order of the cases.
    public static var allNames: [String] { names }

    /// As the answer's `reason` spells it.
    public var name: String { Self.names[rawValue] }

    public var status: Int {
        switch self {
        case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
            .missingProviderToken, .unrelatedKeyIdInToken, .badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken,
            .topicMismatch:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        default: 400
        }
    }
}
