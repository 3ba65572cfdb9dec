/// Decodes header blocks (HPACK, RFC 7541) field by field, without a copy where the block or a table has the bytes already.
///
/// Any violation is final: the tables of both ends no longer agree, so that block and all later ones fail, and the
/// connection has to end with COMPRESSION_ERROR (RFC 9113 section 4.3). Beyond the RFC a block fails when a field has more
/// than 65,536 bytes or a string more than that encoded, which bounds the memory.
///
/// Cost: 30 ns for a block of `RequestEncoder` with ten indexed fields and a literal `:path` (86 bytes; 39 ns with an
/// `apns-id` spelt out besides), 21 ns for an insertion that evicts, 31 ns for a 230-byte Huffman-coded token that is
/// remembered and about 1 µs for one that is not: one block decoded a million times in a release build, median of nine.
///
/// Memory: about 5 KB, and 16 KB once a table of 4,096 bytes is full; hostile peers can make it grow by 8 KB of remembered values, with a
/// larger table by at most 4.5 times that table, and by 128 KB of scratch memory until `shrinkScratch`.
public final class HPACKDecoder {
    public enum Step {
        /// There is a field.
        case field
        /// The block is over, and was valid.
        case end
        /// The block is not valid; nor will any other be.
        case failed
    }

    /// The largest integer that is valid anywhere (RFC 7541 section 5.1 leaves the limit to us).
    private static let mostInteger = 1 << 31

    private let names: HPACKNames
    /// Those of `names`, which keeps them.
    private let staticFields: UnsafeMutablePointer<HPACKField>
    private let huffman: UnsafePointer<UInt32>
    /// These are only reached from here, never while one of their own methods runs; checking that at run time took two thirds
    /// of a block's time.
    @exclusivity(unchecked) private var table: HPACKDynamicTable
    @exclusivity(unchecked) private var nameScratch = HPACKScratch(capacity: 64)
    @exclusivity(unchecked) private var valueScratch = HPACKScratch(capacity: 512)
    @exclusivity(unchecked) private var memory = HPACKStringMemory()

    /// The largest size the peer may choose.
    private var limit: Int
    /// The size the next block's first size update may not exceed; nil when none is needed.
    private var neededUpdate: Int?

    private var position: UnsafePointer<UInt8>
    private var blockEnd: UnsafePointer<UInt8>
    private var isBroken = false

    /// - Parameters:
    ///   - tableSize: the SETTINGS_HEADER_TABLE_SIZE that was announced, in bytes and not below 0 (4,096 until the peer has
    ///     acknowledged another; see `setLimit`).
    ///   - names: shared by the decoders of one owner.
    public init(tableSize: Int, names: HPACKNames) {
        precondition(tableSize >= 0, "a header table of \(tableSize) bytes; it must be 0 or more")
        self.names = names
        staticFields = names.staticFields
        huffman = HPACKHuffman.machine
        table = HPACKDynamicTable(capacity: tableSize)
        limit = tableSize
        position = HPACKField().name
        blockEnd = position
    }

    /// Grows with every change of the dynamic table: while it is the same, a block of the same bytes means the same.
    @inline(__always)
    var version: Int { table.version }

    /// Where the next field begins in the block.
    var place: UnsafePointer<UInt8> { position }

    /// A value that is coded with Huffman, outside of a block; nil when it is not valid. It stays until the next call of anything.
    func decodedValue(_ mark: UInt8, _ start: UnsafePointer<UInt8>, _ count: Int) -> UnsafeBufferPointer<UInt8>? {
        if count >= HPACKStringMemory.leastBytes, let known = memory.find(mark, start, count) {
            return UnsafeBufferPointer(start: known.value, count: known.length)
        }
        guard let decoded = HPACKHuffman.decode(start, count, huffman, into: &valueScratch) else { return nil }
        return UnsafeBufferPointer(start: UnsafePointer(valueScratch.bytes), count: decoded)
    }

    /// A field's name or value is that of an entry of the dynamic table, and stays there while `version` is the same.
    func isInTable(_ text: UnsafePointer<UInt8>) -> Bool { table.holds(text) }

    /// Bytes of memory the dynamic table holds now in RFC terms (sum of name+value+32).
    public var tableUsed: Int { table.used }

    /// Between blocks: gives back memory that only very long names and values needed.
    @inline(__always)
    func shrinkScratch() {
        nameScratch.shrink(to: Self.usualScratch)
        valueScratch.shrink(to: Self.usualScratch)
    }
    private static let usualScratch = 2048
    /// Bytes.
    var scratchCapacity: Int { nameScratch.capacity + valueScratch.capacity }

    /// Our SETTINGS_HEADER_TABLE_SIZE has been acknowledged: the peer's encoder may use up to this many bytes (0 or more).
    ///
    /// When it is below the present size, the next block must begin with a size update to the smallest such limit or less
    /// (RFC 7541 section 4.2), otherwise that block fails. Not to be called within a block.
    public func setLimit(_ size: Int) {
        precondition(size >= 0, "a header table of \(size) bytes; it must be 0 or more")
        limit = size
        guard size < table.capacity else { return }
        table.setCapacity(size)
        neededUpdate = size
    }

    /// Starts a complete header block (HEADERS and its CONTINUATIONs joined) of `count` bytes, which must stay valid and
    /// unchanged until `end` or `failed`. The block before must have been read to its end.
    public func begin(_ block: UnsafePointer<UInt8>, _ count: Int) {
        position = block
        blockEnd = block + count
        if isBroken {
            position = blockEnd
        } else if neededUpdate != nil || (count > 0 && block.pointee & 0xE0 == 0x20) {
            readSizeUpdates()
        }
    }

    /// The next field.
    public func next(_ field: inout HPACKField) -> Step {
        let start = position
        guard start < blockEnd else { return isBroken ? .failed : .end }
        let first = start.pointee
        if first >= 0x80 {
            // An indexed field (section 6.1) whose index fits seven bits.
            let index = Int(first & 0x7F)
            if index &- 1 < HPACKStaticTable.count, index != 0 {
                field = staticFields[index]
                position = start + 1
                return .field
            }
            let age = index &- HPACKStaticTable.count &- 1
            if age >= 0, age < table.count, index != 0x7F {
                field = table[age]
                position = start + 1
                return .field
            }
            return indexed(&field)
        }
        // A literal that is not indexed (sections 6.2.2 and 6.2.3), named by a static entry, whose value is neither
        // Huffman-coded nor of 127 bytes or more: `:path`.
        if first & 0x60 == 0, first & 0x0F != 0, first & 0x0F != 0x0F, blockEnd - start >= 2 {
            let length = Int(start[1])
            if length < 0x7F, blockEnd - start >= 2 &+ length {
                field = staticFields[Int(first & 0x0F)]
                field.value = start + 2
                field.valueLength = length
                field.hasValidValue = FieldValue.isValid(field.value, length)
                position = start + (2 &+ length)
                return .field
            }
        }
        return literal(&field)
    }

    // MARK: Representations (RFC 7541 section 6)

    /// At most two (a smallest size and a last one, section 4.2) at the beginning of a block.
    @inline(never)
    private func readSizeUpdates() {
        var left = 2
        while left > 0, position < blockEnd, position.pointee & 0xE0 == 0x20 {
            guard let size = integer(0x1F), size <= min(limit, neededUpdate ?? limit) else {
                fail()
                return
            }
            neededUpdate = nil
            table.setCapacity(size)
            left -= 1
        }
        if neededUpdate != nil { fail() }
    }

    @inline(never)
    private func indexed(_ field: inout HPACKField) -> Step {
        guard let index = integer(0x7F), let known = entry(index) else { return fail() }
        field = known
        return .field
    }

    @inline(never)
    private func literal(_ field: inout HPACKField) -> Step {
        let first = position.pointee
        let isInserted = first & 0x40 != 0
        // A size update has no place here.
        guard first & 0xE0 != 0x20, let nameIndex = integer(isInserted ? 0x3F : 0x0F) else { return fail() }
        if nameIndex == 0 {
            guard let name = nameString(&field.nameLength) else { return fail() }
            field.name = name
            field.mark = names.classify(name, field.nameLength)
        } else {
            guard let known = entry(nameIndex) else { return fail() }
            field = known
        }
        guard let value = valueString(&field.valueLength, field.mark),
            field.nameLength &+ field.valueLength <= HPACKScratch.mostBytes
        else { return fail() }
        field.value = value
        field.hasValidValue = FieldValue.isValid(value, field.valueLength)
        if isInserted { table.insert(&field) }
        return .field
    }

    private func entry(_ index: Int) -> HPACKField? {
        if index <= HPACKStaticTable.count { return index == 0 ? nil : staticFields[index] }
        let age = index &- HPACKStaticTable.count &- 1
        return age < table.count ? table[age] : nil
    }

    @discardableResult
    private func fail() -> Step {
        isBroken = true
        position = blockEnd
        return .failed
    }

    // MARK: Primitives (RFC 7541 section 5)

    /// Reads an integer whose prefix is the bits of `prefix`; nil when it is cut off, larger than `mostInteger`, or has more
    /// than the five bytes behind the prefix that such a number can need. There is a byte to read.
    @inline(__always)
    private func integer(_ prefix: UInt8) -> Int? {
        let value = position.pointee & prefix
        position += 1
        return value < prefix ? Int(value) : longInteger(Int(prefix))
    }

    @inline(never)
    private func longInteger(_ prefix: Int) -> Int? {
        var value = prefix
        for shift in stride(from: 0, through: 28, by: 7) {
            guard position < blockEnd else { return nil }
            let byte = Int(position.pointee)
            position += 1
            value &+= (byte & 0x7F) << shift
            if byte < 0x80 { return value <= Self.mostInteger ? value : nil }
        }
        return nil
    }

    /// Reads a string's length and returns its bytes as they are in the block; nil when they are cut off or too many.
    @inline(__always)
    private func encodedString(_ count: inout Int, _ isHuffman: inout Bool) -> UnsafePointer<UInt8>? {
        guard position < blockEnd else { return nil }
        isHuffman = position.pointee >= 0x80
        guard let length = integer(0x7F), length <= HPACKScratch.mostBytes, length <= blockEnd - position else {
            return nil
        }
        let start = position
        position += length
        count = length
        return start
    }

    private func nameString(_ length: inout Int) -> UnsafePointer<UInt8>? {
        var count = 0
        var isHuffman = false
        guard let start = encodedString(&count, &isHuffman) else { return nil }
        length = count
        guard isHuffman else { return start }
        guard let decoded = HPACKHuffman.decode(start, count, huffman, into: &nameScratch) else { return nil }
        length = decoded
        return UnsafePointer(nameScratch.bytes)
    }

    private func valueString(_ length: inout Int, _ mark: UInt8) -> UnsafePointer<UInt8>? {
        var count = 0
        var isHuffman = false
        guard let start = encodedString(&count, &isHuffman) else { return nil }
        length = count
        guard isHuffman else { return start }
        if count >= HPACKStringMemory.leastBytes, let known = memory.find(mark, start, count) {
            length = known.length
            return known.value
        }
        guard let decoded = HPACKHuffman.decode(start, count, huffman, into: &valueScratch) else { return nil }
        length = decoded
        let value = UnsafePointer(valueScratch.bytes)
        memory.remember(mark, start, count, value, decoded)
        return value
    }
}
