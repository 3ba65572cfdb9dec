/// What a client did wrong, and whom it costs.
struct Violation {
    enum Scope {
        case connection
        case stream(Int32)
    }

    let code: ErrorCode
    let text: String
    let scope: Scope

    init(_ code: ErrorCode, _ text: String, scope: Scope = .connection) {
        self.code = code
        self.text = text
        self.scope = scope
    }
}
