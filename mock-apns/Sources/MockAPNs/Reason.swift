/// An error answer of APNs: its reason and HTTP status ("Handling notification responses from APNs").
public enum Reason: Int, CaseIterable, Sendable {
    case badCollapseId, badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, invalidPushType, missingDeviceToken, missingTopic
    case payloadEmpty, topicDisallowed
    case badCertificate, expiredProviderToken, invalidProviderToken, missingProviderToken
    case badPath, methodNotAllowed, payloadTooLarge, internalServerError

    /// As the answer's `reason` spells it.
    public var name: String {
        let text = String(describing: self)
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    public var status: Int {
        switch self {
        case .badCertificate, .expiredProviderToken, .invalidProviderToken, .missingProviderToken: 403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .internalServerError: 500
        default: 400
        }
    }

    /// `{"reason":"…"}`
    var body: [UInt8] { Array("{\"reason\":\"\(name)\"}".utf8) }
}
