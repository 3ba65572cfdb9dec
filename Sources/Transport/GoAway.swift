import HTTP2

/// What a peer said with GOAWAY (RFC 9113 section 6.8): its error code, and its reason where it gave one.
public struct GoAway: Sendable, Equatable, CustomStringConvertible {
    public let code: ErrorCode
    /// The `reason` in the debug data, which APNs writes as JSON; else the debug data themselves. Printable ASCII and at most
    /// `longestReason` characters; `unreadable` where there were others; empty when there was none.
    public let reason: String

    /// Bytes of debug data that are looked at.
    public static let longestDebugData = 256
    public static let longestReason = 40
    public static let unreadable = "(unreadable)"

    /// - Parameter debugData: a stranger's bytes, of any length.
    package init(code: ErrorCode, debugData: some Sequence<UInt8>) {
        self.code = code
        let bytes = Array(debugData.prefix(Self.longestDebugData))
        reason = Self.text(Self.reason(in: bytes) ?? bytes[...])
    }

    /// `NO_ERROR IdleTimeout`, or the code alone.
    public var description: String { reason.isEmpty ? code.description : "\(code) \(reason)" }

    /// The string after `"reason":`, where it needs no decoding.
    private static func reason(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let key = Array("\"reason\"".utf8)
        guard bytes.count > key.count,
            let start = (0..<(bytes.count - key.count)).first(where: { bytes[$0...].starts(with: key) })
        else { return nil }
        var rest = bytes[(start + key.count)...].drop(while: isBlank)
        guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
        rest = rest.drop(while: isBlank)
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        let value = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && isPrintable($0) }
        return value.endIndex < rest.endIndex && rest[value.endIndex] == UInt8(ascii: "\"") ? value : nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        guard bytes.allSatisfy(isPrintable) else { return unreadable }
        guard bytes.count > longestReason else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.prefix(longestReason - 3), as: UTF8.self) + "..."
    }

    /// White space, and the zero at the end of C strings.
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0 || byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
}
