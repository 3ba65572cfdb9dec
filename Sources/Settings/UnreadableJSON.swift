import Foundation

/// Why bytes are no JSON, as a clause after the name of their file.
public enum UnreadableJSON {
    /// - Parameter bytes: that no decoder took.
    public static func why(_ bytes: some Sequence<UInt8>) -> String {
        guard let first = bytes.first(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }) else {
            return "empty; expected JSON"
        }
        guard [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(first) else { return "no JSON" }
        return "not complete JSON; the file is truncated or damaged"
    }
}
