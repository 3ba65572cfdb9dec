/// Why an exam cannot be held, one line.
package struct ExamError: Error, CustomStringConvertible, Sendable, Equatable {
    package let description: String
    package init(_ description: String) { self.description = description }
}
