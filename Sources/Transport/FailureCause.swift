import HTTP2
import Networking

/// Why a push has no answer. Every push that is neither accepted nor rejected ends with exactly one of these.
public struct FailureCause: Sendable, Hashable, CustomStringConvertible {
    /// 0..<`count`: counters are indexed by it.
    public let index: Int

    /// A name a cause, as results spell it; its place is the cause's index.
    public static let names = named + ErrorCode.names.map { "stream_reset_\($0)" } + ["stream_reset_other"]
    private static let named = [
        "connection_refused", "connect_failed", "connect_timeout", "tls_failed", "certificate_untrusted", "not_http2",
        "connection_closed", "connection_reset", "peer_vanished", "protocol_violation", "push_timeout",
        "refused_too_often",
        "interrupted", "overflowed", "no_stream", "run_ended", "malformed_answer", "answer_incomplete",
        "address_refused", "client_certificate",
    ]
    public static let count = names.count

    private init(_ name: String) {
        guard let index = Self.named.firstIndex(of: name) else { preconditionFailure("no cause \(name)") }
        self.index = index
    }

    private init(index: Int) { self.index = index }

    static let connectionRefused = FailureCause("connection_refused")
    public static let connectFailed = FailureCause("connect_failed")
    public static let connectTimeout = FailureCause("connect_timeout")
    /// The TLS handshake failed, or the peer ended the connection with an alert.
    static let tlsFailed = FailureCause("tls_failed")
    package static let certificateUntrusted = FailureCause("certificate_untrusted")
    static let notHTTP2 = FailureCause("not_http2")
    /// The target's name leads to addresses that may not be connected to.
    package static let addressRefused = FailureCause("address_refused")
    /// The server requires a client certificate, or did not accept ours.
    static let clientCertificate = FailureCause("client_certificate")
    /// The peer closed the connection while the push was unanswered.
    public static let connectionClosed = FailureCause("connection_closed")
    public static let connectionReset = FailureCause("connection_reset")
    /// The peer stopped answering, PING included.
    public static let peerVanished = FailureCause("peer_vanished")
    /// The peer broke HTTP/2, and the connection with it.
    public static let protocolViolation = FailureCause("protocol_violation")
    /// No answer within the push timeout.
    public static let pushTimeout = FailureCause("push_timeout")
    /// Refused (REFUSED_STREAM or GOAWAY) more often than the retry limit allows.
    public static let refusedTooOften = FailureCause("refused_too_often")
    /// The run was stopped before the push was answered, or before it was sent.
    public static let interrupted = FailureCause("interrupted")
    /// Open loop: it came due while as many pushes were waiting as may; never sent.
    public static let overflowed = FailureCause("overflowed")
    /// Connections were open, but none of them let a push be sent for too long: the peer allowed no stream, no DATA, or read
    /// nothing.
    static let noStream = FailureCause("no_stream")
    /// The run's time was over before the push was sent, or before it was answered.
    public static let runEnded = FailureCause("run_ended")
    /// The answer broke HTTP/2, and its stream only (RFC 9113 sections 5.4.2 and 8.1.1).
    public static let malformedAnswer = FailureCause("malformed_answer")
    /// The answer's status came, but not its end, before the push timeout was over or the connection had ended.
    public static let answerIncomplete = FailureCause("answer_incomplete")

    /// RST_STREAM from the peer; codes without a name of their own count as the last one.
    public static func streamReset(_ code: ErrorCode) -> FailureCause {
        FailureCause(index: named.count + min(Int(code.rawValue), ErrorCode.names.count))
    }

    public var description: String { Self.names[index] }

    /// To connect again at once will not help: nobody listens, or it is no server for us.
    var isLasting: Bool {
        [.connectionRefused, .connectFailed, .certificateUntrusted, .notHTTP2, .addressRefused, .clientCertificate]
            .contains(self)
    }

    /// The run was over, and the connection as good as before.
    package var isEndOfRun: Bool { self == .interrupted || self == .runEnded }

    /// The connection ended under a push of whose answer nothing had come, and which may or may not have been delivered.
    package var isConnectionLoss: Bool {
        switch self {
        case .connectionClosed, .connectionReset, .tlsFailed, .peerVanished, .protocolViolation: true
        default: false
        }
    }

    /// The cause a broken connection leaves its unanswered pushes with.
    package init(_ error: NetworkError) {
        switch error.kind {
        case .refused: self = .connectionRefused
        case .address, .connect, .configuration: self = .connectFailed
        case .forbidden: self = .addressRefused
        case .tls: self = .tlsFailed
        case .certificate: self = .certificateUntrusted
        case .clientCertificate: self = .clientCertificate
        case .alpn, .noTLS: self = .notHTTP2
        case .closed: self = .connectionClosed
        case .reset, .io: self = .connectionReset
        }
    }
}
