/// What is served at a port.
struct ListenerRole: Sendable, Equatable {
    let environment: PushEnvironment
    /// Channel management instead of pushes.
    let isManagement: Bool
    /// The namespace of all that comes there; nil: the default one, or the one that the request says.
    var namespace: String?
}
