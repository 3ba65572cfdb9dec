/// What is wrong with a template, and where: `FILE:3:17: unknown hole "devise_index"; did you mean "device_index"?`
public struct TemplateError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The file or profile.
    public let name: String
    /// From 1.
    public let line: Int
    /// From 1, in characters (Unicode scalars).
    public let column: Int
    public let reason: String

    public var description: String { "\(name):\(line):\(column): \(reason)" }
}
