import Glibc
import Settings

/// Rows of CSV, RFC 4180: fields may be in quotes and then hold commas, line ends and doubled quotes. Every row has as many fields
/// as the header line.
extension RegistrationReader {
    @inline(__always)
    func nextCSV() throws(AudienceError) -> Bool {
        guard position < size else { return false }
        let base = file.base
        fields.row.start = position
        fields.line = line
        fields.template = .plain
        let count = columns.count
        var place = 0
        try columns.withUnsafeBufferPointer { (columns) throws(AudienceError) in
            while true {
                guard place < count else { throw tooMany(place) }
                let column = columns[place]
                if position < size, base[position] == 0x22 {
                    try quoted(column)
                } else {
                    let start = position
                    position = fieldEnd(start)
                    fields[column] = .init(start: start, end: position)
                    if column == .template { try checkUnquoted(start, position) }
                }
                place += 1
                // The end of the last row is that of the file.
                guard position < size, base[position] == 0x2C else { break }
                position += 1
            }
            // What stands before a line end.
            let column = columns[place - 1]
            let last = fields[column]
            if position < size, last.end == position, last.end > last.start, base[last.end - 1] == 0x0D {
                fields[column].end -= 1
            }
        }
        if position < size {
            position += 1
            line += 1
        }
        fields.row.end = position
        if place < count { throw tooFew(place) }
        return true
    }

    /// The next comma or line feed, or the end. Eight bytes at a time: a byte of a word is zero where (x - 1) & ~x has its top bit
    /// set, of which the lowest is always right.
    @inline(__always)
    private func fieldEnd(_ start: Int) -> Int {
        let base = file.base
        let ones: UInt64 = 0x0101_0101_0101_0101
        var at = start
        while at + 8 <= size {
            let word = UInt64(littleEndian: UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self))
            let comma = word ^ (ones &* 0x2C)
            let feed = word ^ (ones &* 0x0A)
            let found = (((comma &- ones) & ~comma) | ((feed &- ones) & ~feed)) & (ones << 7)
            if found != 0 { return at + found.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at < size, base[at] != 0x2C, base[at] != 0x0A { at += 1 }
        return at
    }

    @inline(never)
    private func quoted(_ column: RegistrationColumn) throws(AudienceError) {
        let base = file.base
        let opening = position
        var at = opening + 1
        var isDoubled = false
        while true {
            guard at < size, let found = memchr(base + at, 0x22, size - at) else {
                throw error(opening, "a quote that is not closed")
            }
            at = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) - base
            guard at + 1 < size, base[at + 1] == 0x22 else { break }
            isDoubled = true
            at += 2
        }
        if isDoubled, column == .template { fields.template = .doubledQuotes }
        fields[column] = .init(start: opening + 1, end: at)
        for index in opening..<at where base[index] == 0x0A { line += 1 }
        position = at + 1
        // A carriage return belongs to the line end.
        if position + 1 < size, base[position] == 0x0D, base[position + 1] == 0x0A { position += 1 }
        if position < size, base[position] != 0x2C, base[position] != 0x0A {
            throw error(
                position, "\(ByteText.shown(base[position])) behind a closing quote; expected a comma or the line's end"
            )
        }
    }

    private func checkUnquoted(_ start: Int, _ end: Int) throws(AudienceError) {
        if let quote = memchr(file.base + start, 0x22, end - start) {
            let at = UnsafePointer(quote.assumingMemoryBound(to: UInt8.self)) - file.base
            throw error(at, "a quote in a field without quotes; put the field in quotes and double those in it")
        }
    }

    private var named: String {
        "the header line names \(columns.count): " + columns.map { "\($0)" }.joined(separator: ",")
    }

    private func tooMany(_ place: Int) -> AudienceError {
        error(position, "more than \(Units.counted(place, "field")); \(named)")
    }

    private func tooFew(_ place: Int) -> AudienceError {
        let isBlank = place == 1 && fields[columns[0]].end == fields[columns[0]].start
        return error(
            fields.row.start,
            isBlank ? "an empty line; expected a registration" : "\(Units.counted(place, "field")); \(named)")
    }
}
