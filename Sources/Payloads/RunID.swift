/// Names one run; 16 hexadecimal digits in every payload's trace tag.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// 16 hexadecimal digits; nil for anything else.
    public init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 16, let value = HexDigits.read(digits) else { return nil }
        rawValue = value
    }

    public var description: String {
        let hex = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - hex.count) + hex
    }
}
