import HTTP2
import Payloads
import Settings

/// The small texts of fault rules, the same in files and flags.
public enum FaultText {
    private static let commonest: [Int: Reason] = [
        400: .badDeviceToken, 403: .expiredProviderToken, 404: .badPath, 405: .methodNotAllowed, 410: .unregistered,
        413: .payloadTooLarge, 429: .tooManyRequests, 500: .internalServerError, 503: .serviceUnavailable,
    ]

    /// A reason by its name, or the commonest of a status by its number.
    public static func reason(_ text: String) throws(SettingsError) -> Reason {
        if let status = Int(text), let reason = commonest[status] { return reason }
        if Int(text) != nil {
            let statuses = commonest.keys.sorted().map { "\($0)" }.joined(separator: ", ")
            let isStatus = Int(text).map(RawAnswer.statuses.contains) == true
            throw SettingsError(
                "\"\(text)\" is no status that APNs answers; expected \(statuses)"
                    + (isStatus ? ", a reason, or in a fault file answer: \(text)" : " or a reason"))
        }
        guard let reason = Reason(name: text) else {
            throw SettingsError("\"\(text)\" is not a reason of APNs" + NearestName.hint(text, among: Reason.allNames))
        }
        return reason
    }

    /// `ServiceUnavailable=2%`.
    public static func rejection(_ text: String) throws(SettingsError) -> FaultRule.Rejection {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw SettingsError("\"\(text)\": expected a reason and its share, as in ServiceUnavailable=2%")
        }
        let reason = try reason(parts[0])
        do throws(Units.ParseError) { return .init(reason, share: try Units.share(parts[1])) } catch {
            throw SettingsError(error.description)
        }
    }

    /// An HTTP/2 error code by its name in RFC 9113 section 7, or its number.
    public static func errorCode(_ text: String) throws(SettingsError) -> ErrorCode {
        if let number = UInt32(text) { return ErrorCode(rawValue: number) }
        guard let index = ErrorCode.names.firstIndex(of: text.uppercased()) else {
            throw SettingsError(
                "\"\(text)\" is not an HTTP/2 error code" + NearestName.hint(text, among: ErrorCode.names))
        }
        return ErrorCode(rawValue: UInt32(index))
    }

    public static func pushType(_ text: String) throws(SettingsError) -> PushType {
        guard let type = PushType(rawValue: text) else {
            throw SettingsError(
                "\"\(text)\" is not a push type" + NearestName.hint(text, among: PushType.allCases.map(\.rawValue)))
        }
        return type
    }

    public static func checkBundleID(_ text: String) throws(SettingsError) {
        guard !text.isEmpty, Array(text.utf8).withUnsafeBytes(RequestChecks.isTopic) else {
            throw SettingsError("\"\(text)\": expected a bundle id, as in com.example.app")
        }
    }

    public static func environment(_ text: String) throws(SettingsError) -> PushEnvironment {
        guard let environment = PushEnvironment(rawValue: text) else {
            throw SettingsError("\"\(text)\" is not an environment; expected production or development")
        }
        return environment
    }

    /// `500ms/10s`: how long, and how often.
    public static func stall(_ text: String) throws(SettingsError) -> (length: UInt64, every: UInt64) {
        let parts = text.split(separator: "/").map(String.init)
        let wrong = SettingsError("\"\(text)\": expected how long and how often, as in 500ms/10s")
        guard parts.count == 2 else { throw wrong }
        let times: [UInt64]
        do throws(Units.ParseError) { times = [try Units.duration(parts[0]), try Units.duration(parts[1])] } catch {
            throw SettingsError("\"\(text)\": \(error)")
        }
        guard times[0] > 0, times[0] < times[1] else { throw wrong }
        return (times[0], times[1])
    }
}
