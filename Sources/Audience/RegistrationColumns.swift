import Settings

/// What a registration says of itself: a column of CSV, a key of NDJSON.
enum RegistrationColumn: Int, CaseIterable {
    case token, tags, topic, environment, user, language, template, expires, registered

    static let names = allCases.map { "\($0)" }

    init?(name: String) {
        guard let number = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: number)
    }
}

/// Where the fields of one row are in the mapped file.
struct RegistrationFields {
    /// Bytes from `start` up to `end`.
    struct Place {
        var start = 0
        var end = 0
    }

    /// How a template's text is written.
    enum Writing {
        case plain
        /// RFC 4180: a quote within quotes is doubled.
        case doubledQuotes
        case jsonString
        case jsonObject
    }

    /// Nine of them, by the number of their column; an empty one says nothing.
    let places: UnsafeMutablePointer<Place>
    var template = Writing.plain
    /// Columns whose text has escapes of JSON, a bit each; a template's are told by its writing.
    var escaped: UInt16 = 0
    /// The whole row with its line end.
    var row = Place()
    /// The line that the row begins on, from 1.
    var line = 1

    @inline(__always)
    subscript(_ column: RegistrationColumn) -> Place {
        get { places[column.rawValue] }
        nonmutating set { places[column.rawValue] = newValue }
    }

    @inline(__always)
    func hasEscapes(_ column: RegistrationColumn) -> Bool { escaped & 1 << UInt16(column.rawValue) != 0 }

    @inline(__always)
    func clear() { places.update(repeating: Place(), count: RegistrationColumn.allCases.count) }
}
