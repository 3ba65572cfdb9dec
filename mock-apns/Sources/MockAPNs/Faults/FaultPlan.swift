/// How the mock misbehaves: what happens to pushes, to connections, and what the link to the client is like.
public struct FaultPlan: Sendable, Equatable {
    /// The first rule that matches a push, and whose burst is on, decides.
    public var rules: [FaultRule] = []
    public var connections = ConnectionFaults()
    /// The network between client and server.
    public var link = LinkSettings()
    /// All random choices follow from it.
    public var seed: UInt64 = 1

    public init() {}

    /// For who gives none: short enough to be typed again.
    public static func drawnSeed() -> UInt64 { .random(in: 1...999_999_999) }

    /// Rules are looked at one after the other, for each push.
    static let mostRules = 1000
    /// Of all rules together: steps, and texts that they match.
    static let mostParts = 10_000

    /// Bytes of memory, about.
    var size: Int { rules.reduce(0) { $0 + $1.size } }

    /// Nothing is changed for any push or connection.
    public var isEmpty: Bool {
        var plain = FaultPlan()
        plain.seed = seed
        return self == plain
    }
}

/// What happens to connections. Times are nanoseconds.
public struct ConnectionFaults: Sendable, Equatable {
    /// SETTINGS sent during a connection.
    public struct SettingsChange: Sendable, Equatable {
        /// After the connection's start, or after the change before it when the changes repeat.
        public var after: UInt64
        public var maxConcurrentStreams: UInt32?
        public var streamWindow: UInt32?
        public var maxFrameSize: UInt32?
        public var headerTableSize: UInt32?

        public init(after: UInt64) { self.after = after }
    }

    /// Told to go away after so many requests.
    public var goAwayAfter: UInt64?
    /// Told to go away at this age.
    public var goAwayAge: UInt64?
    /// Reset (TCP RST) at this age.
    public var tcpResetEvery: UInt64?
    /// This share of the TLS handshakes (without TLS: of the connections) fails, 0 to 1.
    public var handshakeFailureShare = 0.0
    /// The whole server does nothing for `stallLength` out of every `stallEvery`.
    public var stallEvery: UInt64?
    public var stallLength: UInt64 = 0
    /// What a connection sends is read no faster than this, bytes a second: windows close.
    public var slowReading: Double?
    /// Connections made from then on are slowed down and cut off for 4xx answers; nil: none is.
    public var penalty: PenaltySettings?
    public var settings: [SettingsChange] = []
    public var repeatsSettings = false

    public init() {}

    /// Something happens to connections at a time, rather than with what they send.
    var areTimed: Bool {
        tcpResetEvery != nil || goAwayAge != nil || stallEvery != nil || !settings.isEmpty
    }

    /// How much longer the server stands still, ns; 0: it does not. A stall ends each period, so that the server's start is not one.
    ///
    /// - Parameter age: of the server, ns.
    func stallLeft(at age: UInt64) -> UInt64 {
        guard let every = stallEvery, every > 0 else { return 0 }
        let place = age % every
        return place >= every - min(every, stallLength) ? every - place : 0
    }
}
