import CVector
import Glibc

/// What a header's name is, for the rules of RFC 9113 section 8.2 and 8.3; 1…127 are the session's owner's own.
public enum HeaderMark {
    public static let other: UInt8 = 0
    public static let method: UInt8 = 128
    public static let scheme: UInt8 = 129
    public static let authority: UInt8 = 130
    public static let path: UInt8 = 131
    public static let contentLength: UInt8 = 132
    public static let te: UInt8 = 133
    /// Another pseudo-header, also those of answers.
    static let unknownPseudo: UInt8 = 134
    /// connection, keep-alive, proxy-connection, transfer-encoding, upgrade.
    static let connectionSpecific: UInt8 = 135
    /// Empty, or with characters that must not be in a name.
    static let invalid: UInt8 = 136

    /// Names that HTTP/2 itself has rules for; `other` for all that are only valid.
    static func of(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt8 {
        func isNamed(_ text: StaticString) -> Bool {
            length == text.utf8CodeUnitCount && memcmp(name, text.utf8Start, length) == 0
        }
        if length > 0, name[0] == 0x3A {
            if isNamed(":method") { return method }
            if isNamed(":scheme") { return scheme }
            if isNamed(":authority") { return authority }
            return isNamed(":path") ? path : unknownPseudo
        }
        guard isToken(name, length) else { return invalid }
        switch length {
        case 2: return isNamed("te") ? te : other
        case 7: return isNamed("upgrade") ? connectionSpecific : other
        case 10: return isNamed("connection") || isNamed("keep-alive") ? connectionSpecific : other
        case 14: return isNamed("content-length") ? contentLength : other
        case 16: return isNamed("proxy-connection") ? connectionSpecific : other
        case 17: return isNamed("transfer-encoding") ? connectionSpecific : other
        default: return other
        }
    }

    /// A field name of RFC 9110 section 5.1 without upper case (RFC 9113 section 8.2.1).
    private static func isToken(_ name: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        guard length > 0 else { return false }
        for place in 0..<length {
            switch name[place] {
            case 0x61...0x7A, 0x30...0x39, 0x2D, 0x5F, 0x2E, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x5E, 0x60, 0x7C, 0x7E:
                continue
            default: return false
            }
        }
        return true
    }
}

/// A field value's characters (RFC 9113 section 8.2.1): no NUL, CR or LF, no space or tab at either end.
///
/// Cost: five instructions for 16 bytes that are all 0x20 and above, as nearly all are.
enum FieldValue {
    @inline(__always)
    static func isValid(_ value: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        if length == 0 { return true }
        if isBlank(value[0]) || isBlank(value[length &- 1]) { return false }
        var place = 0
        guard length >= 8 else {
            while place < length {
                if value[place] < 0x20 { return hasNoLineEnd(value, length) }
                place &+= 1
            }
            return true
        }
        guard length >= 16 else {
            let below = Self.below(value) | Self.below(value + (length &- 8))
            return below & 0x8080_8080_8080_8080 == 0 || hasNoLineEnd(value, length)
        }
        // The last sixteen bytes may have been looked at before.
        var controls = pushload_controls(value + (length &- 16))
        while place &+ 16 < length {
            controls |= pushload_controls(value + place)
            place &+= 16
        }
        return controls == 0 || hasNoLineEnd(value, length)
    }

    /// The highest bit of each of eight bytes that may be below 0x20.
    @inline(__always)
    private static func below(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
        let word = UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self)
        return (word &- 0x2020_2020_2020_2020) & ~word
    }

    private static func hasNoLineEnd(_ value: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        for place in 0..<length where value[place] == 0 || value[place] == 0x0A || value[place] == 0x0D { return false }
        return true
    }

    @inline(__always)
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
