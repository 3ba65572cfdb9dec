import Measurement
import Scenarios

/// A fan-out, event by event: client threads that spend CPU time on each push, connections with streams and a flow-control
/// window, a link with delay and rate each way, a server that takes CPU time (or none) and then answers after a time.
///
/// What it leaves out: TCP's slow start, that loss makes its window small (`TCPModel` does), and that a thread which has more to do at once does it cheaper.
struct FanOutSimulation: Sendable {
    /// Times are nanoseconds, sizes bytes, rates bytes a second.
    struct Settings: Sendable {
        /// Client threads, with the connections shared out evenly among them.
        var workers = 1
        var connections = 1
        /// On each connection.
        var streams = 1000
        /// CPU time of the client a push.
        var clientCost = TimeDistribution.constant(0)
        /// Most pushes a thread sends, or the server takes, before it looks at something else.
        var batch = 38
        /// 0: a server that is never short of CPU time.
        var serverThreads = 0
        var serverCost = TimeDistribution.constant(0)
        /// Cores that all threads of client and server share; nil: each has its own.
        var cores: Int?
        var link = FanOutLink()
        /// What a push waits besides, each by itself.
        var wait = TimeDistribution.constant(0)
        /// Share of the answers after which a push is sent again, 0 ... below 1.
        var sentAgain = 0.0
        /// nil: connections stay.
        var renewal: Renewal?
        /// Of every connection, from a random time of it on; nil: never. Fewer than `streams`.
        var fewerStreams: FewerStreams?
        /// Of a push and of its answer, as the link carries them.
        var requestBytes = 0.0
        var answerBytes = 0.0
        /// What a push takes of the window.
        var payloadBytes = 0.0
        /// A push is begun only when as much of the window is left.
        var largestPayload = 0.0
        /// Of each connection, each way; nil: unlimited.
        var linkRate: Double?
        /// Of all connections together, towards the server; nil: unlimited.
        var uplinkRate: Double?
        /// Bytes of DATA each connection may have unacknowledged; nil: unlimited.
        var window: Double?
        /// The server opens the window again when more than this share of it is used, 0…1.
        var windowReopen = 0.5
        /// From a push being read to its answer being written, besides CPU time.
        var serverTime = TimeDistribution.constant(0)
        /// Connections that are made anew are somewhere in their lives in the beginning, as they are once they have come apart: at a rate all are
        /// there with some pushes behind them, in a closed loop they begin within so long, ns. nil: all begin together.
        var apart: Double?
        /// The first pushes on all streams have been at the server for a while: answer times with long tails would else be seen too late.
        var beginsSteady = false
        var arrivals = Arrivals.closed
        /// To simulate in all, at least 1.
        var pushes = 100_000
        /// The first so many answers are left out of throughput, the first so many pushes of latencies.
        var warmup = 0
        /// After the warm-up so many are measured, and no more: what comes and goes with them is seen as a whole then. nil: all, throughput
        /// as the slope of a line.
        var measured: Int?
        var seed: UInt64 = 1

        init() {}
    }

    /// The server ends a connection after so many pushes (GOAWAY, RFC 9113, section 6.8). What is sent until the client hears of it is
    /// refused, and sent again: the price of a new connection has its CPU time, which is not counted twice.
    struct Renewal: Sendable {
        var every: Int
        /// From the last push that is taken being sent to the client hearing of the end, ns.
        var told: Double
        /// From then on to the next connection, which is begun at once, being as fast as it gets, ns.
        var making: Double
        /// Of an open loop, from the first push being due to the first connection having all its streams, and from then on to each other
        /// one of its worker having them, ns: what is due meanwhile goes over those that are there, which are ended sooner for it.
        var first = 0.0
        var each = 0.0
    }

    enum Arrivals: Sendable, Equatable {
        /// A push is due when a stream is free for it.
        case closed
        /// So many a second over all workers, due at equal distances.
        case constant(Double)
        /// The same, each due independently of the others.
        case poisson(Double)
    }

    struct Outcome: Sendable {
        /// Pushes a second while pushes were still begun, warm-up left out.
        var throughput = 0.0
        /// Due to answered, and begun to be sent to answered, warm-up left out.
        var total = LatencyHistogram()
        var roundTrip = LatencyHistogram()
        /// Of the whole run, warm-up included: pushes due and not answered, averaged over time; due to last answer.
        var meanInSystem = 0.0
        var meanTotal = 0.0
        var arrivalRate = 0.0
        /// Simulated time, seconds.
        var seconds = 0.0
        var answered = 0
        var events: UInt64 = 0
        /// Share of the time each client thread had work, 0…1, on average.
        var clientLoad = 0.0

        /// Latencies of a longer run, of which this is the beginning: the rest is like another one.
        ///
        /// - Parameter pushes: of all of it.
        func joined(with later: Outcome, pushes: Double) -> Outcome {
            var all = self
            let rest = max(0, pushes - Double(total.count)) / Double(max(1, later.total.count))
            let times = Int(min(rest.rounded(), 1e9))
            all.total.add(Self.many(later.total, times))
            all.roundTrip.add(Self.many(later.roundTrip, times))
            return all
        }

        private static func many(_ histogram: LatencyHistogram, _ times: Int) -> LatencyHistogram {
            var (sum, power, left) = (LatencyHistogram(), histogram, times)
            while left > 0 {
                if left & 1 == 1 { sum.add(power) }
                left >>= 1
                if left > 0 { power.add(power) }
            }
            return sum
        }
    }

    let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    /// Runs it; the same seed gives the same outcome. A million pushes take less than a second.
    func run() -> Outcome { FanOutEngine(settings).run() }
}
