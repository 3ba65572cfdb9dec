import Settings

/// What the causes of failed and unsent pushes mean, for people who meet the names for the first time.
enum CauseWords {
    private static let words = [
        "connection_refused": "connection refused",
        "connect_failed": "no connection could be made",
        "connect_timeout": "no connection could be made within --connect-timeout",
        "tls_failed": "the TLS handshake failed, or the server ended the connection with a TLS alert",
        "certificate_untrusted": "the server's certificate is not trusted, or does not name the target's host",
        "client_certificate": "the server requires a client certificate (--cert, --cert-key), or did not accept it",
        "not_http2": "the server speaks no HTTP/2, or http:// and https:// are mixed up",
        "address_refused": "the target's name leads to addresses that may not be sent to",
        "connection_closed": "the server closed the connection",
        "connection_reset": "connection reset",
        "peer_vanished": "the server stopped answering, pings too",
        "protocol_violation": "the server broke HTTP/2",
        "push_timeout": "no answer within --timeout",
        "malformed_answer": "the server's answer broke HTTP/2",
        "answer_incomplete": "a status came, but not the answer's end",
        "refused_too_often": "refused unprocessed more often than --retry-limit",
        "interrupted": "the run was stopped first",
        "run_ended": "the time of the run was over (-D, and --drain for what was open)",
        "no_stream": "the server allowed no stream or no data, or read nothing, for --give-up-after",
        "worker_lost": "its worker was lost: nobody knows whether it was answered",
        "overflowed": "came due while --backlog pushes were waiting",
    ]

    /// Of causes that mean something else for pushes that were never begun.
    private static let unsentWords = ["worker_lost": "its worker was lost before it was sent"]

    /// `connection_refused 3`; `push_timeout 3 (no answer within --timeout)` where the words say more than the name.
    static func counted(_ cause: String, _ count: UInt64, isUnsent: Bool = false) -> String {
        let words = of(cause, isUnsent: isUnsent)
        let isSaid = words.isEmpty || words == cause.replacing("_", with: " ")
        return "\(cause) \(Units.grouped(count))" + (isSaid ? "" : " (\(words))")
    }

    /// Empty for a cause without words.
    ///
    /// - Parameter isUnsent: of pushes that were never begun.
    static func of(_ cause: String, isUnsent: Bool = false) -> String {
        if isUnsent, let words = unsentWords[cause] { return words }
        let prefix = "stream_reset_"
        return words[cause] ?? (cause.hasPrefix(prefix) ? "the server reset the stream" : "")
    }
}
