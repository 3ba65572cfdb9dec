/// What is wrong with registrations, a tag expression or feedback: one line that says what, where (`file:line:column`) and what
/// would be right.
package struct AudienceError: Error, CustomStringConvertible, Equatable {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
