import HTTP2
import Networking

/// Why a push has no answer. Every push that is neither accepted nor rejected ends with exactly one of these.
public struct FailureCause: Sendable, Hashable, CustomStringConvertible {
    /// 0..<`count`: counters are indexed by it.
    public let index: Int

    private init(_ index: Int) { self.index = index }

    public static let connectionRefused = FailureCause(0)
    public static let connectFailed = FailureCause(1)
    public static let connectTimeout = FailureCause(2)
    public static let tlsFailed = FailureCause(3)
    public static let certificateUntrusted = FailureCause(4)
    public static let notHTTP2 = FailureCause(5)
    /// The peer closed the connection while the push was unanswered.
    public static let connectionClosed = FailureCause(6)
    public static let connectionReset = FailureCause(7)
    /// The peer stopped answering, PING included.
    public static let peerVanished = FailureCause(8)
    /// The peer broke HTTP/2, and the connection with it.
    public static let protocolViolation = FailureCause(9)
    /// No answer within the push timeout.
    public static let pushTimeout = FailureCause(10)
    /// Refused (REFUSED_STREAM or GOAWAY) more often than the retry limit allows.
    public static let refusedTooOften = FailureCause(11)
    /// The run was stopped before the push was answered, or before it was sent.
    public static let interrupted = FailureCause(12)
    /// Open loop: it came due while as many pushes were waiting as may; never sent.
    public static let overflowed = FailureCause(13)
    /// Connections were open, but none of them let a push be sent for too long: the peer allowed no stream, no DATA, or read
    /// nothing.
    public static let noStream = FailureCause(14)
    /// The run's time was over before the push was sent, or before it was answered.
    public static let runEnded = FailureCause(15)
    /// The answer broke HTTP/2, and its stream only (RFC 9113 sections 5.4.2 and 8.1.1).
    public static let malformedAnswer = FailureCause(16)
    /// The answer's status came, but not its end, before the push timeout was over or the connection had ended.
    public static let answerIncomplete = FailureCause(17)
    private static let firstReset = 18

    /// RST_STREAM from the peer; codes without a name of their own count as the last one.
    public static func streamReset(_ code: ErrorCode) -> FailureCause {
        FailureCause(firstReset + min(Int(code.rawValue), ErrorCode.names.count))
    }

    public static let count = firstReset + ErrorCode.names.count + 1

    /// One name a cause, as results spell it.
    public static let names: [String] =
        [
            "connection_refused", "connect_failed", "connect_timeout", "tls_failed", "certificate_untrusted",
            "not_http2", "connection_closed", "connection_reset", "peer_vanished", "protocol_violation",
            "push_timeout", "refused_too_often", "interrupted", "overflowed", "no_stream", "run_ended",
            "malformed_answer", "answer_incomplete",
        ] + ErrorCode.names.map { "stream_reset_\($0)" } + ["stream_reset_other"]

    public var description: String { Self.names[index] }

    /// To connect again at once will not help: nobody listens, or it is no server for us.
    package var isLasting: Bool {
        [.connectionRefused, .connectFailed, .certificateUntrusted, .notHTTP2].contains(self)
    }

    /// The run was over, and the connection as good as before.
    package var isEndOfRun: Bool { self == .interrupted || self == .runEnded }

    /// The connection ended under a push of whose answer nothing had come, and which may or may not have been delivered.
    public var isConnectionLoss: Bool { (Self.connectionClosed.index...Self.protocolViolation.index).contains(index) }

    /// The cause a broken connection leaves its unanswered pushes with.
    package init(_ error: NetworkError) {
        switch error.kind {
        case .refused: self = .connectionRefused
        case .address, .connect, .configuration: self = .connectFailed
        case .tls: self = .tlsFailed
        case .certificate: self = .certificateUntrusted
        case .alpn: self = .notHTTP2
        case .closed: self = .connectionClosed
        case .reset, .io: self = .connectionReset
        }
    }
}
