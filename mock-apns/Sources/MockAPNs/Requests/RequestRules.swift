import Payloads
import Settings

/// Where Apple's pages leave a rule open, or say one thing and its servers another: what the mock goes by.
public struct RequestRules: Sendable, Equatable {
    /// A background push without `apns-priority`.
    public enum BackgroundPriority: String, Sendable, CaseIterable {
        /// Refused: "If you omit this header, APNs sets the notification priority to 10", and for background pushes "Using
        /// priority 10 is an error" ("Sending notification requests to APNs").
        case strict
        /// Taken; only a 10 that is written is refused.
        case lenient
    }

    public var backgroundPriority = BackgroundPriority.strict
    /// Hexadecimal digits of a device token: as many as this, and an even number. "Don't make assumptions about device token size"
    /// ("Sending notification requests to APNs"); 64 digits are the shortest so far.
    public var tokenDigits = 64...400 {
        didSet { tokenDigits = tokenDigits.clamped(to: Self.possibleTokenDigits) }
    }
    /// What a key of the other environment is answered: `badEnvironmentKeyIdInToken`, as Apple's page spells it, or
    /// `badEnvironmentKeyInToken`, as clients report it.
    public var keyEnvironmentReason = Reason.badEnvironmentKeyIdInToken

    public init() {}

    func isToken(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { RequestChecks.isWellFormedToken(UnsafeRawBufferPointer($0), digits: tokenDigits) }
    }

    /// Why a text is no device token, as in `has 63 digits; expected …`; nil when it is one.
    func problem(ofToken text: String) -> String? {
        var text = text
        return text.withUTF8 { problem(ofToken: UnsafeRawBufferPointer($0)) }
    }

    func problem(ofToken token: UnsafeRawBufferPointer) -> String? {
        guard !RequestChecks.isWellFormedToken(token, digits: tokenDigits) else { return nil }
        let (least, most) = (tokenDigits.lowerBound, tokenDigits.upperBound)
        guard tokenDigits.contains(token.count), token.count & 1 == 0 else {
            return "has \(token.count) digits; expected an even number from \(least) to \(most) (--token-digits)"
        }
        return "has other characters than hexadecimal digits"
    }

    /// What `tokenDigits` may be.
    public static let possibleTokenDigits = 8...1024

    /// Reads `64-400`, or `64` for exactly so many.
    public static func tokenDigits(_ text: String) throws(SettingsError) -> ClosedRange<Int> {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil
        }
        let possible = possibleTokenDigits
        guard parts.count <= 2, let first = parts[0], let last = parts[parts.count - 1], first <= last,
            possible.contains(first), possible.contains(last), first.isMultiple(of: 2), last.isMultiple(of: 2)
        else {
            throw SettingsError(
                "\"\(text)\": expected an even number from \(possible.lowerBound) to \(possible.upperBound), or two of them, "
                    + "as in 8-400")
        }
        return first...last
    }

    /// Reads one of the two spellings.
    public static func keyEnvironmentReason(_ text: String) throws(SettingsError) -> Reason {
        let spellings = [Reason.badEnvironmentKeyIdInToken, .badEnvironmentKeyInToken]
        guard let reason = spellings.first(where: { $0.name == text }) else {
            throw SettingsError("\"\(text)\": expected \(spellings.map(\.name).joined(separator: " or "))")
        }
        return reason
    }
}
