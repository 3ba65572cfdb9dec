import Foundation
import PlainHTTP
import Settings

extension BackendServer.Report: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        func add(_ name: String, _ value: UInt64) throws {
            try container.encode(value, forKey: Key(stringValue: name))
        }
        try container.encode("counts", forKey: Key(stringValue: "event"))
        try add("requests", counts.requests)
        for kind in BackendCounts.Kind.allCases { try add(kind.rawValue, counts[kind]) }
        try add("waiting", UInt64(waiting))
        try add("unread", unread)
        try add("connections_accepted", connections.accepted)
        try add("connections_open", UInt64(open))
        try add("connections_beyond_limit", connections.beyondLimit)
        try add("connections_closed_for_room", connections.closedForRoom)
    }

    /// One line.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// One line: all requests, then those kinds that there were.
    package var text: String {
        let kinds = BackendCounts.Kind.allCases.filter { counts[$0] > 0 }.map {
            "\($0.rawValue.split(separator: "_").joined(separator: " ")) \(Units.grouped(counts[$0]))"
        }
        return "requests \(Units.grouped(counts.requests))"
            + (kinds.isEmpty ? "" : ": " + kinds.joined(separator: ", "))
    }
}
