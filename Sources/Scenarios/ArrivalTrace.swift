import Foundation
import Settings

/// Recorded due times: a text file with one a line and its unit (`1.5s`, `20ms`), or the first column of a CSV whose header names
/// it: `due`, `time` or `t`, or any name with the unit of all (`due_s`, `due_ms`, `due_us`, `due_ns`). The earliest becomes 0.
public enum ArrivalTrace {
    /// - Throws: `file:line: …`
    public static func read(_ path: String) throws(SettingsError) -> [UInt64] {
        try parse(try FileContents.text(path, "trace"), file: path)
    }

    static func parse(_ text: String, file: String) throws(SettingsError) -> [UInt64] {
        var times: [UInt64] = []
        var header: Header?
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            if times.isEmpty, header == nil, let found = Header(line) {
                header = found
                continue
            }
            do throws(SettingsError) { times.append(try due(line, header)) } catch {
                throw SettingsError("\(file):\(number + 1): \(error)")
            }
        }
        guard let first = times.min() else { throw SettingsError("\(file): no due time in it; expected one a line") }
        return times.map { $0 - first }.sorted()
    }

    /// The line that names the columns.
    private struct Header {
        /// Of a number without one; empty: there is none.
        let unit: String
        let columns: Int

        /// nil when the line's first column is no due time's.
        init?(_ line: String) {
            let names = ArrivalTrace.fields(line)
            let name = names[0].lowercased()
            let unit = ["ns", "us", "ms", "s"].first { name.hasSuffix("_" + $0) }
            guard name.first?.isLetter == true, unit != nil || ["due", "time", "t"].contains(name) else { return nil }
            self.unit = unit ?? ""
            columns = names.count
        }
    }

    private static func fields(_ line: String) -> [String] {
        line.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func due(_ line: String, _ header: Header?) throws(SettingsError) -> UInt64 {
        let fields = header == nil ? [line] : fields(line)
        if let header, fields.count > header.columns, !line.contains("\"") {
            throw SettingsError(
                "\(Units.counted(fields.count, "column")), where the header has \(header.columns); decimals have a point, no comma"
            )
        }
        let text = fields[0]
        let isBare = text.allSatisfy { $0.isNumber || $0 == "." } && Double(text) != nil
        let unit = header?.unit ?? ""
        guard !isBare || !unit.isEmpty else {
            throw SettingsError(
                "\"\(text)\" has no unit; write \(text)ms, \(text)s or \(text)m, or a header that says it: due_s, due_ms, "
                    + "due_us or due_ns")
        }
        do throws(Units.ParseError) { return try Units.duration(isBare ? text + unit : text) } catch {
            if error.isTooLarge {
                let name = ["s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"][unit]
                throw SettingsError(
                    "\"\(text)\" is too large: expected \(name ?? "the time") since the start, less than 31 years; of times since 1970 "
                        + "subtract the first")
            }
            let columns = header == nil && text.contains(",") ? "; columns take a header, such as due_s" : ""
            throw SettingsError(error.description + columns)
        }
    }
}
