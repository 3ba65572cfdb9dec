/// What went wrong on the way to or from a peer, in one line a person can act on.
public struct NetworkError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The kinds a caller treats differently.
    public enum Kind: Sendable, Equatable {
        /// The host name has no address, or the address cannot be parsed.
        case address
        /// The host name has no address that may be connected to.
        case forbidden
        /// Nobody listens there (ECONNREFUSED).
        case refused
        /// The TCP connection could not be made for another reason.
        case connect
        /// The TLS handshake failed.
        case tls
        /// The peer's certificate is not trusted, or is for other hosts.
        case certificate
        /// The peer requires a client certificate, or did not accept ours.
        case clientCertificate
        /// The peer does not speak HTTP/2 (ALPN chose something else or nothing).
        case alpn
        /// The peer speaks no TLS.
        case noTLS
        /// The peer ended the connection before it had said anything.
        case closed
        /// The connection was reset (ECONNRESET, EPIPE).
        case reset
        /// Reading or writing failed for another reason.
        case io
        /// A certificate, key or option cannot be used.
        case configuration
    }

    public let kind: Kind
    public let description: String

    /// The peer of a connection without TLS hung up before it had said anything: it may have expected TLS.
    package var mayExpectTLS: Bool { description.hasSuffix(Self.speaksTLSHint) }

    static let speaksTLSHint = "; if it speaks TLS, the target is https://"

    /// A description without the hint that the target may speak TLS, for where connections to it were open.
    public static func withoutHint(_ description: String) -> String {
        description.hasSuffix(speaksTLSHint) ? String(description.dropLast(speaksTLSHint.count)) : description
    }

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
