/// Why a key, certificate, credentials folder or policy cannot be used: one line that says what, where, and what would
/// be right.
public struct SigningError: Error, CustomStringConvertible, Sendable, Equatable {
    public let description: String
    public init(_ description: String) { self.description = description }
}
