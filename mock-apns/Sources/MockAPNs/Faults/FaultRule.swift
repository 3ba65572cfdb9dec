import Faults
import HTTP2
import Payloads

/// What happens to requests of a kind, for no fault of theirs.
public struct FaultRule: Sendable, Equatable {
    /// A rejection and its share of the pushes.
    public struct Rejection: Sendable, Equatable {
        public var reason: Reason
        /// 0 to 1.
        public var share: Double
        public init(_ reason: Reason, share: Double) {
            self.reason = reason
            self.share = share
        }
    }

    public var match = Match()

    // When.
    /// nil: always.
    public var burst: FaultBurst?
    /// Only of so many requests that match from now on, over the whole server; nil: of all.
    public var next: UInt64?
    /// Used up once it has done something to so many requests; nil: never.
    public var times: UInt64?
    /// Acts on this share of the requests, 0 to 1; later rules decide about the others.
    public var share = 1.0
    /// What happens to the requests that match, one after the other; then the rule is used up. Of a step only what it does counts.
    public var steps: [FaultRule] = []
    /// After the last step comes the first again.
    public var repeatsSteps = false
    /// Requests of a connection are held until so many are there; nil: none is.
    public var batch: Batch?

    // What. Of the shares, `answer` and `close` a rule has one.
    public var latency = AnswerLatency.none
    public var rejections: [Rejection] = []
    /// Seconds, told in `retry-after` with every rejection of this rule.
    public var retryAfter: UInt64?
    /// Delivered, but never answered.
    public var silentShare = 0.0
    /// Answered by RST_STREAM; not delivered.
    public var resetShare = 0.0
    /// Also of an answer that ends with RST_STREAM.
    public var resetCode = ErrorCode.internalError
    /// In place of what APNs would answer.
    public var answer: RawAnswer?
    public var close: Closing?
    public var goAway: GoAway?
    /// PING frames that the client gets.
    public var pings: UInt64 = 0

    public init() {}

    /// Of all shares together; at most 1.
    public var totalShare: Double { rejections.reduce(silentShare + resetShare) { $0 + $1.share } }

    /// Bytes of memory, about.
    var size: Int {
        let texts = match.texts.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
        return MemoryLayout<FaultRule>.stride + texts + (answer?.size ?? 0) + steps.reduce(0) { $0 + $1.size }
    }

    /// It decides about all requests of its kinds at all times, and leaves later rules none of them.
    var decidesAlways: Bool {
        var all = Match()
        all.requests = match.requests
        // Where one counts, pushes that are wrong by themselves wait as long as a later rule says.
        return burst == nil && !isCounted && match == all
    }

    /// What it does depends on what it did before, or on chance whether it does anything.
    var isCounted: Bool { next != nil || times != nil || !steps.isEmpty || share < 1 }
}

extension FaultRule {
    /// How a connection ends at a request, which is neither handled nor answered.
    public enum Closing: String, Sendable, CaseIterable {
        /// As by a server that was stopped: TCP FIN.
        case fin
        /// As by one that was killed: TCP RST.
        case rst
    }

    /// The connection is told to go away.
    public struct GoAway: Sendable, Equatable {
        public enum Last: Sendable, Equatable {
            /// The last stream that was begun.
            case begun
            /// So many streams below this request's, or below the last of a batch; 0 is that one itself.
            case below(Int32)
            case stream(Int32)
            /// Of a batch so many are handled, the first.
            case kept(Int)
        }

        public var last = Last.begun
        public var code = ErrorCode.noError
        /// nil: `{"reason":"Shutdown"}`, as at other times.
        public var debug: String?
        /// First 2^31-1, and what is meant after `pause` (RFC 9113 section 6.8).
        public var isTwice = false
        /// ns.
        public var pause: UInt64 = 100_000_000

        public init() {}
    }

    /// Pushes of a connection that wait for each other, undelivered and unanswered.
    public struct Batch: Sendable, Equatable {
        public enum Order: String, Sendable, CaseIterable {
            case sent, reversed, shuffled
        }

        /// 2 to 1,000.
        public var count: Int
        /// After the first of them the others are not waited for any longer, ns.
        public var within: UInt64 = 1_000_000_000
        /// In which they are handled and answered.
        public var order = Order.sent

        public init(count: Int) { self.count = count }
    }
}
