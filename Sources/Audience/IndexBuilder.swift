import CRoaring
import Glibc

/// Makes an index: reads every row once, checks it, and keeps what the index has, in memory.
///
/// Memory for ten million rows with a user and eight tags each: 530 MB while they are read, 660 MB at most. A tag beyond the 1,048,576th
/// costs 8 bytes for every row that has it.
final class IndexBuilder {
    let reader: RegistrationReader
    let classes: UnsafeMutablePointer<UInt8>
    let hasUsers: Bool
    let hasTemplates: Bool
    let hasTopics: Bool
    let hasRegistered: Bool

    let tokens = GrowingColumn<UInt64>()
    let tags = GrowingColumn<UInt64>()
    let users = GrowingColumn<UInt64>()
    let templates = GrowingColumn<UInt16>()
    let topics = GrowingColumn<UInt16>()
    let registered = GrowingColumn<UInt32>()
    let tagPairs = GrowingColumn<UInt64>()
    let tokenPairs = GrowingColumn<UInt64>()
    let expiries = GrowingColumn<UInt64>()
    /// By kind; that of tags beside them, for it is asked several times a row.
    let tables: [TagTable]
    let tagTable: TagTable
    /// A name in the making: `username:` and a user.
    let userTag: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) var longestToken = 0

    /// Rows are numbered in 32 bits, and one number is left over.
    static let mostRows: UInt32 = 0xFFFF_FFFE

    /// - Parameter tagLimit: how many different tags get a bitmap each.
    init(_ reader: RegistrationReader, tagLimit: Int = IndexLayout.mostTags) {
        self.reader = reader
        classes = .allocate(capacity: 256)
        for byte in 0..<256 { classes[byte] = ByteText.classes[byte] }
        userTag = .allocate(capacity: RegistrationRules.longestTag)
        for (index, byte) in RegistrationRules.userPrefix.utf8.enumerated() { userTag[index] = byte }
        func has(_ column: RegistrationColumn) -> Bool { reader.format == .ndjson || reader.columns.contains(column) }
        hasUsers = has(.user)
        hasTemplates = has(.template)
        hasTopics = has(.topic)
        hasRegistered = has(.registered)
        tables = IndexLayout.Kind.allCases.map {
            TagTable(limit: $0 == .tag ? min(tagLimit, IndexLayout.mostTags) : IndexLayout.mostNumbered)
        }
        tagTable = tables[IndexLayout.Kind.tag.rawValue]
    }

    deinit {
        classes.deallocate()
        userTag.deallocate()
    }

    /// - Parameter progress: told the rows read so far, every 262,144.
    /// - Throws: what is wrong with the first row that is.
    func read(progress: ((UInt64) -> Void)?) throws(AudienceError) {
        var row: UInt32 = 0
        while try reader.next() {
            guard row < Self.mostRows else {
                throw reader.error(reader.fields.row.start, "more than \(Self.mostRows) registrations")
            }
            try add(row)
            row += 1
            if row == 1 << 16 { reserve() }
            if row & 0x3FFFF == 0 {
                reader.file.leave(before: reader.position)
                progress?(UInt64(row))
            }
        }
        guard row > 0 else {
            throw AudienceError("\(reader.file.path): no registration in it; expected one a line")
        }
        progress?(UInt64(row))
    }

    /// Room for all rows, if the others are as long as those so far, and a little more.
    private func reserve() {
        let share = Double(reader.position) / Double(reader.size)
        func total(_ count: Int) -> Int { Int(Double(count) / share * 1.05) }
        for column in [tokens, tags, users, tagPairs, tokenPairs, expiries] { column.reserve(total(column.count)) }
        for column in [templates, topics] { column.reserve(total(column.count)) }
        registered.reserve(total(registered.count))
    }

    /// Sorts what was read, and lays it out.
    func sections() -> IndexContents {
        for table in tables { table.gather() }
        NumberPairs.sort(tagPairs)
        NumberPairs.sort(expiries)
        NumberPairs.sort(tokenPairs)
        let groups = TokenGroups.find(tokenPairs, tokens, reader.file)
        reader.file.leave(before: reader.file.size)
        let entries = GrowingColumn<IndexEntry>()
        let names = GrowingColumn<UInt8>()
        let bitmaps = GrowingColumn<UInt8>()
        var kinds: [UInt64] = []
        for table in tables {
            kinds.append(UInt64(entries.count))
            for number in table.sorted() {
                let name = table.name(number)
                let start = names.count
                memcpy(names.extend(name.count), name.baseAddress!, name.count)
                let bitmap = bitmaps.count
                let frozen = table.freeze(number, into: bitmaps)
                entries.append(
                    IndexEntry(
                        name: UInt64(start), bitmap: UInt64(bitmap), nameLength: UInt32(name.count),
                        rows: UInt32(frozen.rows), bitmapLength: UInt64(frozen.length)))
            }
        }
        renumber(templates, .template)
        renumber(topics, .topic)
        kinds.append(UInt64(entries.count))
        return IndexContents(
            rows: UInt64(tokens.count), longestToken: UInt64(longestToken), format: reader.format, kinds: kinds,
            columns: [
                tokens, tags, users, templates, topics, registered, tagPairs, tokenPairs, expiries, groups, entries,
                names,
                bitmaps,
            ])
    }

    /// A row's number of a name is that of the name's place among the sorted ones.
    private func renumber(_ column: GrowingColumn<UInt16>, _ kind: IndexLayout.Kind) {
        let order = tables[kind.rawValue].sorted()
        var places = [UInt16](repeating: 0, count: order.count)
        for (place, number) in order.enumerated() { places[number] = UInt16(place) }
        for row in 0..<column.count where column.base[row] != IndexLayout.none {
            column.base[row] = places[Int(column.base[row])]
        }
    }
}

/// What an index has: its sections in the order of `IndexLayout.Section`.
struct IndexContents {
    let rows: UInt64
    let longestToken: UInt64
    let format: RegistrationReader.Format
    /// Where the entries of each kind begin, and where the last ones end.
    let kinds: [UInt64]
    let columns: [any IndexColumn]
}

/// Something that is written as it lies in memory.
protocol IndexColumn: AnyObject {
    var bytes: UnsafeRawBufferPointer { get }
}

extension GrowingColumn: IndexColumn {}
