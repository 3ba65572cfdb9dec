/// What is wrong with a profile, header, device file or template: one line that says what, where, and what would be right.
public struct PayloadError: Error, CustomStringConvertible, Sendable, Equatable {
    public let description: String
    public init(_ description: String) { self.description = description }
}
