import Reports

/// A text that somebody else wrote into the rendezvous, read as what can be printed on one line: what moves a cursor, colours or ends a
/// line becomes `?`.
@propertyWrapper
package struct PlainText: Codable, Sendable, Equatable {
    package var wrappedValue: String

    package init(wrappedValue: String) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        wrappedValue = TextLines.plain(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
