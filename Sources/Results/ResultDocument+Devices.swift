import Measurement

extension ResultDocument {
    /// What became of the run's accepted pushes at their devices (docs/devices.md), when the run was over.
    public struct Devices: Codable, Sendable, Equatable {
        /// Accepted pushes by what became of them: together `pushes.accepted`. `unknown`: the mock did not say.
        public var outcomes: [String: UInt64]
        /// What else happened at the mock's devices, by name: opened, acted on, wakes by how they ended, and so on.
        public var events: [String: UInt64]
        /// Devices that something has happened to.
        public var touched: UInt64
        /// Pushes that devices had without the client having their acceptance: among no outcome.
        public var beyondAccepted: UInt64
        /// Of the pushes that have content (fetched, decrypted, downloaded): the share that had it within so long after the intended
        /// send time, as far as the run has looked; empty where none has any.
        public var contentWithin: [Within]

        enum CodingKeys: String, CodingKey {
            case outcomes, events, touched
            case beyondAccepted = "beyond_accepted"
            case contentWithin = "content_within"
        }

        package init(
            outcomes: [String: UInt64], events: [String: UInt64] = [:], touched: UInt64 = 0, beyondAccepted: UInt64 = 0,
            content: CensoredHistogram = CensoredHistogram(), known: UInt64? = nil
        ) {
            self.outcomes = outcomes
            self.events = events
            self.touched = touched
            self.beyondAccepted = beyondAccepted
            contentWithin = Self.within(content).filter { $0.seconds * 1_000_000_000 <= known ?? .max }
        }

        /// Of pushes with content, by when they had it; empty for none.
        package static func within(_ content: CensoredHistogram) -> [Within] {
            guard content.count > 0 else { return [] }
            let seconds: [UInt64] = [1, 2, 5, 10, 30, 60]
            let counts = content.answered.counts(upTo: seconds.map { $0 * 1_000_000_000 })
            return zip(seconds, counts).map { Within(seconds: $0, share: Double($1) / Double(content.count)) }
        }
    }

    /// A share of pushes that had something within so long.
    public struct Within: Codable, Sendable, Equatable {
        public var seconds: UInt64
        /// 0 to 1.
        public var share: Double
    }

    /// What devices asked of their backend. A request is one of a device, however often it was tried:
    /// `requests` = `answered` + `failed` + `given_up` + `not_begun` + `under_way`.
    public struct Echo: Codable, Sendable, Equatable {
        /// `backend` where no URL was given.
        package static let bundledBackend = "bundled backend"
        /// Whom they asked: a URL, without credentials, or "bundled backend".
        public var backend: String
        public var requests: UInt64
        /// By a status 200 to 299.
        public var answered: UInt64
        public var failed: UInt64
        /// Begun, and not over when the app's time was up.
        public var givenUp: UInt64
        /// The pool of connections had no room for it as long as the app's time lasted.
        public var notBegun: UInt64
        /// When the run was over.
        public var underWay: UInt64
        /// Attempts beyond the first of each request.
        public var retries: UInt64
        /// Of answers' bodies.
        public var bytes: UInt64
        public var connectionsOpened: UInt64
        /// The most requests that devices made within a second; nil for merged results.
        @Nullable public var peakPerSecond: UInt64?
        /// The begin of that second after the run's start, seconds.
        @Nullable public var peakAfterSeconds: Double?
        /// `fetch`, `rich`, `attachment`, `action`.
        public var byKind: [String: Kind]
        public var statuses: [String: UInt64]
        public var failures: [String: UInt64]
        /// Nanoseconds from the device's moment to the complete answer; a request without one counts as longer than all others.
        public var latency: Latency
        /// Nanoseconds that requests waited for a place in the pool.
        public var wait: Latency
        /// What the bundled backend counted, by name; nil where another was asked.
        @Nullable public var backendCounts: [String: UInt64]?
        public var series: [EchoPoint]

        enum CodingKeys: String, CodingKey {
            case backend, requests, answered, failed, retries, bytes, statuses, failures, wait, series
            case givenUp = "given_up"
            case notBegun = "not_begun"
            case underWay = "under_way"
            case connectionsOpened = "connections_opened"
            case peakPerSecond = "peak_per_second"
            case peakAfterSeconds = "peak_after_seconds"
            case byKind = "by_kind"
            case latency = "latency_ns"
            case backendCounts = "backend_counts"
        }

        /// Of nothing.
        package init(backend: String) {
            self.backend = backend
            (requests, answered, failed, givenUp, notBegun, underWay) = (0, 0, 0, 0, 0, 0)
            (retries, bytes, connectionsOpened) = (0, 0, 0)
            (byKind, statuses, failures) = ([:], [:], [:])
            (latency, wait) = (Latency(), Latency())
            series = []
        }

        public struct Kind: Codable, Sendable, Equatable {
            public var requests: UInt64 = 0
            public var answered: UInt64 = 0
            public var failed: UInt64 = 0
            public var givenUp: UInt64 = 0
            public var notBegun: UInt64 = 0
            public var underWay: UInt64 = 0

            package static let none = Kind()

            package func adding(_ other: Kind) -> Kind {
                Kind(
                    requests: requests &+ other.requests, answered: answered &+ other.answered,
                    failed: failed &+ other.failed, givenUp: givenUp &+ other.givenUp,
                    notBegun: notBegun &+ other.notBegun, underWay: underWay &+ other.underWay)
            }

            enum CodingKeys: String, CodingKey {
                case requests, answered, failed
                case givenUp = "given_up"
                case notBegun = "not_begun"
                case underWay = "under_way"
            }
        }
    }

    /// One second of the echo, or one of the longer intervals that a very long one is told in; the first point is where it begins.
    public struct EchoPoint: Codable, Sendable, Equatable {
        /// Its end, seconds after the run's start; its begin is the end of the one before.
        public var time: Double
        /// Requests that devices made in it, and answers that were complete in it.
        public var requests: UInt64
        public var answered: UInt64

        enum CodingKeys: String, CodingKey {
            case requests, answered
            case time = "t"
        }

        package init(time: Double, requests: UInt64, answered: UInt64) {
            self.time = time
            self.requests = requests
            self.answered = answered
        }
    }

    /// Under which the times of the echo are among `histograms`.
    package static let echoKey = "echo"
    package static let echoWaitKey = "echo_wait"
}
