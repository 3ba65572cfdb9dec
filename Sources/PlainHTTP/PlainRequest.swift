/// One request: an admin page, a scrape of metrics, a call of an app to its backend. In HTTP/1.1 (RFC 9112) it is small on purpose: no
/// chunked bodies.
public struct PlainRequest: Sendable, Equatable {
    /// As it was sent, but GET for HEAD, which is answered as GET is.
    public var method: String
    /// Only the head of the answer is wanted (RFC 9110 section 9.3.2).
    public var isHead = false
    /// Without the query.
    public var path: String
    public var query: [String: String]
    /// A name that the query gives more than once: of its values the last counts; nil: there is none.
    public var repeated: String?
    public var body: [UInt8]
    /// The client wants the connection closed after the answer.
    public var closes: Bool
    /// As the request says it: `127.0.0.1:9101`; nil when it says none.
    public var host: String?
    /// The web page whose script or form sent the request, `http://127.0.0.1:9101`; nil for anything but a browser.
    public var origin: String?
    /// The kinds of answer that the client would like, `text/html, */*`; nil when it does not say.
    public var accept: String?
    /// The credentials as they were sent, `Basic …` (RFC 9110 section 11.6.2).
    public var authorization: String?
    /// The media type of the body.
    public var contentType: String?

    static let largestHead = 16_384

    public enum Parsed: Sendable, Equatable {
        /// Nothing to be said before there are so many bytes.
        case incomplete(needs: Int)
        /// The same, and the client waits to be told to send the body.
        case awaited(needs: Int)
        /// So many bytes were used.
        case request(PlainRequest, used: Int)
        /// Status and what is wrong.
        case refused(Int, String)
    }

    /// - Parameter largestBody: bytes; what has more is refused with 413.
    public static func parse(_ bytes: [UInt8], largestBody: Int = PlainLimits().body) -> Parsed {
        // The first byte of a TLS record with a ClientHello (RFC 8446 section 5.1).
        if bytes.first == 0x16 { return .refused(400, "this port speaks plain HTTP, no TLS") }
        // One empty line before a request is passed over (RFC 9112 section 2.2).
        let start = bytes.starts(with: [13, 10]) ? 2 : 0
        let head = headEnd(bytes, from: start)
        guard (head ?? bytes.count) - start <= largestHead else {
            return .refused(431, "the request's head is larger than 16 KiB")
        }
        guard let end = head else { return .incomplete(needs: bytes.count + 1) }
        guard !hasControls(bytes[start..<end]) else {
            return .refused(400, "a control character in the request's head")
        }
        // Lines end where a line feed is, which a carriage return stands before.
        var lines = bytes[start..<end].split(separator: 10, omittingEmptySubsequences: false)[...]
        let words = text(lines.popFirst() ?? []).split(separator: " ")
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", let asked = asked(words[1]) else {
            return .refused(400, "expected a request line such as GET /stats HTTP/1.1")
        }
        var length: Int?
        var closes = words[2] == "HTTP/1.0"
        var host: String?
        var origin: String?
        var accept: String?
        var authorization: String?
        var contentType: String?
        var isWaiting = false
        for line in lines {
            guard let colon = line.firstIndex(of: 0x3A) else {
                return .refused(400, "a header line without a colon")
            }
            let name = text(line[..<colon]).lowercased()
            // RFC 9112 section 5.1: or it would be another header for whoever stands between.
            guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0x20 || $0 == 9 }) else {
                return .refused(400, "a header name with blanks")
            }
            var value: Substring { text(line[(colon + 1)...]).trimming(isBlank) }
            switch name {
            case "content-length":
                let value = value
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    return .refused(400, "content-length is no number")
                }
                guard let number = Int(value), number <= largestBody else {
                    return .refused(413, "the body is larger than \(sizeText(largestBody))")
                }
                guard (length ?? number) == number else { return .refused(400, "two different content-lengths") }
                length = number
            case "transfer-encoding": return .refused(411, "give the body's length: content-length")
            case "connection":
                // HTTP/1.0 is closed after each answer, whatever it would like.
                closes = closes || value.lowercased().split(separator: ",").contains { $0.trimming(isBlank) == "close" }
            case "expect":
                // RFC 9110 section 10.1.1; HTTP/1.0 knows none.
                guard words[2] == "HTTP/1.1" else { break }
                guard value.lowercased() == "100-continue" else {
                    return .refused(417, "expect: there is 100-continue")
                }
                isWaiting = true
            case "host":
                guard host == nil else { return .refused(400, "more than one Host") }
                host = String(value)
            case "origin":
                guard origin == nil else { return .refused(400, "more than one Origin") }
                origin = String(value)
            case "accept": accept = String(value)
            case "authorization":
                guard authorization == nil else { return .refused(400, "more than one Authorization") }
                authorization = String(value)
            case "content-type": contentType = String(value)
            default: break
            }
        }
        // RFC 9112 section 3.2; HTTP/1.0 knows none.
        guard host != nil || words[2] == "HTTP/1.0" else { return .refused(400, "no Host, which HTTP/1.1 needs") }
        let used = end + 4 + (length ?? 0)
        guard bytes.count >= used else { return isWaiting ? .awaited(needs: used) : .incomplete(needs: used) }
        var request = PlainRequest(words[0], asked.target)
        request.body = Array(bytes[(end + 4)..<used])
        request.closes = closes
        request.host = asked.host ?? host
        request.origin = origin
        request.accept = accept
        request.authorization = authorization
        request.contentType = contentType
        return .request(request, used: used)
    }

    /// Without anything but what a request line says.
    ///
    /// - Parameter target: the path and its query.
    init(_ method: Substring, _ target: Substring) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        isHead = method == "HEAD"
        self.method = isHead ? "GET" : String(method)
        path = Self.decoded(parts[0])
        query = [:]
        body = []
        closes = false
        if parts.count > 1 { takeQuery(parts[1]) }
    }

    static func sizeText(_ bytes: Int) -> String {
        bytes > 0 && bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
    }

    /// What a request line asks for: the path with its query, and the host where the absolute form names it, which then counts
    /// instead of the Host header (RFC 9112 sections 3.2.1 and 3.2.2); nil where it is neither form.
    private static func asked(_ text: Substring) -> (target: Substring, host: String?)? {
        if text.hasPrefix("/") { return (text, nil) }
        let scheme = "http://"
        guard text.prefix(scheme.count).lowercased() == scheme else { return nil }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard end > rest.startIndex else { return nil }
        let target = rest[end...]
        return (target.hasPrefix("/") ? target : "/" + target, String(rest[..<end]))
    }

    /// NUL and the like, CR and LF but as the ends of lines (RFC 9110 section 5.5, RFC 9112 section 2.2).
    private static func hasControls(_ head: ArraySlice<UInt8>) -> Bool {
        head.indices.contains { place in
            switch head[place] {
            case 13: place + 1 < head.endIndex && head[place + 1] != 10
            case 10: place == head.startIndex || head[place - 1] != 13
            case 9: false
            case let byte: byte < 0x20 || byte == 0x7F
            }
        }
    }

    /// A line, without the carriage return at its end.
    private static func text(_ line: ArraySlice<UInt8>) -> Substring {
        Substring(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    private static func headEnd(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + 4 else { return nil }
        for place in start...(bytes.count - 4)
        where bytes[place] == 13 && bytes[place + 1] == 10 && bytes[place + 2] == 13 && bytes[place + 3] == 10 {
            return place
        }
        return nil
    }

    private mutating func takeQuery(_ text: Substring) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decoded(parts[0])
            let before = query.updateValue(parts.count > 1 ? Self.decoded(parts[1]) : "", forKey: name)
            if before != nil, repeated == nil { repeated = name }
        }
    }

    /// Percent-decoded (RFC 3986 section 2.1).
    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(0x25) else { return String(text) }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == 0x25, place + 2 < bytes.count,
                let value = UInt8(String(decoding: bytes[(place + 1)...(place + 2)], as: UTF8.self), radix: 16)
            {
                result.append(value)
                place += 3
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension Substring {
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
