/// `apns-push-type`, with what Apple ties to it ("Sending notification requests to APNs").
public enum PushType: String, CaseIterable, Sendable, Codable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// What the topic must end with for this type, empty when it is the bundle id itself.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The system itself looks for an `aps` in the payload. For the other types the payload is the app's: PushKit's pages (voip,
    /// complication, pushtotalk) and the location extension's ask for none, device management has its own key, and "Using push
    /// notifications to signal changes" gives a file provider's whole payload as `container-identifier` and `domain`.
    public var needsAPS: Bool {
        switch self {
        case .alert, .background, .liveactivity, .widgets, .controls: true
        case .location, .voip, .complication, .fileprovider, .mdm, .pushtotalk: false
        }
    }

    /// Largest payload, bytes: 4,096, for voip 5,120.
    public var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// 10, but 5 for background pushes, which must not use 10.
    public var defaultPriority: Int { self == .background ? 5 : 10 }

    /// What `apns-priority` may be without APNs refusing the push (BadPriority). "Sending notification requests to APNs", background: "Always use priority 5. Using priority 10
    /// is an error"; 1, which is for the device's power alone, is taken too. "Starting and updating Live Activities with ActivityKit
    /// push notifications": "Set the value for the apns-priority header field to 5 or 10".
    public var priorities: [Int] {
        switch self {
        case .background: [5, 1]
        case .liveactivity: [10, 5]
        default: [10, 5, 1]
        }
    }
}
