import Glibc
import Settings

/// Rows of NDJSON: an object a line, its keys those of `RegistrationColumn`. Read by hand, since ten million objects would take
/// a general parser minutes.
extension RegistrationReader {
    func nextNDJSON() throws(AudienceError) -> Bool {
        let base = file.base
        while position < size, JSONScan.isBlank(base[position]) {
            if base[position] == 0x0A { line += 1 }
            position += 1
        }
        guard position < size else { return false }
        fields.row.start = position
        fields.line = line
        fields.clear()
        fields.template = .plain
        fields.escaped = 0
        guard base[position] == 0x7B else { throw error(position, "expected an object in braces on each line") }
        // One line is one object: no value goes over its end.
        var end = size
        if let feed = memchr(base + position, 0x0A, size - position) {
            end = UnsafePointer(feed.assumingMemoryBound(to: UInt8.self)) - base
        }
        var scan = JSONScan(base: base, position: position + 1, end: end)
        do throws(JSONScan.Problem) {
            try members(&scan)
        } catch {
            throw self.error(error.position, error.text)
        }
        position = min(size, end + 1)
        line += 1
        fields.row.end = position
        return true
    }

    private func members(_ scan: inout JSONScan) throws(JSONScan.Problem) {
        var seen: UInt16 = 0
        scan.skipBlanks()
        guard scan.position < scan.end else {
            throw .init(
                position: fields.row.start,
                text: "an object that goes on behind its line; expected each on one line, as jq -c . writes them")
        }
        var isFirst = true
        while !scan.take(0x7D) {
            if !isFirst { try scan.expect(0x2C, "a comma or }") }
            isFirst = false
            scan.skipBlanks()
            let keyAt = scan.position
            let key = try scan.string()
            guard let column = column(key) else { throw unknown(key, keyAt) }
            guard seen & 1 << UInt16(column.rawValue) == 0 else {
                throw JSONScan.Problem(position: keyAt, text: "\"\(column)\" stands twice")
            }
            seen |= 1 << UInt16(column.rawValue)
            scan.skipBlanks()
            try scan.expect(0x3A, "a colon")
            scan.skipBlanks()
            try value(column, &scan)
            scan.skipBlanks()
        }
        scan.skipBlanks()
        guard scan.position >= scan.end else {
            throw JSONScan.Problem(
                position: scan.position, text: "something behind the object; expected the line's end")
        }
        guard seen & 1 != 0 else {
            throw JSONScan.Problem(position: fields.row.start, text: "no \"token\" in this object")
        }
    }

    private func value(_ column: RegistrationColumn, _ scan: inout JSONScan) throws(JSONScan.Problem) {
        let at = scan.position
        if scan.takeNull() { return }
        switch (column, scan.peek) {
        case (.tags, 0x5B): fields[.tags] = try scan.flatArray()
        case (.tags, _):
            throw JSONScan.Problem(position: at, text: "\"tags\" is no array; expected an array of strings")
        case (.template, 0x7B):
            fields[.template] = try scan.object()
            fields.template = .jsonObject
        case (_, 0x22):
            let text = try scan.string()
            if text.hasEscapes {
                switch column {
                case .template: fields.template = .jsonString
                // It is sent as it stands in the file.
                case .token:
                    throw JSONScan.Problem(
                        position: at, text: "an escape in a device token; expected hexadecimal digits as they are")
                default: fields.escaped |= 1 << UInt16(column.rawValue)
                }
            }
            fields[column] = .init(start: text.start, end: text.end)
        case (.expires, 0x2D), (.registered, 0x2D), (.expires, 48...57), (.registered, 48...57):
            fields[column] = scan.number()
        default:
            let wanted =
                switch column {
                case .expires, .registered: "a number or a string"
                case .template: "a string or an object"
                default: "a string"
                }
            throw JSONScan.Problem(position: at, text: "expected \(wanted) for \"\(column)\"")
        }
    }

    /// The column that a key names.
    @inline(__always)
    private func column(_ key: JSONScan.Text) -> RegistrationColumn? {
        let (start, end) = (key.start, key.end)
        if key.hasEscapes { return RegistrationColumn(name: text(key)) }
        func has(_ text: StaticString) -> Bool {
            text.utf8CodeUnitCount == end - start && memcmp(text.utf8Start, file.base + start, end - start) == 0
        }
        switch (end - start, end > start ? file.base[start] : 0) {
        case (5, 0x74): return has("token") ? .token : has("topic") ? .topic : nil
        case (4, 0x74): return has("tags") ? .tags : nil
        case (4, 0x75): return has("user") ? .user : nil
        case (11, _): return has("environment") ? .environment : nil
        case (8, 0x6C): return has("language") ? .language : nil
        case (8, 0x74): return has("template") ? .template : nil
        case (7, _): return has("expires") ? .expires : nil
        case (10, _): return has("registered") ? .registered : nil
        default: return nil
        }
    }

    /// What a key with escapes is; where they are wrong, as it stands there.
    private func text(_ key: JSONScan.Text) -> String {
        let base = file.base + key.start
        return JSONText.read(base, key.end - key.start).map { String(decoding: $0, as: UTF8.self) }
            ?? String(decoding: UnsafeBufferPointer(start: base, count: key.end - key.start), as: UTF8.self)
    }

    private func unknown(_ key: JSONScan.Text, _ at: Int) -> JSONScan.Problem {
        let text = ByteText.shown(text(key))
        return .init(
            position: at, text: "unknown key \"\(text)\"" + NearestName.hint(text, among: RegistrationColumn.names))
    }
}
