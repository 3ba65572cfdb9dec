/// Where the rules stand.
enum Source {
    static let streamLimit = "RFC 9113 section 5.1.2: \"Endpoints MUST NOT exceed the limit set by their peer.\""
    static let settings =
        "RFC 9113 section 6.5.3: the recipient \"MUST immediately emit a SETTINGS frame with the ACK flag set\""
    static let goAway =
        "RFC 9113 section 6.8: \"Receivers of a GOAWAY frame MUST NOT open additional streams on the connection\""
    static let goAwayRetry =
        "RFC 9113 section 6.8: requests on streams above the last one were not processed and may be sent again"
    static let refused =
        "RFC 9113 section 8.7: \"Any request that was sent on the reset stream can be safely retried.\""
    static let ping =
        "RFC 9113 section 6.7: receivers \"MUST send a PING frame with the ACK flag set in response, with an identical frame payload\""
    static let window =
        "RFC 9113 section 6.9.1: \"The sender MUST NOT send a flow-controlled frame with a length that exceeds the space available\""
    static let retryAfter =
        "RFC 9110 section 10.2.3: \"how long the user agent ought to wait before making a follow-up request\""
    static let notIdempotent =
        "RFC 9110 section 9.2.2: \"A client SHOULD NOT automatically retry a request with a non-idempotent method\""
    static let oneStream =
        "Apple, Establishing a connection to APNs: \"APNs allows only one stream until you post a request with a valid authentication token\""
    static let manyStreams =
        "Apple, Establishing a connection to APNs: \"APNs allows for multiple concurrent streams for each connection\""
    static let later =
        "Apple, Handling notification responses from APNs: 5XX can be retried later; \"you may employ a back-off technique\""
    static let fixed =
        "Apple, Handling notification responses from APNs: most with 4XX \"can be retried after you fix the error\""
    static let withDelay =
        "Apple, Handling notification responses from APNs: \"You can retry with a delay, if you get the error code TooManyRequests.\""
    static let never =
        "Apple, Handling notification responses from APNs: \"Don't retry notification responses with the error code BadDeviceToken, … Unregistered\""
    static let hour =
        "Apple, Establishing a token-based connection to APNs: a token more than one hour old is rejected; refresh it"
    static let twentyMinutes =
        "Apple, Establishing a token-based connection to APNs: \"Refresh your token no more than once every 20 minutes\""
    static let tokenForm =
        "Apple, Establishing a token-based connection to APNs: alg ES256, kid, iss, iat, and the signature"
    static let connections =
        "Apple, Communicating with APNs: \"APNs treats rapid connection and disconnection as a denial-of-service attack\""
    static let health =
        "Apple, Communicating with APNs: \"check the health of your connection using an HTTP/2 PING frame\""
    static let own = "the exam's own: a push that was sent once arrives once"
    static let came = "the exam's own: what never comes cannot be judged"
    static let noHang = "the exam's own: a client that is done, or can do nothing more, comes to an end"
    static let noHammer = "the exam's own: at most 5 tries of a push within a second"
}
