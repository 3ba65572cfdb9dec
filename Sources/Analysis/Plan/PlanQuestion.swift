/// What is asked of a plan. Times are nanoseconds, sizes bytes, bandwidths bytes a second.
package struct PlanQuestion: Sendable, Equatable {
    /// nil: what can the configuration do? Then `machines` and `connections` must be given.
    package var devices: UInt64?
    package var within: Double?
    package var roundTrip = 0.0
    /// From a push being read by the server to its answer being written.
    package var serverTime = TimeDistribution.constant(0)
    /// On each connection.
    package var streams = 1000
    /// In all; nil: as many as it takes.
    package var connections: Int?
    /// As many as it takes when nil.
    package var machines: Int?
    /// Of each machine; one worker each.
    package var cores = 1
    /// Of every bound, how much is planned with, 0…1.
    package var utilisation = 0.8
    /// What a push takes of the server's window, and as HTTP/2 frames; its answer as frames.
    package var payloadBytes = 0.0
    package var largestPayload = 0.0
    package var requestBytes = 0.0
    package var answerBytes = 0.0
    /// Of a machine, towards the server; with what TLS, TCP, IP and Ethernet add.
    package var bandwidth: Double?
    /// Of a connection, each way, HTTP/2's bytes.
    package var linkRate: Double?
    /// Bytes of DATA each connection may have unacknowledged, and which share of them the server lets be used before it says more.
    package var window: Double?
    package var windowReopen = 0.5
    /// Due times are drawn independently of each other instead of lying at equal distances.
    package var isPoisson = false
    /// The bundled mock on the same machine, with so many threads; 0: the server is elsewhere, and as large as it takes.
    package var mockThreads = 0
    /// Cores that client and mock share; nil: each thread has its own.
    package var sharedCores: Int?
    package var seed: UInt64 = 1
    /// Most pushes of a simulation.
    var simulated = 1_500_000

    package init() {}

    /// TCP, TLS 1.3, and the first push, which is alone on its connection until its token was found valid.
    static let setupRoundTrips = 3.0
    /// TLS 1.3 adds 22 bytes to a record of 16 KB; Ethernet, IPv4 and TCP with timestamps 90 to 1,448 bytes (preamble and gap
    /// counted).
    static let wireFactor = (1 + 22.0 / 16_384) * (1 + 90.0 / 1448)

    var wireBytes: Double { requestBytes * Self.wireFactor }
}
