/// Apple's two worlds: a device token is valid in one of them only, and a certificate or key may be.
public enum PushEnvironment: String, Sendable, CaseIterable {
    case production, development
}
