/// A payload of exactly so many bytes, of which nothing but its size and push type is known: valid JSON with what Apple asks of the
/// type, the trace tag where that fits, and a filling.
///
/// Cost: 30 ns and the filling. Allocates nothing.
package enum SizedPayload {
    /// What stands before the filling: a whole object but for its last brace.
    private static func opening(_ type: PushType) -> StaticString {
        switch type {
        case .alert: #"{"aps":{"alert":"Push"}"#
        case .background: #"{"aps":{"content-available":1}"#
        case .liveactivity: #"{"aps":{"event":"update","content-state":{},"timestamp":"#
        case .widgets, .controls: #"{"aps":{"content-changed":true}"#
        case .mdm: #"{"mdm":"replayed""#
        case .location, .voip, .complication, .fileprovider, .pushtotalk: #"{"aps":{}"#
        }
    }

    /// Digits of a UNIX time from 2001 to 2286.
    private static let timeDigits = 10

    /// Bytes of what stands before the filling, all but the last brace.
    private static func openingLength(_ type: PushType) -> Int {
        opening(type).utf8CodeUnitCount + (type == .liveactivity ? timeDigits + 1 : 0)
    }

    private static let tagOpening: StaticString = #","pushload-trace":""#
    private static let filling: (opening: StaticString, closing: StaticString) = (#","filling":""#, #"""#)

    /// Bytes of the trace tag as a member of the payload.
    private static func tagLength(_ sequence: UInt64) -> Int {
        var (digits, rest) = (1, sequence / 10)
        while rest > 0 { (digits, rest) = (digits + 1, rest / 10) }
        return tagOpening.utf8CodeUnitCount + 17 + digits + 1
    }

    /// A payload of the size has room for the trace tag of push `sequence`.
    package static func fitsTag(_ type: PushType, size: Int, sequence: UInt64) -> Bool {
        size >= openingLength(type) + tagLength(sequence) + 1
    }

    /// Bytes beyond the size that the memory must have.
    package static let slack = Digits.decimalRoom

    /// Writes the payload of push `sequence`. One too small for what its type asks for is an empty object; below two bytes it is
    /// none.
    ///
    /// - Parameters:
    ///   - unixTime: seconds.
    ///   - output: `size + slack` bytes.
    package static func write(
        _ type: PushType, size: Int, run: RunID, sequence: UInt64, unixTime: UInt64,
        into output: UnsafeMutablePointer<UInt8>
    ) {
        guard size >= openingLength(type) + 1 else { return writeSmall(size, output) }
        var place = put(opening(type), output)
        if type == .liveactivity {
            place += Digits.writeDecimal(min(max(unixTime, 1_000_000_000), 9_999_999_999), into: output + place)
            output[place] = 0x7D
            place += 1
        }
        let isTagged = fitsTag(type, size: size, sequence: sequence)
        fill(&place, size - 1 - (isTagged ? tagLength(sequence) : 0), output)
        if isTagged {
            place += put(tagOpening, output + place)
            place += TraceTag.write(run: run, sequence: sequence, into: output + place)
            output[place] = 0x22
            place += 1
        }
        output[place] = 0x7D
    }

    /// A member of so many letters, or spaces where there is no room for one.
    private static func fill(_ place: inout Int, _ end: Int, _ output: UnsafeMutablePointer<UInt8>) {
        let around = filling.opening.utf8CodeUnitCount + filling.closing.utf8CodeUnitCount
        if end - place >= around {
            place += put(filling.opening, output + place)
            let letters = end - place - filling.closing.utf8CodeUnitCount
            (output + place).update(repeating: 0x78, count: letters)
            place += letters
            place += put(filling.closing, output + place)
        }
        (output + place).update(repeating: 0x20, count: end - place)
        place = end
    }

    private static func writeSmall(_ size: Int, _ output: UnsafeMutablePointer<UInt8>) {
        let object: StaticString = size >= 10 ? #"{"aps":{}}"# : "{}"
        let length = min(put(object, output), size)
        (output + length).update(repeating: 0x20, count: size - length)
    }

    private static func put(_ text: StaticString, _ output: UnsafeMutablePointer<UInt8>) -> Int {
        output.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        return text.utf8CodeUnitCount
    }
}
