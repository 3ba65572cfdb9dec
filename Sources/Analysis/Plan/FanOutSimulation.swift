import Measurement

/// A fan-out, event by event: client threads that spend CPU time on each push, connections with streams and a flow-control
/// window, a link with delay and rate each way, a server that takes CPU time (or none) and then answers after a time.
///
/// What it leaves out: loss, TCP's slow start, and that a thread which has more to do at once does it cheaper.
public struct FanOutSimulation: Sendable {
    /// Times are nanoseconds, sizes bytes, rates bytes a second.
    public struct Settings: Sendable {
        /// Client threads, with the connections shared out evenly among them.
        public var workers = 1
        public var connections = 1
        /// On each connection.
        public var streams = 1000
        /// CPU time of the client a push.
        public var clientCost = TimeDistribution.constant(0)
        /// Most pushes a thread sends, or the server takes, before it looks at something else.
        public var batch = 38
        /// 0: a server that is never short of CPU time.
        public var serverThreads = 0
        public var serverCost = TimeDistribution.constant(0)
        /// Cores that all threads of client and server share; nil: each has its own.
        public var cores: Int?
        public var roundTrip = 0.0
        /// Of a push and of its answer, as the link carries them.
        public var requestBytes = 0.0
        public var answerBytes = 0.0
        /// What a push takes of the window.
        public var payloadBytes = 0.0
        /// A push is begun only when as much of the window is left.
        public var largestPayload = 0.0
        /// Of each connection, each way; nil: unlimited.
        public var linkRate: Double?
        /// Of all connections together, towards the server; nil: unlimited.
        public var uplinkRate: Double?
        /// Bytes of DATA each connection may have unacknowledged; nil: unlimited.
        public var window: Double?
        /// The server opens the window again when more than this share of it is used, 0…1.
        public var windowReopen = 0.5
        /// From a push being read to its answer being written, besides CPU time.
        public var serverTime = TimeDistribution.constant(0)
        public var arrivals = Arrivals.closed
        /// To simulate in all, at least 1.
        public var pushes = 100_000
        /// The first so many answers are left out of throughput and latencies.
        public var warmup = 0
        public var seed: UInt64 = 1

        public init() {}
    }

    public enum Arrivals: Sendable, Equatable {
        /// A push is due when a stream is free for it.
        case closed
        /// So many a second over all workers, due at equal distances.
        case constant(Double)
        /// The same, each due independently of the others.
        case poisson(Double)
    }

    public struct Outcome: Sendable {
        /// Pushes a second while pushes were still begun, warm-up left out.
        public var throughput = 0.0
        /// Due to answered, and begun to be sent to answered, warm-up left out.
        public var total = LatencyHistogram()
        public var roundTrip = LatencyHistogram()
        /// Of the whole run, warm-up included: pushes due and not answered, averaged over time; due to last answer.
        public var meanInSystem = 0.0
        public var meanTotal = 0.0
        public var arrivalRate = 0.0
        /// Simulated time, seconds.
        public var seconds = 0.0
        public var answered = 0
        public var events: UInt64 = 0
        /// Share of the time each client thread had work, 0…1, on average.
        public var clientLoad = 0.0
    }

    public let settings: Settings

    public init(_ settings: Settings) { self.settings = settings }

    /// Runs it; the same seed gives the same outcome. A million pushes take less than a second.
    public func run() -> Outcome { FanOutEngine(settings).run() }
}
