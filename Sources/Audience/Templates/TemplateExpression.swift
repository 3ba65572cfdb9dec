/// What stands in a text of a template, from Azure's "Notification Hubs templates", section "Template expression language"
/// (https://learn.microsoft.com/azure/notification-hubs/notification-hubs-templates-cross-platform-push-messages):
///
/// | expression | becomes |
/// | --- | --- |
/// | `$(prop)` | the property's text |
/// | `$(prop, n)` | its first n characters |
/// | `.(prop, n)` | the same, but what is cut ends with three dots, n characters with them |
/// | `%(prop)` | the text URI-encoded |
/// | `#(prop)` | a number without quotes; in braces the text, as `$(prop)` |
/// | `'text'`, `"text"` | that text; only in braces |
/// | `{a + b}` | both, one after the other |
///
/// "You can only place expressions in particular places; for example, … string property values for JSON": not in keys. An
/// expression is the whole text, "when using concatenation, the entire expression must be surrounded with {}".
struct TemplateExpression: Equatable, Sendable {
    enum Term: Equatable, Sendable {
        case literal(String)
        case property(PropertyReference)
    }

    let terms: [Term]
    let isBraced: Bool

    /// `#(prop)` alone: the outcome has no quotes.
    var number: PropertyReference? {
        guard !isBraced, case .property(let reference)? = terms.first, reference.form == .number else { return nil }
        return reference
    }
}

/// A property that a template asks for, and what is done with its text.
struct PropertyReference: Equatable, Sendable {
    enum Form: Equatable, Sendable {
        case text, encoded, number
        case clipped(Int), dotted(Int)
    }

    let form: Form
    let name: String
    /// Where it stands: bytes from the file's beginning.
    let place: Int

    /// A number is its text here: where it may not be one, the caller checks it.
    func render(_ value: String) -> String {
        switch form {
        case .text, .number: value
        case .encoded: HubText.uriEncoded(value)
        case .clipped(let count): HubText.clipped(value, to: count)
        case .dotted(let count): HubText.dotted(value, to: count)
        }
    }
}
