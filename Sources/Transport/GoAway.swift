import HTTP2

/// What a peer said with GOAWAY (RFC 9113 section 6.8): its error code, and its reason where it gave one.
public struct GoAway: Sendable, Equatable, CustomStringConvertible {
    public let code: ErrorCode
    /// The `reason` in the debug data, which APNs writes as JSON; else the debug data themselves. Printable ASCII and at most
    /// `longestReason` characters; `unreadable` where there were others; empty when there was none.
    public let reason: String

    /// Bytes of debug data that are looked at.
    static let longestDebugData = 256
    static let longestReason = 40
    static let unreadable = "(unreadable)"

    /// - Parameter debugData: a stranger's bytes, of any length.
    init(code: ErrorCode, debugData: some Sequence<UInt8>) {
        self.code = code
        reason = Self.text(of: debugData, longest: Self.longestReason)
    }

    /// `NO_ERROR IdleTimeout`, or the code alone.
    public var description: String { reason.isEmpty ? code.description : "\(code) \(reason)" }

    /// What debug data say, as in `reason`.
    ///
    /// - Parameter longest: characters; what is longer ends in dots.
    static func text(of debugData: some Sequence<UInt8>, longest: Int) -> String {
        Array(debugData.prefix(longestDebugData)).withUnsafeBufferPointer {
            text((ReasonText.find(in: $0) ?? $0)[...], longest)
        }
    }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ longest: Int) -> String {
        var bytes = bytes.drop(while: ReasonText.isBlank)
        while let last = bytes.last, ReasonText.isBlank(last) { bytes.removeLast() }
        guard bytes.allSatisfy(ReasonText.isPrintable) else { return unreadable }
        guard bytes.count > longest else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: bytes.prefix(longest - 3), as: UTF8.self) + "..."
    }
}
