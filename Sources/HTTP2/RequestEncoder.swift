import Glibc

/// HPACK (RFC 7541) for requests that are nearly all alike: fields that stay the same are put into the peer's dynamic
/// table once and then named by their index; `:path` is a literal each time. Strings are coded with Huffman only when asked,
/// and then where that makes them shorter.
///
/// Cost: in the steady state three copies, and where its version is not said a comparison of the token (`make bench-instructions`,
/// stage header-block).
public final class RequestEncoder {
    private struct Field {
        let name: [UInt8]
        var value: [UInt8]
        /// Which insertion put it into the dynamic table, nil when it is not there (any more).
        var insertion: UInt64?
        /// Literal each time: it changes too often, or is larger than the table.
        var isVolatile = false
        var size: Int { name.count + value.count + 32 }
    }

    private struct Inserted {
        let field: Int
        let insertion: UInt64
        let size: Int
    }

    /// A rendered block, good as long as nothing is inserted. Its bytes are owned by the encoder.
    private struct Rendered {
        var version = UInt64.max
        var hasAuthorization = false
        /// What comes before `:path`, and then what comes after it.
        var bytes: UnsafeMutablePointer<UInt8>?
        var prefixLength = 0
        var suffixLength = 0

        mutating func keep(_ prefix: [UInt8], _ suffix: [UInt8]) {
            bytes?.deallocate()
            // Read in steps of sixteen.
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: prefix.count + suffix.count + 16)
            memory.initialize(repeating: 0, count: prefix.count + suffix.count + 16)
            memory.update(from: prefix, count: prefix.count)
            (memory + prefix.count).update(from: suffix, count: suffix.count)
            bytes = memory
            prefixLength = prefix.count
            suffixLength = suffix.count
        }
    }

    @exclusivity(unchecked) private var fields: [Field] = []
    private let authority: Int
    private let authorization: Int
    /// Places in `fields` of each header set.
    private let sets: [[Int]]
    private let rendered: UnsafeMutablePointer<Rendered>
    /// The present value of `authorization`, owned here.
    @exclusivity(unchecked) private var token: UnsafeMutablePointer<UInt8>?
    @exclusivity(unchecked) private var tokenLength = -1
    @exclusivity(unchecked) private var tokenVersion: UInt64 = 0
    private let schemeIndex: UInt8
    /// nil: strings are written as they are.
    private let huffman: HPACKHuffmanEncoder?
    private let isCoding: Bool
    /// The beginning of a literal `apns-id`: never inserted, its name spelt out.
    private let identifierStart: UnsafeMutableBufferPointer<UInt8>

    private var table: [Inserted] = []
    private var tableUsed = 0
    @exclusivity(unchecked) private var tableLimit: Int
    private let ownLimit: Int
    @exclusivity(unchecked) private var insertions: UInt64 = 0
    /// Grows with everything that makes rendered blocks out of date.
    @exclusivity(unchecked) private var version: UInt64 = 0
    private var announcedLimit = 4096
    /// The smallest limit since the last announcement, which the peer must hear of (RFC 7541 section 4.2).
    private var smallestLimit: Int
    /// The next block begins with an announcement.
    @exclusivity(unchecked) private var hasNewLimit: Bool
    @exclusivity(unchecked) private var blocksSinceChange = 0
    private static let staticCount: UInt64 = 61

    /// - Parameters:
    ///   - headerSets: for each kind of request the fields that never change.
    ///   - tableLimit: most bytes of the peer's dynamic table to use; the peer's own limit is obeyed besides.
    ///   - usesHuffman: code strings with Huffman where that makes them shorter: fewer bytes, more work on both sides.
    public init(
        authority: String, isSecure: Bool, headerSets: [[(String, String)]], tableLimit: Int, usesHuffman: Bool = false
    ) {
        var fields: [Field] = []
        func place(_ name: String, _ value: String) -> Int {
            let name = Array(name.utf8)
            let value = Array(value.utf8)
            if let known = fields.firstIndex(where: { $0.name == name && $0.value == value }) { return known }
            fields.append(Field(name: name, value: value))
            return fields.count - 1
        }
        self.authority = place(":authority", authority)
        authorization = place("authorization", "")
        sets = headerSets.map { $0.map { place($0.0, $0.1) } }
        self.fields = fields
        rendered = .allocate(capacity: headerSets.count)
        rendered.initialize(repeating: Rendered(), count: headerSets.count)
        schemeIndex = isSecure ? 0x87 : 0x86
        ownLimit = tableLimit
        self.tableLimit = min(tableLimit, 4096)
        smallestLimit = self.tableLimit
        let huffman = usesHuffman ? HPACKHuffmanEncoder() : nil
        self.huffman = huffman
        isCoding = usesHuffman
        hasNewLimit = self.tableLimit != 4096
        var start: [UInt8] = [0x00]
        Self.string(Array("apns-id".utf8), huffman, into: &start)
        identifierStart = .allocate(capacity: start.count)
        _ = identifierStart.update(from: start)
    }

    deinit {
        for set in sets.indices { rendered[set].bytes?.deallocate() }
        rendered.deallocate()
        token?.deallocate()
        identifierStart.deallocate()
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE (RFC 7541 section 4.2).
    public func setPeerTableSize(_ size: Int) {
        let limit = min(size, ownLimit)
        guard limit != tableLimit else { return }
        tableLimit = limit
        smallestLimit = min(smallestLimit, limit)
        hasNewLimit = true
        evict(room: 0)
        version += 1
    }

    /// Most bytes `write` can take, and touch.
    public func capacity(pathLength: Int) -> Int {
        var total = 64 + pathLength + 64
        for field in fields { total += field.size }
        return total + 512
    }

    /// Writes a header block; returns its length.
    ///
    /// - Parameters:
    ///   - authorizationValue: nil leaves the field out.
    ///   - authorizationVersion: another number for each other value; 0: not said, so that it is compared.
    ///   - identifier: 36 bytes of an `apns-id`, nil leaves the field out.
    public func write(
        set: Int, path: UnsafePointer<UInt8>, pathLength: Int, authorizationValue: UnsafeBufferPointer<UInt8>?,
        authorizationVersion: UInt64 = 0, identifier: UnsafePointer<UInt8>?, into output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        if let authorizationValue, authorizationVersion == 0 || authorizationVersion != tokenVersion {
            setAuthorization(authorizationValue)
            tokenVersion = authorizationVersion
        }
        var length = 0
        if hasNewLimit { length = announceLimit(into: output) }
        if rendered[set].version != version || rendered[set].hasAuthorization != (authorizationValue != nil) {
            render(set, authorizationValue != nil)
        }
        let block = rendered + set
        let fixed = block.pointee.bytes!
        Self.copy(fixed, block.pointee.prefixLength, to: output + length)
        length &+= block.pointee.prefixLength
        // Literal without indexing, name from the static table: `:path` is entry 4.
        output[length] = 0x04
        if isCoding {
            length = coded(path, pathLength, into: output, at: length &+ 1)
        } else {
            length = Self.integer(UInt64(pathLength), prefix: 7, first: 0, into: output, at: length &+ 1)
            output.advanced(by: length).update(from: path, count: pathLength)
            length &+= pathLength
        }
        Self.copy(fixed + block.pointee.prefixLength, block.pointee.suffixLength, to: output + length)
        length &+= block.pointee.suffixLength
        if let identifier {
            output.advanced(by: length).update(from: identifierStart.baseAddress!, count: identifierStart.count)
            length &+= identifierStart.count
            if isCoding {
                length = coded(identifier, 36, into: output, at: length)
            } else {
                output[length] = 36
                output.advanced(by: length &+ 1).update(from: identifier, count: 36)
                length &+= 37
            }
        }
        blocksSinceChange &+= 1
        return length
    }

    /// Copies `count` bytes; of few of them sixteen, which is a step where a call with a length to branch on is many.
    @inline(__always)
    private static func copy(_ source: UnsafePointer<UInt8>, _ count: Int, to target: UnsafeMutablePointer<UInt8>) {
        if count <= 16 {
            UnsafeMutableRawPointer(target).storeBytes(
                of: UnsafeRawPointer(source).loadUnaligned(as: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
        } else {
            target.update(from: source, count: count)
        }
    }

    /// Says how large a table is used from here on, and first how small it had to be in between.
    @inline(never)
    private func announceLimit(into output: UnsafeMutablePointer<UInt8>) -> Int {
        var length = 0
        if smallestLimit < min(announcedLimit, tableLimit) {
            length = Self.integer(UInt64(smallestLimit), prefix: 5, first: 0x20, into: output, at: 0)
        }
        length = Self.integer(UInt64(tableLimit), prefix: 5, first: 0x20, into: output, at: length)
        announcedLimit = tableLimit
        smallestLimit = tableLimit
        hasNewLimit = false
        return length
    }

    private func setAuthorization(_ value: UnsafeBufferPointer<UInt8>) {
        if value.count == tokenLength, value.isEmpty || memcmp(token!, value.baseAddress!, value.count) == 0 { return }
        renew(value)
    }

    private func renew(_ value: UnsafeBufferPointer<UInt8>) {
        token?.deallocate()
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(value.count, 1))
        _ = UnsafeMutableBufferPointer(start: copy, count: value.count).update(from: value)
        token = copy
        tokenLength = value.count
        fields[authorization].value = Array(value)
        fields[authorization].insertion = nil
        // A token that changes with nearly every push is not worth a place in the table.
        fields[authorization].isVolatile = insertions > 0 && blocksSinceChange < 4
        blocksSinceChange = 0
        version += 1
    }

    // MARK: Rendering

    /// Renders a set as it must be sent now; what it inserts is sent once, and the next block is rendered anew.
    private func render(_ set: Int, _ hasAuthorization: Bool) {
        let before = insertions
        var prefix: [UInt8] = [0x83, schemeIndex]
        var suffix: [UInt8] = []
        emit(authority, into: &prefix)
        if hasAuthorization { emit(authorization, into: &suffix) }
        for field in sets[set] { emit(field, into: &suffix) }
        rendered[set].keep(prefix, suffix)
        rendered[set].hasAuthorization = hasAuthorization
        if insertions != before { version += 1 }
        rendered[set].version = insertions != before ? .max : version
    }

    private func emit(_ place: Int, into output: inout [UInt8]) {
        if let insertion = fields[place].insertion {
            Self.integer(Self.staticCount + insertions - insertion, prefix: 7, first: 0x80, into: &output)
            return
        }
        let canInsert = !fields[place].isVolatile && fields[place].size <= tableLimit
        let first: UInt8 = canInsert ? 0x40 : 0x00
        let nameIndex: UInt64 =
            place == authority ? 1 : place == authorization ? 23 : 0
        Self.integer(nameIndex, prefix: canInsert ? 6 : 4, first: first, into: &output)
        if nameIndex == 0 { Self.string(fields[place].name, huffman, into: &output) }
        Self.string(fields[place].value, huffman, into: &output)
        if canInsert {
            evict(room: fields[place].size)
            table.append(Inserted(field: place, insertion: insertions, size: fields[place].size))
            tableUsed += fields[place].size
            fields[place].insertion = insertions
            insertions += 1
        }
    }

    /// Drops the oldest entries until `room` more bytes fit, as the peer's decoder does (RFC 7541 section 4.4).
    private func evict(room: Int) {
        while tableUsed + room > tableLimit, let oldest = table.first {
            table.removeFirst()
            tableUsed -= oldest.size
            if fields[oldest.field].insertion == oldest.insertion {
                fields[oldest.field].insertion = nil
                version += 1
            }
        }
    }

    // MARK: Primitives (RFC 7541 section 5)

    private static func string(_ text: [UInt8], _ huffman: HPACKHuffmanEncoder?, into output: inout [UInt8]) {
        if let huffman {
            var coded = [UInt8](repeating: 0, count: text.count + 8)
            if let length = huffman.encode(text, text.count, into: &coded) {
                integer(UInt64(length), prefix: 7, first: 0x80, into: &output)
                output += coded[..<length]
                return
            }
        }
        integer(UInt64(text.count), prefix: 7, first: 0, into: &output)
        output += text
    }

    /// Writes a string at `offset`, as it is or with Huffman, whichever is shorter; returns the offset after it.
    @inline(never)
    private func coded(
        _ text: UnsafePointer<UInt8>, _ count: Int, into output: UnsafeMutablePointer<UInt8>, at offset: Int
    ) -> Int {
        // The length of the string as it is takes as many bytes as the code's, or more.
        let start = Self.integer(UInt64(count), prefix: 7, first: 0, into: output, at: offset)
        guard let length = huffman!.encode(text, count, into: output + start) else {
            output.advanced(by: start).update(from: text, count: count)
            return start &+ count
        }
        let end = Self.integer(UInt64(length), prefix: 7, first: 0x80, into: output, at: offset)
        if end < start { memmove(output + end, output + start, length) }
        return end &+ length
    }

    private static func integer(_ value: UInt64, prefix: Int, first: UInt8, into output: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
            let count = integer(value, prefix: prefix, first: first, into: buffer.baseAddress!, at: 0)
            output += buffer[..<count]
        }
    }

    /// Writes an integer at `offset`; returns the offset after it.
    @inline(__always)
    private static func integer(
        _ value: UInt64, prefix: Int, first: UInt8, into output: UnsafeMutablePointer<UInt8>, at offset: Int
    ) -> Int {
        let limit = UInt64(1) << UInt64(prefix) &- 1
        if value < limit {
            output[offset] = first | UInt8(truncatingIfNeeded: value)
            return offset &+ 1
        }
        output[offset] = first | UInt8(truncatingIfNeeded: limit)
        var rest = value &- limit
        var position = offset &+ 1
        while rest >= 128 {
            output[position] = UInt8(truncatingIfNeeded: rest & 127) | 128
            rest >>= 7
            position &+= 1
        }
        output[position] = UInt8(truncatingIfNeeded: rest)
        return position &+ 1
    }
}
