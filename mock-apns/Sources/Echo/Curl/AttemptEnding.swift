import CCurl
import Devices
import Glibc

/// How an attempt to ask the backend ended.
enum AttemptEnding: Equatable {
    /// With an answer that says what the device wanted to know.
    case answered(EchoEnding)
    /// It may be asked again.
    ///
    /// - Parameter after: seconds that the backend asked for (Retry-After); nil: it said nothing.
    case repeatable(String, after: Int?)
    case failed(String)

    /// - Parameter needsHTTP2: another version is no answer.
    init(_ result: CURLcode, _ transfer: CurlTransfer, isRepeatable: Bool, needsHTTP2: Bool) {
        // A connection that had been used before was closed, and libcurl was about to send the request again.
        if transfer.sends > 1 {
            self = Self.lost("closed without answer", isRepeatable)
            return
        }
        switch result {
        case CURLE_OK: self = needsHTTP2 && !transfer.isHTTP2 ? .failed("not HTTP/2") : Self.status(transfer)
        case CURLE_COULDNT_CONNECT: self = .repeatable(Self.connectCause(transfer.systemError), after: nil)
        case CURLE_SSL_CONNECT_ERROR where transfer.systemError == ECONNRESET:
            self = .repeatable("connection reset", after: nil)
        case CURLE_SSL_CONNECT_ERROR: self = .failed("no TLS")
        case CURLE_PEER_FAILED_VERIFICATION: self = .failed("certificate not trusted")
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2:
            if transfer.headBytes > 0 || transfer.status > 0 {
                self = .failed("answer cut short")
            } else {
                let isReset = transfer.systemError == ECONNRESET || transfer.systemError == EPIPE
                self = Self.lost(
                    isReset && result != CURLE_GOT_NOTHING ? "connection reset" : "closed without answer",
                    isRepeatable || transfer.sends == 0)
            }
        case CURLE_PARTIAL_FILE: self = .failed("answer cut short")
        case CURLE_HTTP2_STREAM: self = .failed("stream reset")
        case CURLE_WRITE_ERROR where transfer.isBodyTooLong: self = .failed("body too long")
        case CURLE_WRITE_ERROR where transfer.isHeadTooLong: self = .failed("head too long")
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL: self = .failed("not HTTP")
        case CURLE_URL_MALFORMAT: self = .failed("bad URL")
        default: self = .failed(String(cString: curl_easy_strerror(result)))
        }
    }

    private static func lost(_ cause: String, _ isRepeatable: Bool) -> AttemptEnding {
        isRepeatable ? .repeatable(cause, after: nil) : .failed(cause)
    }

    private static func status(_ transfer: CurlTransfer) -> AttemptEnding {
        switch transfer.status {
        case 200, 201: .answered(.newData)
        case 204: .answered(.noData)
        case 429, 503:
            .repeatable("HTTP \(transfer.status)", after: transfer.retryAfter > 0 ? transfer.retryAfter : nil)
        case let other: .failed("HTTP \(other)")
        }
    }

    private static func connectCause(_ error: Int32) -> String {
        switch error {
        case ECONNREFUSED: "connection refused"
        case ECONNRESET: "connection reset"
        case ETIMEDOUT: "connection timed out"
        case ENETUNREACH, EHOSTUNREACH: "host not reachable"
        case EADDRNOTAVAIL: "no local port left"
        case EMFILE, ENFILE: "no descriptor left"
        default: "no connection"
        }
    }
}
