/// What is asked of a plan. Times are nanoseconds, sizes bytes, bandwidths bytes a second.
struct PlanQuestion: Sendable, Equatable {
    /// Of them all; nil: what can the configuration do? Then `machines` and `connections` must be given.
    var pushes: UInt64?
    /// Who gets them, one each or, with several registrations, more; said, not reckoned with.
    var devices: UInt64?
    var within: Double?
    var roundTrip = 0.0
    /// From a push being read by the server to its answer being written.
    var serverTime = TimeDistribution.constant(0)
    /// On each connection.
    var streams = 1000
    /// In all; nil: as many as it takes.
    var connections: Int?
    /// As many as it takes when nil.
    var machines: Int?
    /// Of each machine; one worker each.
    var cores = 1
    /// Of every bound, how much is planned with, 0…1.
    var utilisation = 0.8
    /// What a push takes of the server's window, and as HTTP/2 frames; its answer as frames.
    var payloadBytes = 0.0
    var largestPayload = 0.0
    var requestBytes = 0.0
    var answerBytes = 0.0
    /// Of a machine, towards the server; with what TLS, TCP, IP and Ethernet add.
    var bandwidth: Double?
    /// Of a connection, each way, HTTP/2's bytes.
    var linkRate: Double?
    /// Bytes of DATA each connection may have unacknowledged, and which share of them the server lets be used before it says more.
    var window: Double?
    var windowReopen = 0.5
    /// How the server answers; nil: not known, and then as the bundled mock, with what it takes if not said beside it.
    var answers: CostSample.Answers?
    /// Each piece on the link is late by a random time up to this, each way; order is kept.
    var jitter = 0.0
    /// Share of TCP's segments that are lost, each way, 0 ... below 1.
    var loss = 0.0
    /// The server ends a connection after so many pushes (GOAWAY); nil: never.
    var goAwayEvery: Double?
    /// The server allows each connection fewer streams at times; nil: never.
    var fewerStreams: FewerStreams?
    /// Share of the attempts that are answered 429 or 503 and sent again, until they are accepted, 0 ... below 1.
    var sentAgain = 0.0
    /// Due times are drawn independently of each other instead of lying at equal distances.
    var isPoisson = false
    /// The bundled mock on the same machine, with so many threads; 0: the server is elsewhere, and as large as it takes.
    var mockThreads = 0
    /// Cores that client and mock share; nil: each thread has its own.
    var sharedCores: Int?
    var seed: UInt64 = 1
    /// Most pushes of a simulation.
    var simulated = 1_500_000

    init() {}

    /// The configuration is there: nothing of it is to be found.
    var isGiven: Bool { machines != nil && connections != nil }

    /// Payloads that a window holds, and after how many the server says more; nil: there is none. With fewer of the first nothing opens
    /// it again.
    var windowUse: (held: Double, step: Double)? {
        guard let window, payloadBytes > 0 else { return nil }
        return (
            ((window - max(largestPayload, payloadBytes)) / payloadBytes).rounded(.down) + 1,
            (window * windowReopen / payloadBytes).rounded(.down) + 1
        )
    }

    /// Until a connection may have all its streams: TCP, TLS 1.3, the server's SETTINGS, and the first push, which is alone on its
    /// connection until its token was found valid. The mock's emulated link brings SETTINGS in half a round trip.
    var setupRoundTrips: Double { mockThreads > 0 ? 3.5 : 4 }
    /// TLS 1.3 adds 22 bytes to a record of 16 KB; Ethernet, IPv4 and TCP with timestamps 90 to 1,448 bytes (preamble and gap
    /// counted).
    static let wireFactor = (1 + 22.0 / 16_384) * (1 + 90.0 / 1448)

    /// Data of a full TCP segment over Ethernet with timestamps, bytes.
    static let segment = 1448.0

    /// Times that a push is sent on average: 1 + q + q² + … .
    var attempts: Double { 1 / (1 - sentAgain) }

    /// Answers come one by one, whatever came together.
    var spreadsAnswers: Bool { !serverTime.isConstant }

    /// There is a real network, with TCP over it: the mock's emulated link delays bytes of a local connection.
    var hasNetwork: Bool { roundTrip > 0 && mockThreads == 0 }

    /// What TCP carries of a push's frames, bytes.
    var segmentBytes: Double { requestBytes * (1 + 22.0 / 16_384) }

    var wireBytes: Double { requestBytes * Self.wireFactor }
}
