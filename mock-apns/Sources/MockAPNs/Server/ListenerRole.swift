/// What is served at a port.
struct ListenerRole: Sendable, Equatable {
    let environment: PushEnvironment
    /// Channel management instead of pushes.
    let isManagement: Bool
}
