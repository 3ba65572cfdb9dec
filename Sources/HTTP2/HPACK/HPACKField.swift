/// One decoded field; the pointers are valid until the next call of `next` or of anything else on the decoder, and must
/// not be written to.
public struct HPACKField {
    public var name: UnsafePointer<UInt8>
    /// Bytes, 0...65,536; so is `valueLength`, and their sum.
    public var nameLength: Int
    public var value: UnsafePointer<UInt8>
    public var valueLength: Int
    /// What the decoder's `classify` said of the name: remembered with table entries, so that it is asked once an
    /// insertion.
    public var mark: UInt8
    /// The value's characters are allowed (RFC 9113 section 8.2.1); remembered with table entries too.
    public var hasValidValue = true

    /// An empty field, to be filled by `HPACKDecoder.next`.
    public init() {
        let nothing: StaticString = ""
        name = nothing.utf8Start
        nameLength = 0
        value = nothing.utf8Start
        valueLength = 0
        mark = 0
    }

    /// What it takes in a dynamic table (RFC 7541 section 4.1).
    @inline(__always)
    var tableSize: Int { nameLength &+ valueLength &+ 32 }
}
