/// Why a run cannot be made: one line.
public struct HarnessError: Error, CustomStringConvertible, Sendable {
    public let description: String
    /// The request itself is wrong (exit status 64), rather than the world it runs in.
    public let isUsage: Bool

    public init(_ description: String, isUsage: Bool = true) {
        self.description = description
        self.isUsage = isUsage
    }
}
