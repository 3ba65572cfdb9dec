/// The rules a request's header fields must keep (RFC 9113 sections 8.1 to 8.3), field by field.
struct RequestRules {
    /// Bits of pseudo-headers seen.
    private var seen: UInt8 = 0
    private var hasRegular = false
    private var isTrailer = false
    private(set) var isBroken = false
    /// From content-length, -1: none.
    private(set) var contentLength: Int64 = -1

    private static let method: UInt8 = 1
    private static let scheme: UInt8 = 2
    private static let path: UInt8 = 4
    private static let authority: UInt8 = 8
    private static let required: UInt8 = 7

    init(isTrailer: Bool) { self.isTrailer = isTrailer }

    @inline(__always)
    mutating func take(_ field: HPACKField) {
        if !field.hasValidValue { isBroken = true }
        if field.mark < HeaderMark.method {
            hasRegular = true
            return
        }
        takeRuled(field)
    }

    private mutating func takeRuled(_ field: HPACKField) {
        switch field.mark {
        case HeaderMark.method: pseudo(Self.method)
        case HeaderMark.scheme: pseudo(Self.scheme)
        case HeaderMark.path:
            pseudo(Self.path)
            if field.valueLength == 0 { isBroken = true }
        case HeaderMark.authority: pseudo(Self.authority)
        case HeaderMark.contentLength:
            hasRegular = true
            takeContentLength(field)
        case HeaderMark.te:
            hasRegular = true
            let expected: StaticString = "trailers"
            if field.valueLength != 8 || (0..<8).contains(where: { field.value[$0] != expected.utf8Start[$0] }) {
                isBroken = true
            }
        default: isBroken = true
        }
    }

    private mutating func pseudo(_ bit: UInt8) {
        if isTrailer || hasRegular || seen & bit != 0 { isBroken = true }
        seen |= bit
    }

    private mutating func takeContentLength(_ field: HPACKField) {
        guard contentLength < 0, field.valueLength > 0, field.valueLength <= 18 else {
            isBroken = true
            return
        }
        var value: Int64 = 0
        for place in 0..<field.valueLength {
            let digit = field.value[place] &- 0x30
            if digit > 9 { isBroken = true }
            value = value &* 10 &+ Int64(digit)
        }
        contentLength = value
    }

    /// All fields have been taken.
    @inline(__always)
    mutating func finish() {
        if !isTrailer, seen & Self.required != Self.required { isBroken = true }
    }
}
