import Settings

/// What outcomes and latency are kept apart by, when it is asked for; stages and profiles always are.
public enum BreakdownDimension: Sendable, Equatable {
    case status
    /// By the connection's number, 0 first.
    case connection
    /// By the device's tag that begins so.
    case tag(prefix: String)

    /// As results name it.
    public var name: String {
        switch self {
        case .status: "status"
        case .connection: "connection"
        case .tag(let prefix): "tag:\(prefix)"
        }
    }

    /// `status`, `connection` or `tag:PREFIX`.
    public init(parsing text: String) throws(SettingsError) {
        switch text {
        case "status": self = .status
        case "connection": self = .connection
        default:
            guard text.hasPrefix("tag:"), text.count > 4 else {
                throw SettingsError(
                    "\"\(text)\"" + NearestName.hint(text, among: ["status", "connection", "tag:location_"]))
            }
            self = .tag(prefix: String(text.dropFirst(4)))
        }
    }
}
