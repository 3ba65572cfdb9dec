import Settings

/// Reads a registrations file row by row, in one pass: CSV with a header line, or NDJSON where its first byte that is not blank is `{`.
/// It finds the fields; `FieldChecks` says whether what is in them is right.
///
/// Nothing is allocated for a row.
final class RegistrationReader {
    enum Format: UInt64 {
        case csv, ndjson
    }

    let file: MappedFile
    let format: Format
    /// Of the row read last.
    @exclusivity(unchecked) var fields: RegistrationFields
    /// Of CSV the columns in the header's order.
    let columns: [RegistrationColumn]
    /// Where the first row begins: behind the header line and a byte order mark.
    let firstRow: Int
    /// Without line ends and blanks at the end of the file.
    let size: Int
    @exclusivity(unchecked) var position: Int
    /// The line that `position` is on.
    @exclusivity(unchecked) var line: Int

    /// - Throws: one line about the header line.
    init(_ file: MappedFile) throws(AudienceError) {
        self.file = file
        fields = RegistrationFields(places: .allocate(capacity: RegistrationColumn.allCases.count))
        fields.places.initialize(repeating: .init(), count: RegistrationColumn.allCases.count)
        var size = file.size
        while size > 0, file.base[size - 1] == 0x0A || file.base[size - 1] == 0x0D { size -= 1 }
        let base = file.base
        let hasMark = size >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF
        let start = hasMark ? 3 : 0
        var first = start
        while first < size, [0x20, 0x09, 0x0A, 0x0D].contains(base[first]) { first += 1 }
        self.size = size
        if let kind = Self.otherKind(UnsafeBufferPointer(start: base, count: size), first) {
            throw AudienceError("\(file.path): \(kind)")
        }
        if first < size, base[first] == 0x7B {
            format = .ndjson
            columns = []
            firstRow = start
            line = 1
        } else {
            format = .csv
            let header = try CSVHeader(file, start: start, size: size)
            columns = header.columns
            firstRow = header.end
            line = 2
        }
        position = firstRow
    }

    deinit { fields.places.deallocate() }

    /// What a file looks like that is neither, and what would be right.
    ///
    /// - Parameter first: its first byte that is not blank.
    private static func otherKind(_ bytes: UnsafeBufferPointer<UInt8>, _ first: Int) -> String? {
        let start = Array(bytes.prefix(2))
        if start == [0xFF, 0xFE] || start == [0xFE, 0xFF] || start.contains(0) {
            return "this looks like UTF-16; expected UTF-8, as iconv -f UTF-16 -t UTF-8 writes it"
        }
        if start == [0x1F, 0x8B] { return "this is compressed with gzip; expected it unpacked, as gunzip does" }
        if first < bytes.count, bytes[first] == 0x5B {
            return "this looks like an array of JSON; expected NDJSON, an object on each line with nothing between, "
                + "as jq -c '.[]' writes it"
        }
        return nil
    }

    /// Reads the next row into `fields`.
    ///
    /// - Returns: false at the end.
    /// - Throws: one line that names file, line and column.
    @inline(__always)
    func next() throws(AudienceError) -> Bool {
        switch format {
        case .csv: try nextCSV()
        case .ndjson: try nextNDJSON()
        }
    }

    /// What is wrong at a byte of the row being read: `file:line:column: …`. Columns count bytes, from 1.
    func error(_ at: Int, _ text: String) -> AudienceError { AudienceError("\(place(at)): \(text)") }

    /// `file:line:column` of a byte of the row being read.
    func place(_ at: Int) -> String {
        var line = fields.line
        var start = fields.row.start
        var index = start
        while index < at, index < size {
            if file.base[index] == 0x0A {
                line += 1
                start = index + 1
            }
            index += 1
        }
        return "\(file.path):\(line):\(at - start + 1)"
    }
}

/// The header line of CSV.
struct CSVHeader {
    var columns: [RegistrationColumn] = []
    /// Where the first row begins.
    let end: Int
    /// Longer ones are no header line.
    private static let longest = 1024

    init(_ file: MappedFile, start: Int, size: Int) throws(AudienceError) {
        let bytes = UnsafeBufferPointer(start: file.base + start, count: min(size - start, Self.longest))
        let line = bytes.prefix { $0 != 0x0A }
        end = min(size, start + line.count + 1)
        let content = line.last == 0x0D ? line.dropLast() : line
        try Self.checkSeparator(file, content)
        var column = 1
        for field in content.split(separator: 0x2C, omittingEmptySubsequences: false) {
            let isQuoted = field.count >= 2 && field.first == 0x22 && field.last == 0x22
            let name = String(decoding: isQuoted ? field.dropFirst().dropLast() : field, as: UTF8.self)
            let at = "\(file.path):1:\(column)"
            guard let known = RegistrationColumn(name: name) else {
                if column == 1, Self.isToken(field) {
                    throw AudienceError(
                        "\(at): no header line; expected column names such as token,tags,topic,environment")
                }
                throw AudienceError(
                    "\(at): unknown column \"\(ByteText.shown(name))\""
                        + NearestName.hint(name, among: RegistrationColumn.names))
            }
            guard !columns.contains(known) else { throw AudienceError("\(at): column \"\(name)\" is named twice") }
            columns.append(known)
            column += field.count + 1
        }
        for needed in [RegistrationColumn.token, .tags] where !columns.contains(needed) {
            throw AudienceError(
                "\(file.path):1: no column \"\(needed)\"; this line names "
                    + columns.map { "\($0)" }.joined(separator: ", "))
        }
    }

    /// Other programs call CSV what has semicolons or tabs between columns.
    private static func checkSeparator(_ file: MappedFile, _ line: some Collection<UInt8>) throws(AudienceError) {
        guard !line.contains(0x2C) else { return }
        for (byte, name) in [(UInt8(0x3B), "semicolons"), (0x09, "tabs"), (0x7C, "bars")] {
            let fields = line.split(separator: byte)
            let names = fields.map { field in String(decoding: field.filter { $0 != 0x22 }, as: UTF8.self) }
            guard fields.count > 1, names.contains(where: { RegistrationColumn(name: $0) != nil }) else { continue }
            throw AudienceError(
                "\(file.path):1:\(fields[0].count + 1): \(name) between the columns; expected commas, and between tags semicolons"
            )
        }
    }

    private static func isToken(_ field: some Collection<UInt8>) -> Bool {
        field.count >= 8 && field.allSatisfy { ByteText.classes[Int($0)] & ByteText.hexadecimal != 0 }
    }
}
