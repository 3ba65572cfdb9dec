import Foundation
import Settings

/// Recorded due times: a text file with one a line (seconds, or with a unit: `1.5`, `20ms`), the first column of a CSV. A
/// header line is passed over; the earliest becomes 0.
public enum ArrivalTrace {
    /// - Throws: `file:line: …`
    public static func read(_ path: String) throws(SettingsError) -> [UInt64] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("cannot read the trace \(path)")
        }
        return try parse(String(decoding: data, as: UTF8.self), file: path)
    }

    static func parse(_ text: String, file: String) throws(SettingsError) -> [UInt64] {
        var times: [UInt64] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let field = (line.split(separator: ",", omittingEmptySubsequences: false).first ?? "")
                .trimmingCharacters(in: .whitespaces)
            if field.isEmpty || field.hasPrefix("#") { continue }
            if number == 0, !(field.first?.isNumber ?? false) { continue }
            do throws(Units.ParseError) { times.append(try Units.duration(field)) } catch {
                throw SettingsError("\(file):\(number + 1): \(error)")
            }
        }
        guard let first = times.min() else { throw SettingsError("\(file): no due time in it; expected one a line") }
        return times.map { $0 - first }.sorted()
    }
}
