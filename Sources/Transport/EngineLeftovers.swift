/// What a worker's engine holds of a run.
public struct EngineLeftovers: Sendable, Equatable {
    public var connections = 0
    /// Pushes on streams.
    public var slots = 0
    /// Refused pushes that wait to be sent again.
    public var refused = 0
    /// Send buffers that connections hold.
    public var buffers = 0

    public init() {}

    public mutating func add(_ other: EngineLeftovers) {
        connections += other.connections
        slots += other.slots
        refused += other.refused
        buffers += other.buffers
    }
}
