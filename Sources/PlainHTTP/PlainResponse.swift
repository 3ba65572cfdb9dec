/// Its answer.
public struct PlainResponse: Sendable, Equatable {
    public var status: Int
    public var type = "text/plain; charset=utf-8"
    public var body: [UInt8]
    /// Further lines of the head, without their ends: `allow: GET`.
    public var fields: [String] = []
    /// Events follow, whose length nobody knows.
    private var isEventStream = false

    /// The beginning of an event stream, and the answer to HEAD where there would be one.
    public static let events: PlainResponse = {
        var response = PlainResponse(status: 200, type: "text/event-stream", body: [])
        response.isEventStream = true
        return response
    }()

    public init(status: Int, type: String = "text/plain; charset=utf-8", body: [UInt8]) {
        self.status = status
        self.type = type
        self.body = body
    }

    public static func text(_ text: String, status: Int = 200) -> PlainResponse {
        PlainResponse(status: status, body: Array((text + "\n").utf8))
    }

    /// To a method that a page does not take.
    ///
    /// - Parameter methods: those that it takes; where GET is, HEAD is.
    public static func wrongMethod(_ request: PlainRequest, allowed methods: [String]) -> PlainResponse {
        let method = request.isHead ? "HEAD" : request.method
        var response = text(
            "\(method) \(request.path): expected \(methods.joined(separator: " or "))", status: 405)
        // RFC 9110 section 15.5.6.
        response.fields = [
            "allow: " + methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }.joined(separator: ", ")
        ]
        return response
    }

    /// The client may send the body of its request (RFC 9110 section 15.2.1).
    static let goOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    public static func json(_ text: String) -> PlainResponse {
        PlainResponse(status: 200, type: "application/json", body: Array((text + "\n").utf8))
    }

    /// RFC 9110 section 15.
    private static let names = [
        200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
        404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 411: "Length Required",
        413: "Content Too Large", 417: "Expectation Failed", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]

    /// - Parameter isHead: the answer to HEAD, which has the head only (RFC 9110 section 9.3.2).
    public func bytes(closes: Bool, isHead: Bool = false) -> [UInt8] {
        // 204 has no content, and says nothing of it (RFC 9110 section 15.3.5).
        let head =
            "HTTP/1.1 \(status) \(Self.names[status] ?? "")\r\n" + (status == 204 ? "" : "content-type: \(type)\r\n")
            + (status == 204
                ? "" : isEventStream ? "cache-control: no-store\r\n" : "content-length: \(body.count)\r\n")
            + fields.map { $0 + "\r\n" }.joined()
            + (closes ? "connection: close\r\n" : "") + "\r\n"
        return Array(head.utf8) + (isHead ? [] : body)
    }
}
