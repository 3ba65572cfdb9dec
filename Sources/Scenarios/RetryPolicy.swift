import Settings

/// Which outcomes a provider would send again, and how often. Pushes that were refused unprocessed (GOAWAY, REFUSED_STREAM)
/// are sent again in any case.
public struct RetryPolicy: Sendable, Equatable {
    /// 429 TooManyRequests.
    public var tooManyRequests = false
    /// 500 and 503.
    public var serverErrors = false
    /// The connection ended while the push was unanswered: it may have been delivered, and is then delivered twice.
    public var connectionLoss = false

    public static let off = RetryPolicy()
    public var isOff: Bool { self == .off }

    /// `off`, or some of `429`, `5xx` and `connection`, separated by commas.
    public init(parsing text: String) throws(SettingsError) {
        for word in text.split(separator: ",").map({ $0.filter { $0 != " " } }) {
            switch word {
            case "429": tooManyRequests = true
            case "5xx": serverErrors = true
            case "connection": connectionLoss = true
            case "off": break
            default:
                throw SettingsError(
                    "\"\(word)\" is nothing to send again for; expected off, or some of 429, 5xx and connection")
            }
        }
    }

    private init() {}

    public func includes(status: Int) -> Bool {
        status == 429 ? tooManyRequests : status >= 500 ? serverErrors : false
    }
}
