/// The reason in what APNs says as JSON: the body of an error answer, the debug data of GOAWAY ("Handling notification responses
/// from APNs"). A stranger's bytes: bounded by the caller, and nothing is decoded.
public enum ReasonText {
    private static let key: StaticString = "\"reason\""
    private static let timestampKey: StaticString = "\"timestamp\""

    /// The whole number after `"timestamp":`, of at most 18 digits; nil when there is none. Of status 410: UNIX time, ms.
    public static func timestamp(in bytes: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard let found = place(after: timestampKey, bytes) else { return nil }
        var place = skipBlanks(bytes, from: found)
        guard place < bytes.count, bytes[place] == UInt8(ascii: ":") else { return nil }
        place = skipBlanks(bytes, from: place + 1)
        var number: UInt64 = 0
        let start = place
        while place < bytes.count, place - start < 18, (48...57).contains(bytes[place]) {
            number = number * 10 + UInt64(bytes[place] - 48)
            place += 1
        }
        return place > start ? number : nil
    }

    /// The string after `"reason":`, printable ASCII without an escape; nil when there is none.
    public static func find(in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let found = place(after: key, bytes) else { return nil }
        var place = skipBlanks(bytes, from: found)
        guard place < bytes.count, bytes[place] == UInt8(ascii: ":") else { return nil }
        place = skipBlanks(bytes, from: place + 1)
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
        let start = place + 1
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            guard isPrintable(bytes[end]), bytes[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        return end < bytes.count ? UnsafeBufferPointer(rebasing: bytes[start..<end]) : nil
    }

    /// Behind a key of the object that the bytes are, not of one within it, and not a text that reads so.
    private static func place(after key: StaticString, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var place = skipBlanks(bytes, from: 0)
        guard place < bytes.count, bytes[place] == UInt8(ascii: "{") else { return nil }
        var (depth, isKey) = (0, false)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isKey = depth == 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","): isKey = depth == 1
            case UInt8(ascii: "\""):
                if isKey, starts(bytes, place, with: key) { return place + key.utf8CodeUnitCount }
                isKey = false
                place += 1
                while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
                    place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
                }
            default: break
            }
            place += 1
        }
        return nil
    }

    private static func starts(
        _ bytes: UnsafeBufferPointer<UInt8>, _ place: Int, with key: StaticString
    ) -> Bool {
        guard bytes.count - place >= key.utf8CodeUnitCount else { return false }
        for offset in 0..<key.utf8CodeUnitCount where bytes[place + offset] != key.utf8Start[offset] { return false }
        return true
    }

    private static func skipBlanks(_ bytes: UnsafeBufferPointer<UInt8>, from place: Int) -> Int {
        var place = place
        while place < bytes.count, isBlank(bytes[place]) { place += 1 }
        return place
    }

    /// White space, and the zero at the end of C strings.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0 || byte == 0x20 || (0x09...0x0D).contains(byte) }
    static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
}
