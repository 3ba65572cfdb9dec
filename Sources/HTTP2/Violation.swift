/// What a peer did wrong, and whom it costs.
public struct Violation: Sendable {
    enum Scope {
        case connection
        case stream(Int32)
    }

    /// The error to answer with.
    public let code: ErrorCode
    /// Words for the log.
    public let text: String
    let scope: Scope

    init(_ code: ErrorCode, _ text: String, scope: Scope = .connection) {
        self.code = code
        self.text = text
        self.scope = scope
    }

    /// Frames without end; their name is the text.
    static func flood(_ frames: StaticString) -> Violation { Violation(.enhanceYourCalm, "\(frames)") }
    public var isFlood: Bool { code == .enhanceYourCalm }
}
