import Devices
import Echo
import HTTP2
import Measurement
import Networking
import Payloads
import Settings

/// What a mock server listens on and how it judges, delivers and misbehaves. Times are nanoseconds.
public struct MockConfiguration: Sendable {
    public var host = "127.0.0.1"
    /// Of the environment below; 0: the kernel chooses.
    public var port: UInt16 = 0
    public var environment = PushEnvironment.production
    /// A second listener, for the other environment; nil: none.
    public var secondPort: UInt16?
    /// Channel management for the first listener's environment; nil: none.
    public var managementPort: UInt16?
    /// Channel management for the second listener's environment; nil: none.
    public var secondManagementPort: UInt16?
    /// nil: plaintext HTTP/2 with prior knowledge.
    public var tls: TLSOptions?
    public var threads = 1
    /// Cores that they are pinned to, one each in turn; nil: they run where the system puts them.
    public var pin: CoreList?

    // Who may send what to whom.
    /// Keys whose provider tokens are valid; none: tokens are not checked.
    public var accounts: [ProviderAccount] = []
    public var tokenUpdates = TokenUpdates.Scope.connection
    public var rules = RequestRules()
    /// Bundle ids a push may be for; nil allows every topic.
    public var topics: Set<String>?
    public var population = DeviceDirectory.Population.everybody
    /// Devices that become unregistered while the mock runs.
    public var decay: DeviceDirectory.Decay?
    /// The share of devices that belong to the development environment; nil: each to both.
    public var developmentShare: Double?
    /// Bundle ids broadcast is enabled for; nil: all.
    public var broadcastTopics: Set<String>?
    /// Channels an app may have in an environment; Apple's limit is 10,000.
    public var channelLimit = 10_000
    public var delivery = DeliverySettings()
    /// What devices do with pushes; nil: nothing. With a model, of `delivery` only the seed and the limit for each device count.
    package var deviceModel: DeviceModel?
    /// With a model: what became of each push at its device is written there; nil: nowhere.
    package var deviceLog: DeviceLogWriter?
    /// What devices of the model ask for content; nil: nothing, and all they ask for fails.
    package var deviceBackend: EchoConfiguration?

    // Connections.
    /// SETTINGS_MAX_CONCURRENT_STREAMS; Apple's is about 1,000.
    public var maxConcurrentStreams: UInt32 = 1000
    /// Announce `maxConcurrentStreams` from the start, for clients that do not look at SETTINGS again; otherwise a token
    /// connection may have one stream until its first request was authenticated, as at Apple.
    public var allStreamsAtOnce = false
    /// Flow control towards the server, bytes.
    public var streamWindow: UInt32 = 65_535
    public var connectionWindow: UInt32 = 1_048_576
    public var maxFrameSize: UInt32 = 16_384
    public var headerTableSize: UInt32 = 4096
    /// Most connections at once; the next one is closed at once.
    public var maxConnections = 100_000
    /// A connection that has not finished TLS and begun HTTP/2 (its preface and SETTINGS) after so long, ns, is closed.
    public var handshakeTimeout: UInt64 = 10_000_000_000
    /// A connection without traffic for so long is told to go away; 0: never.
    public var idleTimeout: UInt64 = 3_600_000_000_000
    /// A request not complete after so long is answered 400 IdleTimeout; 0: never.
    public var requestTimeout: UInt64 = 60_000_000_000
    /// A connection whose client does not take what is written for it for so long, ns, is closed, and a stream whose answer waits so long
    /// for the client's windows is reset; 0: never.
    public var writeTimeout: UInt64 = 60_000_000_000
    /// What a read brought is answered with one write; otherwise each frame is a TLS record and a write of its own.
    public var batchesAnswers = true
    /// At the end, new requests are answered 503 Shutdown for so long before connections are told to go away.
    public var shutdownGrace: UInt64 = 0
    /// Answers waiting for their time, a thread; beyond it 503 ServiceUnavailable.
    public var maxWaitingAnswers = 1_000_000

    /// Bytes that may wait for clients, a thread: parts of requests, and answers that are not taken. Beyond it who holds most is closed.
    var mostHeld = 32 << 20

    public var faults = FaultPlan()
    /// Device tokens that begin with `dead` say what they are answered.
    public var scriptedTokens = false
    /// What tells namespaces apart, each with devices, rules, counts and kept pushes of its own; nil: there is one. Not with a device
    /// model.
    public var namespaceRule: NamespaceRule?
    /// Further listeners for the first environment, each with a namespace of its own, called by its port; 0: the kernel chooses.
    public var namespacePorts: [UInt16] = []

    // Being watched.
    /// The admin listener; nil: none.
    public var adminPort: UInt16?
    public var adminHost = "127.0.0.1"
    /// Further names it may be asked by.
    public var adminNames: [String] = []
    /// Requests kept for `/pushes`, a thread.
    public var keptPushes = 1000
    /// Pushes tracked of each run.
    public var ledgerCapacity: UInt64 = 1 << 32
    /// Note when one push in so many of the first run came and was answered; nil: of none.
    public var timesInterval: UInt64?
    /// What comes is written down there; nil: nowhere.
    package var recording: RecordingWriter?

    public init() {}
}
