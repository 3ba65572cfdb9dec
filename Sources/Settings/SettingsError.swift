/// A setting that cannot be used: what is wrong, where, and what would be right, in one line.
public struct SettingsError: Error, CustomStringConvertible, Sendable, Equatable {
    public let description: String
    package init(_ description: String) { self.description = description }
}
