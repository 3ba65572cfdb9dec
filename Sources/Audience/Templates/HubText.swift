/// What the hub makes of a property's value, and how it is written into JSON.
enum HubText {
    /// Cut after `count` characters, or one before where the last would be half of a pair.
    ///
    /// The documentation speaks of characters ("Notification Hubs templates", Template expression language) and does not say which.
    /// Assumed: those of .NET, in which the hub is written, UTF-16 code units.
    static func clipped(_ text: String, to count: Int) -> String {
        var units = 0
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            units += UTF16.width(scalar)
            if units > count { break }
            result.append(scalar)
        }
        return String(result)
    }

    static let dots = "..."

    /// As `clipped`, but what is cut ends with three dots, and with them has at most `count` characters (3 or more).
    static func dotted(_ text: String, to count: Int) -> String {
        text.utf16.count <= count ? text : clipped(text, to: count - dots.utf8.count) + dots
    }

    /// As .NET's `Uri.EscapeDataString`: the unreserved characters of RFC 3986, section 2.3, are kept, all others become the
    /// percent-encoded bytes of their UTF-8, with capital digits.
    static func uriEncoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// A number as the documentation of `#(prop)` defines it: `(0|([1-9][0-9]*))(\.[0-9]+)?((e|E)(+|-)?[0-9]+)?`. It is a number of JSON
    /// too; a sign before it is not in the definition.
    static func isNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        func take(_ bytes: UInt8...) -> Bool {
            guard let first = rest.first, bytes.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        if !take(0x30), digits() == 0 { return false }
        if take(0x2E), digits() == 0 { return false }
        if take(0x65, 0x45) {
            _ = take(0x2B, 0x2D)
            if digits() == 0 { return false }
        }
        return rest.isEmpty
    }

    /// Appends the inside of a JSON text (RFC 8259, section 7). Only what must be escaped is, and besides it the second of
    /// two `{`, which Payloads would take for the beginning of a hole; not where `isForPayloads` is false.
    static func appendEscaped(_ text: String, to output: inout [UInt8], isForPayloads: Bool = true) {
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C: output += [0x5C, byte]
            case 0x08: output += [0x5C, 0x62]
            case 0x09: output += [0x5C, 0x74]
            case 0x0A: output += [0x5C, 0x6E]
            case 0x0C: output += [0x5C, 0x66]
            case 0x0D: output += [0x5C, 0x72]
            case 0..<0x20: output += [0x5C, 0x75, 0x30, 0x30, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default:
                if isForPayloads {
                    appendGuarded(byte, to: &output)
                } else {
                    output.append(byte)
                }
            }
        }
    }

    /// Appends a byte of a JSON text as it is, unless it is the second `{`: `{\u007b`.
    static func appendGuarded(_ byte: UInt8, to output: inout [UInt8]) {
        if byte == 0x7B, output.last == 0x7B {
            output += [0x5C, 0x75, 0x30, 0x30, 0x37, 0x62]
        } else {
            output.append(byte)
        }
    }

    /// As much of a text as a message shows; control characters as spaces.
    static func short(_ text: String) -> String {
        let beginning = text.unicodeScalars.prefix(60)
        var shown = String.UnicodeScalarView()
        for scalar in beginning {
            shown.append(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar)
        }
        return String(shown) + (beginning.endIndex < text.unicodeScalars.endIndex ? "…" : "")
    }
}
