import Transport

/// The client's side of answers alone: their frames parsed, their streams looked up and freed. For benchmarks only.
public final class FrameParse {
    private let reader: AnswerReader

    /// - Throws: when the system has no descriptors.
    public init() throws { reader = try AnswerReader() }

    /// Reads the answers of `count` pushes, rounded up to 64; returns a number that depends on them.
    public func run(_ count: UInt64) -> UInt64 { reader.run(count) }
}
