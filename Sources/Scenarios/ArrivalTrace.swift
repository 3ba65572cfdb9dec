import Foundation
import Settings

/// Recorded due times: a text file with one a line, the first column of a CSV, each with its unit (`1.5s`, `20ms`) or all with
/// that of the header's name (`due_s`, `due_ms`, `due_us`, `due_ns`). The earliest becomes 0.
public enum ArrivalTrace {
    /// - Throws: `file:line: …`
    public static func read(_ path: String) throws(SettingsError) -> [UInt64] {
        try parse(try FileContents.text(path, "trace"), file: path)
    }

    static func parse(_ text: String, file: String) throws(SettingsError) -> [UInt64] {
        var times: [UInt64] = []
        var unit = ""
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let field = (line.split(separator: ",", omittingEmptySubsequences: false).first ?? "")
                .trimmingCharacters(in: .whitespaces)
            if field.isEmpty || field.hasPrefix("#") { continue }
            if number == 0, !(field.first?.isNumber ?? false) {
                unit = ["ns", "us", "ms", "s"].first { field.lowercased().hasSuffix("_" + $0) } ?? ""
                continue
            }
            let isBare = field.allSatisfy { $0.isNumber || $0 == "." }
            do throws(Units.ParseError) { times.append(try Units.duration(isBare ? field + unit : field)) } catch {
                let header = isBare ? ", or a header that says it: due_s, due_ms, due_us or due_ns" : ""
                throw SettingsError("\(file):\(number + 1): \(error)\(header)")
            }
        }
        guard let first = times.min() else { throw SettingsError("\(file): no due time in it; expected one a line") }
        return times.map { $0 - first }.sorted()
    }
}
