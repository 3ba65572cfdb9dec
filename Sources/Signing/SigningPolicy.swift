/// When a new provider token is signed.
public enum SigningPolicy: Sendable, Equatable, CustomStringConvertible {
    /// One token for the whole run, signed anew after so many seconds (20–60 minutes; Apple refuses more often and later).
    case cached(renewAfterSeconds: Int)
    /// Each connection has its own, signed when it connects.
    case perConnection
    /// Each worker signs anew after so many pushes.
    case every(UInt64)
    case perPush

    /// 50 minutes.
    public static let standard = SigningPolicy.cached(renewAfterSeconds: 3000)

    /// Apple refuses a provider whose token changes more often than once in 20 minutes.
    ///
    /// - Parameter last: when one was last replaced because the target said that it had expired, UNIX seconds; nil: never.
    static func mayReplace(_ last: Int64?, _ unixTime: Int64) -> Bool { last.map { unixTime - $0 >= 1200 } ?? true }

    /// `cached`, `cached:40m`, `per-connection`, `every:1000`, `per-push`.
    public init(parsing text: String) throws(SigningError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count > 1 ? parts[1] : nil) {
        case ("cached", nil): self = .standard
        case ("cached", let value?):
            let digits = value.hasSuffix("m") ? String(value.dropLast()) : ""
            guard let minutes = Int(digits), (20...60).contains(minutes) else {
                throw SigningError("sign policy \"\(text)\": the renewal time must be 20m to 60m, as in cached:50m")
            }
            self = .cached(renewAfterSeconds: minutes * 60)
        case ("per-connection", nil): self = .perConnection
        case ("per-push", nil): self = .perPush
        case ("every", let value?):
            guard let count = UInt64(value), count > 0 else {
                throw SigningError("sign policy \"\(text)\": expected a number of pushes, as in every:1000")
            }
            self = .every(count)
        default:
            throw SigningError(
                "sign policy \"\(text)\": expected cached, cached:50m, per-connection, every:1000 or per-push")
        }
    }

    public var description: String {
        switch self {
        case .cached(let seconds): "cached:\(seconds / 60)m"
        case .perConnection: "per-connection"
        case .every(let count): "every:\(count)"
        case .perPush: "per-push"
        }
    }
}
