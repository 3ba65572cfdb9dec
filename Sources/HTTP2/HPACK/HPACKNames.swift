/// What a decoder's owner makes of names, asked once for each name of the static table (RFC 7541 appendix A). Decoders of one owner share
/// it; any thread may read it.
public final class HPACKNames: @unchecked Sendable {
    let classify: @Sendable (UnsafePointer<UInt8>, Int) -> UInt8
    /// At their indices; 0 is not one.
    let staticFields: UnsafeMutablePointer<HPACKField>

    /// - Parameter classify: a number for a name, 0...255; called for names that are spelt out and once for each static entry.
    public init(_ classify: @escaping @Sendable (UnsafePointer<UInt8>, Int) -> UInt8) {
        self.classify = classify
        staticFields = .allocate(capacity: HPACKStaticTable.count + 1)
        var field = HPACKField()
        staticFields.initialize(to: field)
        for (place, entry) in HPACKStaticTable.entries.enumerated() {
            field.name = entry.name.utf8Start
            field.nameLength = entry.name.utf8CodeUnitCount
            field.value = entry.value.utf8Start
            field.valueLength = entry.value.utf8CodeUnitCount
            field.mark = classify(field.name, field.nameLength)
            (staticFields + place + 1).initialize(to: field)
        }
    }

    deinit { staticFields.deallocate() }
}
