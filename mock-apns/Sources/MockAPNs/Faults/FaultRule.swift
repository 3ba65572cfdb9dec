import Faults
import HTTP2
import Payloads

/// What happens to pushes of a kind, for no fault of theirs.
public struct FaultRule: Sendable, Equatable {
    /// Which pushes; what is nil matches all.
    public struct Match: Sendable, Equatable {
        /// Device tokens as in the path, compared without case; one that ends with `*` is a prefix.
        public var tokens: [String]?
        /// Topics; one that ends with `*` is a prefix.
        public var topics: [String]?
        public var pushTypes: [PushType]?
        public var environment: PushEnvironment?

        public init() {}
        var isEverything: Bool { self == Match() }
    }

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
    /// When; nil: always.
    public var burst: FaultBurst?
    public var latency = AnswerLatency.none
    public var rejections: [Rejection] = []
    /// Delivered, but never answered.
    public var silentShare = 0.0
    /// Answered by RST_STREAM; not delivered.
    public var resetShare = 0.0
    public var resetCode = ErrorCode.internalError

    public init() {}

    /// Of all shares together; at most 1.
    public var totalShare: Double { rejections.reduce(silentShare + resetShare) { $0 + $1.share } }
}
