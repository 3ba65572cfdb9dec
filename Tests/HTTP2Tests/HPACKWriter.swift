@testable import HTTP2

/// Writes valid blocks in ways no sane encoder would choose: each field in a representation drawn at random. Keeps the
/// dynamic table as the plainest list there is.
struct HPACKWriter {
    /// Newest first.
    private(set) var table: [DecodedField] = []
    private(set) var capacity: Int
    var limit: Int
    private var smallestLimit: Int?

    init(_ tableSize: Int) {
        capacity = tableSize
        limit = tableSize
    }

    var tableUsed: Int { table.reduce(0) { $0 + $1.tableSize } }

    /// The limit has been acknowledged; the next block begins with the update that answers it.
    mutating func setLimit(_ size: Int) {
        limit = size
        if size < capacity { smallestLimit = min(smallestLimit ?? size, size) }
    }

    mutating func block(_ fields: [DecodedField], _ numbers: inout SeededNumbers) -> [UInt8] {
        var output: [UInt8] = []
        if let smallest = smallestLimit {
            update(smallest, into: &output)
            smallestLimit = nil
            if numbers.next(2) == 0 { update(numbers.next(limit + 1), into: &output) }
        } else if numbers.next(8) == 0 {
            for _ in 0...numbers.next(2) { update(numbers.next(limit + 1), into: &output) }
        }
        for field in fields { write(field, &numbers, into: &output) }
        return output
    }

    private mutating func update(_ size: Int, into output: inout [UInt8]) {
        Self.integer(size, prefix: 5, first: 0x20, into: &output)
        capacity = size
        evict(downTo: size)
    }

    private mutating func evict(downTo size: Int) {
        while tableUsed > size { table.removeLast() }
    }

    mutating func write(_ field: DecodedField, _ numbers: inout SeededNumbers, into output: inout [UInt8]) {
        let known = Self.staticEntries + table
        if numbers.next(4) != 0, let place = known.lastIndex(of: field) {
            Self.integer(place + 1, prefix: 7, first: 0x80, into: &output)
            return
        }
        let form = numbers.next(4)
        let isInserted = form >= 2
        let names = known.indices.filter { known[$0].name == field.name }
        var nameIndex = 0
        if numbers.next(4) != 0, !names.isEmpty { nameIndex = names[numbers.next(names.count)] + 1 }
        Self.integer(
            nameIndex, prefix: isInserted ? 6 : 4, first: isInserted ? 0x40 : form == 1 ? 0x10 : 0, into: &output)
        if nameIndex == 0 { Self.string(field.name, isHuffman: numbers.next(2) == 0, into: &output) }
        Self.string(field.value, isHuffman: numbers.next(2) == 0, into: &output)
        guard isInserted else { return }
        guard field.tableSize <= capacity else {
            table = []
            return
        }
        evict(downTo: capacity - field.tableSize)
        table.insert(field, at: 0)
    }

    static let staticEntries = HPACKStaticTable.entries.map { DecodedField("\($0.name)", "\($0.value)") }

    // MARK: Primitives

    static func integer(_ value: Int, prefix: Int, first: UInt8, into output: inout [UInt8]) {
        let most = 1 << prefix - 1
        guard value >= most else {
            output.append(first | UInt8(value))
            return
        }
        output.append(first | UInt8(most))
        var rest = value - most
        while rest >= 128 {
            output.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        output.append(UInt8(rest))
    }

    static func string(_ bytes: [UInt8], isHuffman: Bool, into output: inout [UInt8]) {
        let text = isHuffman ? huffman(bytes.map(Int.init)) : bytes
        integer(text.count, prefix: 7, first: isHuffman ? 0x80 : 0, into: &output)
        output += text
    }

    /// - Parameter symbols: bytes, or 256 for the end-of-string code.
    static func huffman(_ symbols: [Int]) -> [UInt8] {
        var output: [UInt8] = []
        var bits: UInt64 = 0
        var count = 0
        for symbol in symbols {
            bits = bits << UInt64(HPACKHuffman.lengths[symbol]) | UInt64(HPACKHuffman.codes[symbol])
            count += Int(HPACKHuffman.lengths[symbol])
            while count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> UInt64(count)))
            }
        }
        if count > 0 {
            output.append(UInt8(truncatingIfNeeded: bits << UInt64(8 - count)) | UInt8(0xFF) >> UInt8(count))
        }
        return output
    }
}
